"""A call of unknown outcome that was settled: whoever makes it again, or answers it again, has its result."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Event as Gate
from typing import Any, Final

import pytest

from tests.runtime.clock import HOUR, LoopClock
from toolgen.calls.call import CallName
from toolgen.calls.functions.tools import func_tool
from toolgen.engines import InProcessEngine, UnknownRunError
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, StaticToolset, ToolResult
from toolgen.waiting.loop import UNKNOWN
from toolgen.waiting.once_call import Resolution

META: Final = CallMeta(session_id="s", requested_by="mira", tool_call_id="c1")
NAME: Final = CallName(interface="test", call_id="c1")
YES: Final[Any] = {"approved": True}
TOOLS: Final = ("pay", "pay_approved")
FOUND: Final = Resolution(outcome="result", result="receipt 9")
FAILED: Final = Resolution(outcome="failed", message="no money")


class Slow:
    """Pays in a thread, which ends when the test says so."""

    def __init__(self) -> None:
        self.gate, self.began, self.paid = Gate(), asyncio.Event(), 0
        self._loop = asyncio.get_running_loop()

    def pay(self) -> str:
        """Pay."""
        self.paid += 1
        self._loop.call_soon_threadsafe(self.began.set)
        self.gate.wait()
        return "receipt 1"

    def pay_approved(self) -> str:
        """Pay after an approval."""
        return self.pay()

    def runtime(self, engine: InProcessEngine) -> Runtime:
        """Return a runtime with the tools, which have an hour."""
        pay = func_tool(self.pay, toolset="x.till", timeout=HOUR)
        approved = func_tool(self.pay_approved, toolset="x.till", timeout=HOUR, confirm=ConfirmSpec())
        made = Runtime(engine=engine)
        made.tools.register(StaticToolset(name="x.till", bound=(pay, approved)))
        return made


async def made_again(runtime: Runtime, tool: str) -> ToolResult:
    """Return the result of the named call, made now or again, after an approval where it wants one."""
    result = await runtime.call_once(NAME, tool, {}, META)
    if result.suspension is None:
        return result
    return await runtime.suspensions.answer(result.suspension.token, YES, wait_s=None)


async def left(runtime: Runtime, slow: Slow, tool: str) -> tuple[str, str]:
    """Make the call, stop waiting for it when its time is over; return its run, and a token or ""."""
    asked = (await runtime.call_once(NAME, tool, {}, META)).suspension if tool == "pay_approved" else None
    async with LoopClock() as clock:
        running = asyncio.create_task(made_again(runtime, tool))
        await slow.began.wait()
        await clock.advance(HOUR)
        assert (await running).status == "unknown"
    assert runtime.engine is not None
    [run] = await runtime.engine.list_runs()
    return run.run_id, "" if asked is None else asked.token


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("resolution", "status", "document"),
    [(FOUND, "ok", b'"receipt 9"'), (FAILED, "error", b'{"error":"no money"}')],
)
async def test_what_a_person_found_out(
    engine: InProcessEngine, tool: str, resolution: Resolution, status: str, document: bytes
) -> None:
    slow = Slow()
    try:
        async with slow.runtime(engine) as runtime:
            run_id, token = await left(runtime, slow, tool)
            assert (await made_again(runtime, tool)).status == "unknown"
            await runtime.runs.resolve(run_id, "", resolution, by="jo")
            told = [await made_again(runtime, tool)]
            told += (
                [await runtime.suspensions.answer(token, YES), await runtime.suspensions.result(token)]
                if token
                else []
            )
    finally:
        slow.gate.set()
    assert {(one.status, one.json, one.tool_call_id) for one in told} == {(status, document, "c1")}
    assert told[0].result == resolution.result
    assert (told[0].error is None) == (status == "ok")
    assert slow.paid == 1


@pytest.mark.parametrize("tool", TOOLS)
async def test_what_the_call_says_that_ends_late(engine: InProcessEngine, tool: str) -> None:
    slow = Slow()
    async with slow.runtime(engine) as runtime:
        run_id, token = await left(runtime, slow, tool)
        slow.gate.set()
        await ended(engine, f"{run_id}/resolved:c1")
        told = [await made_again(runtime, tool)]
        told += [await runtime.suspensions.answer(token, YES)] if token else []
    assert {(one.status, one.json) for one in told} == {("ok", b'"receipt 1"')}
    assert slow.paid == 1


@pytest.mark.parametrize("tool", TOOLS)
async def test_what_a_person_found_out_of_a_process_that_is_gone(tool: str, tmp_path: Path) -> None:
    path, slow = tmp_path / "runs.db", Slow()
    try:
        engine = InProcessEngine(path)
        async with slow.runtime(engine) as runtime:
            cut = asyncio.create_task(made_again(runtime, tool))
            await slow.began.wait()
            await engine.close()
        cut.cancel()
    finally:
        slow.gate.set()
    engine = InProcessEngine(path)
    async with slow.runtime(engine) as runtime:
        lost = await runtime.call_once(NAME, tool, {}, META)
        assert (lost.status, lost.json) == ("unknown", b'{"unknown":"%s"}' % str(UNKNOWN["unknown"]).encode())
        [run] = await engine.list_runs()
        await runtime.runs.resolve(run.run_id, "", FOUND, by="jo")
        again = await runtime.call_once(NAME, tool, {}, META)
    assert (again.status, again.json, slow.paid) == ("ok", b'"receipt 9"', 1)


async def ended(engine: InProcessEngine, run_id: str) -> None:
    """Wait for the end of a run that a thread leads to."""
    async with asyncio.timeout(30):
        while True:
            try:
                await engine.result(run_id)
                return
            except UnknownRunError:
                await asyncio.sleep(0.01)
