"""Stubs: files that belong to their authors, what they have, and what they are to gain."""
