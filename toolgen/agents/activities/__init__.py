"""What a run does to the world: plans, calls, and keeps what was said."""
