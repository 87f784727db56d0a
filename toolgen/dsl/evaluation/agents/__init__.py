"""Agents, completions, and the agents or services that own toolsets."""
