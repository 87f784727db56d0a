"""The Model Context Protocol (MCP), by the official SDK: `toolgen[mcp]`."""

from .serving import (
    Approvals,
    HttpOptions,
    McpServer,
    MetaHook,
    Verify,
    http_app,
    serve_http,
    serve_stdio,
    server,
)

__all__ = [
    "Approvals",
    "HttpOptions",
    "McpServer",
    "MetaHook",
    "Verify",
    "http_app",
    "serve_http",
    "serve_stdio",
    "server",
]
