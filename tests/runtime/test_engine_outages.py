"""Calls that begin to wait while the file of their engine cannot be used: that is no outcome of theirs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine, RunWait
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, ToolContext, ToolOutcome, Unfinished
from toolgen.stores import StoreDiskError

pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])

META = CallMeta(session_id="s")


class Away(InProcessEngine):
    """An engine whose disk fails the first times, by the name of the method."""

    def __init__(self, **left: int) -> None:
        super().__init__()
        self.left = Counter(left)

    def _read(self, name: str) -> None:
        if self.left[name]:
            self.left[name] -= 1
            raise StoreDiskError("cannot be used", path=Path("/host/runs.db"), hint="wait")

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        self._read("open_waits")
        return await super().open_waits(session=session, limit=limit)

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        self._read("start_run")
        await super().start_run(loop, arg, run_id=run_id, session=session)


class Desk:
    """Tools that ask, and how often they were executed."""

    asked = 0

    async def ask(self, name: str, ctx: ToolContext) -> str | Unfinished:
        """Ask who it is."""
        if ctx.answer is not None:
            return str(ctx.answer)
        self.asked += 1
        return ToolOutcome.ask(f"Who is {name}?")

    async def wipe(self, name: str) -> str:
        """Wipe what somebody approves."""
        return name

    def runtime(self, engine: InProcessEngine) -> Runtime:
        made = Runtime(engine=engine, secret=b"s" * 32)
        tools: list[Any] = [
            func_tool(self.ask, toolset="desk.files"),
            func_tool(self.wipe, toolset="desk.files", confirm=ConfirmSpec(hint="Wipe {name}?")),
        ]
        made.tools.register(function_toolset("desk.files", tools))
        return made


@pytest.mark.parametrize("tool", ["ask", "wipe"])
async def test_a_call_that_asks_waits_until_it_can_be_counted(tool: str) -> None:
    """Its error was told: it failed with an internal error."""
    desk = Desk()
    async with desk.runtime(Away(open_waits=2)) as runtime:
        result = await runtime.call(f"desk.files.{tool}", {"name": "mira"}, META)
        assert result.status == "suspended"
        assert desk.asked == (tool == "ask")


async def test_a_call_that_has_begun_waits_until_its_question_is_kept() -> None:
    desk = Desk()
    async with desk.runtime(Away(start_run=2)) as runtime:
        result = await runtime.call("desk.files.ask", {"name": "mira"}, META)
        assert (result.status, desk.asked) == ("suspended", 1)
        assert len(await runtime.suspensions.list("s")) == 1


async def test_a_call_that_has_not_begun_can_be_made_again() -> None:
    async with Desk().runtime(Away(start_run=1)) as runtime:
        with pytest.raises(StoreDiskError):
            await runtime.call("desk.files.wipe", {"name": "mira"}, META)
        assert await runtime.suspensions.list("s") == ()
        assert (await runtime.call("desk.files.wipe", {"name": "mira"}, META)).status == "suspended"
