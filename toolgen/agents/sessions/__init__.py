"""The messages of a conversation, and the stores for them."""
