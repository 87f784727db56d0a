"""The loop of a run: pure, so that an engine can run it again from a journal."""
