"""Servers of others in processes of our own, for demos and tests: nothing of them stays."""
