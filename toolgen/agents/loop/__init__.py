"""The loop of a run: pure, so that an engine can replay it from a journal."""
