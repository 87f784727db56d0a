"""The Model Context Protocol (MCP), by the official SDK: `toolgen[mcp]`."""

from .serving import Approvals, McpServer, server

__all__ = ["Approvals", "McpServer", "server"]
