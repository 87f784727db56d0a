"""Complete small applications."""
