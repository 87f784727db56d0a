"""What a run does next: pure, so that an engine may run it again from a journal."""
