"""Checks of tools that work: which of them a model uses badly, and what a change of their contract breaks."""
