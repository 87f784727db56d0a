"""One call, from its arguments to its one result."""
