"""Checks of existing tools: lint rules, and breaking changes between two contracts."""
