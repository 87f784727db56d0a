"""A runtime as an MCP server: its tools listed and called, in both eras of the protocol."""

from .admission import Verify
from .calls import Approvals
from .http import HttpOptions, http_app, serve_http
from .identity import MetaHook
from .mcp_server import MCPServer, server
from .stdio import serve_stdio

__all__ = [
    "Approvals",
    "HttpOptions",
    "MCPServer",
    "MetaHook",
    "Verify",
    "http_app",
    "serve_http",
    "serve_stdio",
    "server",
]
