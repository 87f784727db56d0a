"""How a tool's arguments fill the payload of its method, and how the result comes back."""
