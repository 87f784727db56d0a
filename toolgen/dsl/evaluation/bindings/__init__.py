"""How a tool's arguments fill its method's payload, and the result comes back."""
