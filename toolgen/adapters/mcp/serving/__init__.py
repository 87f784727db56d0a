"""A runtime as an MCP server: its tools listed and called, in both eras of the protocol."""

from .calls import Approvals
from .mcp_server import McpServer, server

__all__ = ["Approvals", "McpServer", "server"]
