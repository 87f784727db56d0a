"""The Model Context Protocol (MCP), by the official SDK: `toolgen[mcp]`."""

from .client.elicitation import Elicitation, OnElicitation
from .client.errors import InsecureServerError, MCPServerError
from .client.locking import lock_of
from .client.servers import HttpServer, StdioServer
from .client.toolset import MCPToolset
from .serving import (
    Approvals,
    HttpOptions,
    MCPServer,
    MetaHook,
    Verify,
    http_app,
    serve_http,
    serve_stdio,
    server,
)

__all__ = [
    "Approvals",
    "Elicitation",
    "HttpOptions",
    "HttpServer",
    "InsecureServerError",
    "MCPServer",
    "MCPServerError",
    "MCPToolset",
    "MetaHook",
    "OnElicitation",
    "StdioServer",
    "Verify",
    "http_app",
    "lock_of",
    "serve_http",
    "serve_stdio",
    "server",
]
