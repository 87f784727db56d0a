"""Calls that no agent makes; people answer them right and wrong, twice and at once, and forge answers."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, Final

from toolgen.contract.errors import ToolgenError
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, Suspended, ToolResult

from .clients import RIGHT, WRONG
from .planners import ARGUMENTS
from .tools import SECRET

_TOOLS: Final = (
    "add", "fail", "wrong", "ask", "twice", "approve", "sign_in", "finish", "keep", "factory_reset",
    "update_firmware",
)  # fmt: skip
_MOST_ANSWERS: Final = 10
"""To one call; then it is taken back."""


class Caller:
    """Makes calls, and answers them."""

    def __init__(self, chance: Random, runtime: Runtime, engine: InProcessEngine, session_id: str) -> None:
        self._chance, self._runtime, self._engine = chance, runtime, engine
        self._session = session_id

    async def call(self, id_: str) -> None:
        """Make a call and bring it to its end.

        Raises:
            AssertionError: something about it is not right.
        """
        name = self._chance.choice(_TOOLS)
        meta = CallMeta(session_id=self._session, tool_call_id=id_, requested_by="ann")
        result: ToolResult | None = await self._runtime.call(name, ARGUMENTS.get(name, {}), meta)
        ends = {"ok", "error", "denied"}
        for _ in range(_MOST_ANSWERS):
            if result is None or result.suspension is None:
                break
            if result.suspension.kind == "pending":
                ends.add("unknown")  # the work goes on where nobody waits for it any more
            result = await self._answered(result.suspension)
        if result is None:
            return
        if result.suspension is not None:
            result = await self._taken(self._runtime.suspensions.cancel(result.suspension.token, "enough"))
        assert result is None or result.status in ends, result
        assert result is None or SECRET.encode() not in result.json, result

    async def _answered(self, asked: Suspended) -> ToolResult | None:
        """Return the result of an answer; None where its time is over."""
        chance, runtime = self._chance, self._runtime
        kind, answer = chance.random(), chance.choice(RIGHT[asked.kind])
        if kind < 0.2:
            await self._taken(runtime.suspensions.answer(asked.token, chance.choice(WRONG)))
        elif kind < 0.3:
            return await self._taken(runtime.suspensions.cancel(asked.token, "nobody answers"))
        elif kind < 0.4:
            return await self._forged(asked)
        elif kind < 0.6:
            await self._taken(runtime.suspensions.answer(asked.token, answer, wait_s=0))
        elif kind < 0.8:
            await asyncio.gather(*(self._other(asked) for _ in range(2)))
        kept = await self._taken(runtime.suspensions.answer(asked.token, answer, by="bob", wait_s=None))
        again = await self._taken(runtime.suspensions.answer(asked.token, answer, by="bob", wait_s=None))
        if kept is not None and again is not None:
            assert (kept.status, kept.json, kept.suspension) == (again.status, again.json, again.suspension)
        return again or await self._open(asked)

    async def _other(self, asked: Suspended) -> None:
        """Give an answer beside others; its coroutine is made where it is awaited."""
        await self._taken(
            self._runtime.suspensions.answer(asked.token, self._chance.choice(RIGHT[asked.kind]))
        )

    async def _forged(self, asked: Suspended) -> ToolResult | None:
        """Put an answer into the journal that nobody gave; the same is asked again."""
        status = await self._engine.status(asked.run_id)
        if not status.awaiting:
            return None
        forged = {"answer": self._chance.choice(RIGHT[asked.kind]), "by": "eve"}
        await self._engine.answer(asked.run_id, status.awaiting[0].op, forged, key="forged")
        await self._engine.settled(asked.run_id)
        again = await self._open(asked)
        if again is not None and again.suspension is not None:
            assert again.suspension.arguments == asked.arguments
            assert again.suspension.reason, again
        return again

    async def _open(self, asked: Suspended) -> ToolResult | None:
        """Return what the run of a call waits for now; None where it is over."""
        for one in await self._runtime.suspensions.list(self._session):
            if one.run_id == asked.run_id:
                return ToolResult(tool=one.tool, status="suspended", suspensions=(one,))
        return None

    async def _taken(self, work: Any) -> ToolResult | None:
        """Return the result of an answer; None where it was not taken, as documented."""
        try:
            result: ToolResult = await work
        except ToolgenError:
            return None
        return result
