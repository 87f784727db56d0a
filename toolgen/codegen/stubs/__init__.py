"""Executor stubs: files that belong to their authors, and the methods that a new design adds to them."""
