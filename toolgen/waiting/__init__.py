"""Calls that wait for a person or for work elsewhere."""
