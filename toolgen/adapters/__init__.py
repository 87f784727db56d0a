"""Toolgen's protocols implemented on packages that others wrote; each adapter needs an extra."""
