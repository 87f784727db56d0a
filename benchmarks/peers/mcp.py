"""The MCP SDK: a server's own call, and a client in memory."""

from __future__ import annotations

import json
import logging
from typing import Any

from mcp import Client
from mcp.server import MCPServer

from ..bare import Once
from .peer import Way, show
from .tools import lister, ping

NO_AGENT = "it has no agents"


def server(size: int) -> MCPServer:
    made = MCPServer("bench")
    made.tool()(lister(size))
    made.tool()(ping)
    return made


def by_server(size: int, name: str, arguments: bytes) -> Once:
    served = server(size)

    async def call() -> str:
        try:
            return text_of(await served.call_tool(name, json.loads(arguments)))
        except Exception as error:
            return str(error)

    return call


def by_client(size: int, name: str, arguments: bytes) -> Once:
    client, entered = Client(server(size)), False

    async def call() -> str:
        nonlocal entered
        if not entered:
            await client.__aenter__()  # ends with the process
            entered = True
        return text_of(await client.call_tool(name, json.loads(arguments)))

    return call


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def main() -> None:
    """Print what the MCP SDK costs."""
    logging.disable(logging.ERROR)  # no text of each call that fails
    ways = [Way.by("`MCPServer.call_tool`", by_server), Way.by("`Client.call_tool`, in memory", by_client)]
    show(["mcp"], ways, why_no_run=NO_AGENT)


if __name__ == "__main__":
    main()
