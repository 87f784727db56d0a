"""The messages of a conversation, and the stores that keep them."""
