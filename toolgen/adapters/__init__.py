"""Toolgen's protocols on what others wrote. Each adapter needs an extra, and says so when it is missing."""
