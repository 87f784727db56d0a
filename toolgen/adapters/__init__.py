"""Adapters for HTTP, MCP, OAuth, PostgreSQL and agent frameworks; each needs an extra."""
