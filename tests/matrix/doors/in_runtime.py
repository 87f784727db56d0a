"""Calls that the host makes itself: one, or several at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from toolgen.contract.json_value import Json
from toolgen.runtime import ReadonlyContext, Runtime, Snapshot, ToolCall, ToolResult

from ..world import CALL, FACTS, World
from .door import Door, Seen, seen_result

META = replace(FACTS, tool_call_id=CALL)


@asynccontextmanager
async def direct(world: World) -> AsyncIterator[Door]:
    """Open a runtime that makes one call."""
    async with world.runtime() as runtime:
        yield Direct(world, runtime)


@asynccontextmanager
async def call_all(world: World) -> AsyncIterator[Door]:
    """Open a runtime that makes calls at once."""
    async with world.runtime() as runtime:
        yield AtOnce(world, runtime)


class Direct:
    """`Runtime.call`."""

    agent = ""

    def __init__(self, world: World, runtime: Runtime) -> None:
        self._world = world
        self._runtime = runtime
        self._token = ""

    async def call(self) -> Seen:
        within = await self._runtime.snapshot(ReadonlyContext(meta=FACTS))
        return self._seen(await self._made(within))

    async def _made(self, within: Snapshot) -> ToolResult:
        return await self._runtime.call(self._world.tool, {}, META, within=within)

    async def answer(self, answer: Json) -> Seen:
        return self._seen(await self._runtime.deliver(self._token, answer, session_id="s", by="bob"))

    def _seen(self, result: ToolResult) -> Seen:
        self._token = "" if result.suspension is None else result.suspension.token
        return seen_result(result)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime


class AtOnce(Direct):
    """`Runtime.call_all`."""

    async def _made(self, within: Snapshot) -> ToolResult:
        call = ToolCall(tool=self._world.tool, payload_json=b"{}", meta=META)
        (result,) = await self._runtime.call_all([call], within=within)
        return result
