"""One dispatched call, from its arguments to its one result."""
