"""FastMCP: a tool alone, a server's own call, and a client in memory."""

from __future__ import annotations

import json
import logging
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.exceptions import ValidationError as ArgumentsError
from fastmcp.tools import Tool
from pydantic import ValidationError

from ..bare import Once
from .peer import Way, show
from .tools import lister, ping

NO_AGENT = "it has no agents"


def server(size: int) -> FastMCP:
    made: FastMCP = FastMCP("bench")
    made.tool(lister(size))
    made.tool(ping)
    return made


def alone(size: int, name: str, arguments: bytes) -> Once:
    """Return a call of a tool without its server; the server makes the text of what does not fit."""
    served, tool = server(size), None

    async def call() -> str:
        nonlocal tool
        if tool is None:
            tool = await served.get_tool(name)
        assert isinstance(tool, Tool)
        try:
            return text_of(await tool.run(json.loads(arguments)))
        except (ValidationError, ArgumentsError) as error:
            return str(error)

    return call


def by_server(size: int, name: str, arguments: bytes) -> Once:
    served = server(size)

    async def call() -> str:
        try:
            return text_of(await served.call_tool(name, json.loads(arguments)))
        except (ToolError, ArgumentsError) as error:
            return str(error)

    return call


def by_client(size: int, name: str, arguments: bytes) -> Once:
    client = Client(server(size))

    async def call() -> str:
        if not client.is_connected():
            await client.__aenter__()  # type: ignore[no-untyped-call] # ends with the process
        return text_of(await client.call_tool(name, json.loads(arguments), raise_on_error=False))

    return call


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def main() -> None:
    """Print what FastMCP costs."""
    logging.disable(logging.ERROR)  # no text of each call that fails
    ways = [
        Way.by("`Tool.run`", alone),
        Way.by("`FastMCP.call_tool`", by_server),
        Way.by("`Client.call_tool`, in memory", by_client),
    ]
    show(["fastmcp", "mcp"], ways, why_no_run=NO_AGENT)


if __name__ == "__main__":
    main()
