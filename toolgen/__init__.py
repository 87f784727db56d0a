"""toolgen: one design in Python; typed tools for agents from it."""
