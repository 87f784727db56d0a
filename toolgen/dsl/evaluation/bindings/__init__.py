"""The mapping from a tool's arguments to its method's payload, and from the method's result back."""
