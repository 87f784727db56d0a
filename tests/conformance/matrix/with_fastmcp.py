"""Calls of a client of a FastMCP server, whose person fills in forms."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from mcp_types import TextContent

from tests.matrix.doors.door import Door, Seen, seen_result
from tests.matrix.doors.person import Person
from tests.matrix.ledger import ARGUMENTS
from tests.matrix.world import FACTS, World
from toolgen.adapters.fastmcp import fastmcp_provider
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime

from .offered import failed, snapshot_of

_FACTS = "dev.toolgen/result"


@asynccontextmanager
async def fastmcp(world: World) -> AsyncIterator[Door]:
    """Open a server of FastMCP that has the tools, and a client of it."""
    person = Person()

    async def elicit(message: str, _: Any, params: Any, __: Any) -> ElicitResult[dict[str, Any]]:
        answer = await person.ask(message)
        content = answer if isinstance(answer, dict) else {"answer": answer}
        return ElicitResult(action="accept", content=content)

    async with world.runtime() as runtime:
        snapshot = await snapshot_of(runtime)
        provider = fastmcp_provider(snapshot, lambda _: FACTS, approvals="elicitation")
        server = FastMCP("matrix", providers=[provider])
        async with Client(server, elicitation_handler=elicit) as client, person:
            yield OfFastMCP(world, runtime, client, person)


class OfFastMCP:
    """`Client.call_tool_mcp`."""

    agent = ""

    def __init__(self, world: World, runtime: Runtime, client: Client[Any], person: Person) -> None:
        self._world = world
        self._runtime = runtime
        self._client = client
        self._person = person

    async def call(self) -> Seen:
        return await self._person.begin(self._called())

    async def answer(self, answer: Json) -> Seen:
        if self._person.is_asked:
            return await self._person.answer(answer)
        (asked,) = await self._runtime.waits.list("s")  # elsewhere, as `toolgen approve` does
        return seen_result(await self._runtime.waits.answer(asked.token, answer, session_id="s", by="bob"))

    async def _called(self) -> Seen:
        result = await self._client.call_tool_mcp(self._world.tool, ARGUMENTS)
        (block, *_) = result.content
        assert isinstance(block, TextContent)
        if not result.is_error:
            return Seen(status=(result.meta or {})[_FACTS]["status"], text=block.text)
        document = json.loads(block.text)
        if "id" not in document:
            return failed(block.text)
        (asked,) = [one for one in await self._runtime.waits.list("s") if one.id == document["id"]]
        return Seen(status="suspended", question=asked.question)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime
