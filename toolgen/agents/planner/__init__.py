"""The protocol of planners, the messages that they read, and typed completions."""
