"""The assistant's tools by MCP: `python -m examples.home.mcp_demo`.

A process serves them by stdio, as `toolgen mcp serve` does; this one is its client, by the official SDK. No
model takes part: what a model and Mira would do is written down.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mcp import Client, types
from mcp.client.stdio import StdioServerParameters

from toolgen.adapters.mcp import serve_stdio, server

from .app import runtime
from .conversation import SESSION
from .database import DATABASE, build

_LONGEST: Final = 100
_WEEK: Final = {"device_id": "h15", "start": "2026-01-20T00:00:00Z", "end": "2026-01-27T00:00:00Z"}


async def story(path: Path) -> AsyncIterator[str]:
    """Yield what happens, line by line, over a new database at `path`."""
    build(path)
    told: list[str] = []

    async def mira(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        told.append(f"Mira is asked: {params.message.splitlines()[0]}")
        told.append("Mira: yes, and keep it on")
        return types.ElicitResult(action="accept", content={"approved": True, "keep_on": True})

    async def heard(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.append("the server says that its tools have changed")

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "examples.home.mcp_demo", str(path)], cwd=Path.cwd()
    )
    async with Client(command, mode="legacy", elicitation_callback=mira, message_handler=heard) as client:
        yield f"connected by {client.protocol_version}"
        yield f"tools: {', '.join(tool.name for tool in (await client.list_tools()).tools)}"
        for tool, arguments in (
            ("list_devices", {"site_id": "harbour", "kind": "light", "limit": 1}),
            ("list_devices", {"status": "broken", "limit": 1000}),
            ("get_time_series", _WEEK),
            ("factory_reset", {"device_id": "h09"}),
            ("update_firmware", {"device_id": "h09", "version": "2.4.0"}),
            ("sign_in", {"pin": "2718"}),
        ):
            yield f"> {tool} {json.dumps(arguments)}"
            result = await client.call_tool(tool, arguments)
            for line in told:
                yield f"  {line}"
            told.clear()
            for line in _lines(result):
                yield f"  {line}"
            for link in result.content:
                if isinstance(link, types.ResourceLink):
                    yield f"  {await _read(client, link)}"
        yield f"tools: …, {(await client.list_tools()).tools[-1].name}"
    yield "the server has ended"


def _lines(result: types.CallToolResult) -> Iterator[str]:
    """Yield a line for each block of a result."""
    for block in result.content:
        match block:
            case types.TextContent(text=text):
                mark = "error" if result.is_error else "result"
                yield f"{mark}: {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}"
                yield from _issues(text)
            case types.ResourceLink(name=name, size=size):
                yield f"artifact: {name}, {size} bytes, for the user interface"
            case _:
                yield f"{block.type}"


def _issues(text: str) -> Iterator[str]:
    """Yield a line for each issue of invalid arguments."""
    document: Any = json.loads(text)
    for issue in document.get("issues", ()) if isinstance(document, dict) else ():
        yield f"  {issue['path']} {issue['message']}"


async def _read(client: Client, link: types.ResourceLink) -> str:
    """Return what is in an artifact, in short."""
    (contents,) = (await client.read_resource(link.uri)).contents
    assert isinstance(contents, types.TextResourceContents)
    return f"read: {len(json.loads(contents.text)['readings'])} readings"


async def serve(path: Path) -> None:
    """Serve the assistant over a database until the client is gone; Mira's client asks Mira."""
    with runtime(path) as made:
        async with made as home:
            await serve_stdio(server(home, name="home", session_id=SESSION, approvals="elicitation"))


async def main() -> None:
    """Print the story, over files that go with it."""
    with TemporaryDirectory() as folder:
        async for line in story(Path(folder, DATABASE.name)):
            print(line, flush=True)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])) if sys.argv[1:] else main())
