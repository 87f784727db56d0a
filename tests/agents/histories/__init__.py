"""Stored journals of runs that ended, and what writes and reads them."""
