"""Calls that the host makes itself: one, or several at once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from toolgen.contract.json_value import Json
from toolgen.runtime import ReadonlyContext, Snapshot, ToolCall, ToolResult

from ..ledger import ARGUMENTS
from ..world import CALL, FACTS, World
from .door import Door, Seen, seen_result
from .host import Host, host_of

META = replace(FACTS, tool_call_id=CALL)


@asynccontextmanager
async def direct(world: World) -> AsyncIterator[Door]:
    """Open a runtime that makes one call."""
    async with host_of(world) as host:
        yield Direct(host)


@asynccontextmanager
async def call_all(world: World) -> AsyncIterator[Door]:
    """Open a runtime that makes calls at once."""
    async with host_of(world) as host:
        yield AtOnce(host)


class Direct:
    """`Runtime.call`."""

    agent = ""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._token = ""
        self.process = host.process
        self.restart = host.restart

    async def call(self) -> Seen:
        within = await self._host.runtime.tools.snapshot(ReadonlyContext(meta=FACTS))
        return self._seen(await self._made(self._host.world.tool, within))

    async def _made(self, tool: str, within: Snapshot) -> ToolResult:
        return await self._host.runtime.call(tool, ARGUMENTS, META, within=within)

    async def answer(self, answer: Json) -> Seen:
        result = await self._host.runtime.suspensions.answer(self._token, answer, session_id="s", by="bob")
        return self._seen(result)

    def _seen(self, result: ToolResult) -> Seen:
        self._token = "" if result.suspension is None else result.suspension.token
        return seen_result(result)


class AtOnce(Direct):
    """`Runtime.call_all`."""

    async def _made(self, tool: str, within: Snapshot) -> ToolResult:
        call = ToolCall(tool=tool, payload_json=json.dumps(ARGUMENTS).encode(), meta=META)
        (result,) = await self._host.runtime.call_all([call], within=within)
        return result
