"""`tools/call` of a server with one tool and with 1,000: `python -m benchmarks.mcp_calls`.

The official client, in memory, against toolgen's server and the SDK's own, in one process and in turns. Each
tool takes a text and returns it. With `--json` the rows are JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Final

from mcp import Client
from mcp.server import MCPServer

from toolgen.adapters import mcp
from toolgen.runtime import Runtime
from toolgen.runtime.functions import function_toolset

from .bare import Once, Row, measure

FEW: Final = 1
MANY: Final = 1_000
"""Tools of a server."""
Function = Callable[[str], Awaitable[str]]


def functions(count: int) -> list[Function]:
    """Return so many functions that return their text."""
    return [_ping(f"ping_{number}") for number in range(count)]


def _ping(name: str) -> Function:
    async def ping(text: str) -> str:
        """Return the text."""
        return text

    ping.__name__ = name
    return ping


def ours(count: int) -> Any:
    runtime = Runtime()
    runtime.tools.register(function_toolset("local.functions", functions(count)))
    return mcp.server(runtime).sdk


def theirs(count: int) -> Any:
    made = MCPServer("bench")
    for function in functions(count):
        made.add_tool(function)
    return made


async def calling(server: Any, clients: AsyncExitStack) -> Once:
    """Return a call of the first tool of a server."""
    client = await clients.enter_async_context(Client(server))

    async def call() -> object:
        content: Any = (await client.call_tool("ping_0", {"text": "pong"})).content
        return content[0].text

    assert await call() in ("pong", '"pong"')
    return call


async def measured() -> dict[str, dict[str, float]]:
    """Return the microseconds of both servers, and their ratio, by the number of tools; and that of ours."""
    async with AsyncExitStack() as clients:
        of = {
            (name, count): await calling(made(count), clients)
            for name, made in (("ours", ours), ("theirs", theirs))
            for count in (FEW, MANY)
        }
        rows = [
            Row("1 tool", of["ours", FEW], "", of["theirs", FEW]),
            Row("1,000 tools", of["ours", MANY], "", of["theirs", MANY]),
            Row("1,000 tools against one", of["ours", MANY], "", of["ours", FEW]),
        ]
        found = await measure(rows)
    return {
        name: {"ours_us": row.ours_us, "other_us": row.bare_us, "ratio": row.ratio}
        for name, row in found.items()
    }


def main() -> None:
    """Print the rows, or what `benchmarks.report` reads of them."""
    logging.disable(logging.ERROR)
    rows = asyncio.run(measured())
    if sys.argv[1:] == ["--json"]:
        print(
            json.dumps(
                {name: {key: round(value, 3) for key, value in row.items()} for name, row in rows.items()}
            )
        )
        return
    for name, row in rows.items():
        print(f"{name:24} {row['ours_us']:8.1f} µs   {row['other_us']:8.1f} µs   ratio {row['ratio']:5.2f}")


if __name__ == "__main__":
    main()
