"""Agents, completions, and which agent or service owns a toolset."""
