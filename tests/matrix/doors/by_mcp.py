"""Calls of a client of the Model Context Protocol, whose person fills in forms."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client, types
from mcp.client._memory import InMemoryTransport

from toolgen.adapters.mcp import server
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime

from ..ledger import ARGUMENTS
from ..world import FACTS, World
from .door import Door, Seen, seen_result
from .person import Person

_STATUS = "dev.toolgen/status"
_PENDING_S = 10.0
"""How long a call waits for what its client is not asked about, in virtual time."""


@asynccontextmanager
async def mcp(world: World) -> AsyncIterator[Door]:
    """Open a server on the runtime, and a client of it."""
    person = Person()

    async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        answer = await person.ask(params.message)
        content = answer if isinstance(answer, dict) else {"answer": answer}
        return types.ElicitResult(action="accept", content=content)  # type: ignore[arg-type]  # it is flat

    async with world.runtime() as runtime:
        made = server(runtime, meta=lambda ctx: FACTS, approvals="elicitation", pending_s=_PENDING_S)
        transport = InMemoryTransport(made.sdk)
        async with Client(transport, mode="auto", elicitation_callback=elicit) as client, person:
            yield ByMcp(world, runtime, client, person)


class ByMcp:
    """`tools/call`."""

    agent = ""

    def __init__(self, world: World, runtime: Runtime, client: Client, person: Person) -> None:
        self._world = world
        self._runtime = runtime
        self._client = client
        self._person = person

    async def call(self) -> Seen:
        return await self._person.begin(self._called())

    async def answer(self, answer: Json) -> Seen:
        if self._person.is_asked:
            return await self._person.answer(answer)
        (asked,) = await self._runtime.suspensions.list("s")  # out of band, as `toolgen approve` does
        return seen_result(
            await self._runtime.suspensions.answer(asked.token, answer, session_id="s", by="bob")
        )

    async def _called(self) -> Seen:
        result = await self._client.call_tool(self._world.tool, ARGUMENTS)
        (block, *_) = result.content
        assert isinstance(block, types.TextContent)
        if not result.is_error:
            status = (result.meta or {}).get(_STATUS, "ok")
            return Seen(status=status, text=block.text)
        return await self._failed(block.text)

    async def _failed(self, text: str) -> Seen:
        """Return what an error says: that it failed, that nobody knows, or what it waits for elsewhere."""
        document = json.loads(text)
        if "unknown" in document:
            return Seen(status="unknown", text=text)
        if "id" not in document:
            return Seen(status="error", text=text)
        (asked,) = [one for one in await self._runtime.suspensions.list("s") if one.id == document["id"]]
        return Seen(status="suspended", question=asked.question)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime
