"""Erasure and retention: a session that leaves something everywhere, and walks that look for it."""
