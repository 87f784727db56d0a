"""Servers of the Model Context Protocol as toolsets: connections, lists of tools, calls, lock files."""
