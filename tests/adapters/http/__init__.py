"""A runtime over HTTP."""
