"""Agents, completions, and who owns which toolset."""
