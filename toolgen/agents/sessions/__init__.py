"""What was said in a conversation, and where it is kept."""
