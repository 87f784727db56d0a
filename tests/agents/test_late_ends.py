"""A call that ends after nobody waited for it settles its unknown outcome; the first settlement wins."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Event as Gate
from typing import Annotated, Any

import pytest

from toolgen.agents import (
    PlanInput,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ToolAnswer,
    ToolMessage,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.contract.secrets import HIDDEN
from toolgen.events.document import as_json
from toolgen.events.hub import Events
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, StaticToolset, ToolError
from toolgen.runtime.functions import Sensitive
from toolgen.waiting.once_call import BY_ITSELF, Resolution, ResolveError
from toolgen.waiting.resolving import resolved_end, unknown_ends

from .tools import agent, calling, engine_of, exported, first_answer, ran, running, until

CALL = "call_0_0"
LEFT = "x.slow.block ended after its runtime was closed, so its outcome stays unknown"
JO = Resolution(outcome="failed", message="Jo looked: it did not.")


class Slow:
    """A tool in a thread and one in the loop that ends only when the test says so, whatever its time is."""

    def __init__(self, *, fails: Exception | None = None) -> None:
        self.gate, self.end = Gate(), asyncio.Event()
        self.began = asyncio.Event()
        self._fails = fails
        self._loop = asyncio.get_running_loop()
        tools: list[Callable[..., object]] = [
            self.block,
            self.ignore,
            self.obey,
            self.quote,
            self.quote_in_loop,
        ]
        self.toolset = StaticToolset(
            name="x.slow", bound=tuple(func_tool(one, toolset="x.slow") for one in tools)
        )

    def block(self) -> str:
        """Pay, in a thread."""
        self._loop.call_soon_threadsafe(self.began.set)
        self.gate.wait()
        if self._fails is not None:
            raise self._fails
        return "paid"

    async def ignore(self) -> str:
        """Pay, and ignore a cancellation."""
        self.began.set()
        while not self.end.is_set():
            with suppress(asyncio.CancelledError):
                await self.end.wait()
        if self._fails is not None:
            raise self._fails
        return "paid"

    async def obey(self) -> str:
        """Pay, until it is cancelled."""
        self.began.set()
        await self.end.wait()
        return "paid"

    def quote(self, pin: Annotated[str, Sensitive()]) -> str:
        """Pay, in a thread, and quote the pin."""
        self.block()
        return f"paid with {pin}"

    async def quote_in_loop(self, pin: Annotated[str, Sensitive()]) -> str:
        """Pay, ignore a cancellation, and quote the pin."""
        await self.ignore()
        return f"paid with {pin}"

    def let_go(self) -> None:
        self.gate.set()
        self.end.set()


async def told(runtime: Runtime, run_id: str) -> ToolAnswer:
    """Return the result of the first call of a run, as its conversation has it now."""
    messages = await agents_of(runtime).sessions.run_messages(run_id)
    return next(answer for one in messages if isinstance(one, ToolMessage) for answer in one.answers)


async def settled(runtime: Runtime, run_id: str) -> ToolAnswer:
    """Return what the conversation has of the first call of a run when its outcome is settled."""
    async with asyncio.timeout(30):
        while not (answer := await told(runtime, run_id)).resolved_by:  # noqa: ASYNC110  # of another task
            await asyncio.sleep(0.01)
    assert [end["tool_call_id"] for end in await unknown_ends(engine_of(runtime), run_id)] == []
    return answer


async def unknown(runtime: Runtime, run_id: str) -> list[str]:
    return [end["tool_call_id"] for end in await unknown_ends(engine_of(runtime), run_id)]


REAL = pytest.mark.asyncio(loop_factories=["real"])
LIMITS: list[dict[str, Any]] = [{"tool_timeout": 0.125}, {"time_budget": 0.125}]


@REAL
@pytest.mark.parametrize("tool", ["block", "ignore"])
@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: next(iter(limit)))
async def test_the_late_end_of_a_call_is_a_later_word(tool: str, limit: dict[str, Any]) -> None:
    """The planning that was told of an unknown outcome was told so; the next turn hears what became of it."""
    slow, seen = Slow(), list[str]()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.result()
        assert await unknown(runtime, handle.run_id) == [CALL]
        slow.let_go()
        answer = await settled(runtime, handle.run_id)
        assert (answer.status, answer.text, answer.resolved_by) == ("ok", '"paid"', BY_ITSELF)
        with pytest.raises(ResolveError, match="is known: ok"):
            await runtime.runs.resolve(handle.run_id, CALL, JO, by="jo")
        await agents_of(runtime).client("x.agent").run("Again.", session_id="s")

    def again(given: PlanInput) -> str:
        seen.extend(a.text for m in given.messages if isinstance(m, ToolMessage) for a in m.answers)
        return "done"

    planner = ScriptedPlanner([calling(tool), first_answer], [again])
    try:
        found = await ran(planner, RunPolicy(**limit), toolsets=(slow.toolset,), drive=drive)
    finally:
        slow.let_go()
    assert '"unknown"' in found.output.text
    assert seen == ['"paid"']


@REAL
@pytest.mark.parametrize("tool", ["block", "ignore"])
async def test_a_call_of_a_canceled_run_settles_itself(tool: str) -> None:
    slow = Slow()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await slow.began.wait()
        await handle.cancel("enough")
        await handle.result()
        assert (await told(runtime, handle.run_id)).status == "unknown"
        slow.let_go()
        answer = await settled(runtime, handle.run_id)
        assert (answer.status, answer.resolved_by) == ("ok", BY_ITSELF)

    try:
        await ran(ScriptedPlanner([calling(tool)]), toolsets=(slow.toolset,), drive=drive)
    finally:
        slow.let_go()


@REAL
@pytest.mark.parametrize(
    ("fails", "text"),
    [(ToolError("no money"), '{"error":"no money"}'), (OSError("secret"), "failed with an internal error")],
)
async def test_a_thread_that_fails_late_settles_its_call_as_failed(fails: Exception, text: str) -> None:
    slow = Slow(fails=fails)

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.result()
        slow.let_go()
        answer = await settled(runtime, handle.run_id)
        assert (answer.status, answer.resolved_by) == ("error", BY_ITSELF)
        assert text in answer.text
        assert "secret" not in answer.text

    policy, planner = RunPolicy(tool_timeout=0.125), ScriptedPlanner([calling("block"), first_answer])
    try:
        await ran(planner, policy, toolsets=(slow.toolset,), drive=drive)
    finally:
        slow.let_go()


async def test_a_call_that_was_cut_says_nothing_of_its_outcome() -> None:
    """Neither that it was cancelled, nor what broke in it therefore."""
    slow = Slow()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.result()
        for _ in range(100):
            await asyncio.sleep(0.01)
        assert await unknown(runtime, handle.run_id) == [CALL]

    planner = ScriptedPlanner([calling("obey"), first_answer])
    await ran(planner, RunPolicy(tool_timeout=2.0), toolsets=(slow.toolset,), drive=drive)


@REAL
async def test_what_a_person_said_first_stays(caplog: pytest.LogCaptureFixture) -> None:
    slow = Slow()
    caplog.set_level(logging.INFO)

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.result()
        await runtime.runs.resolve(handle.run_id, CALL, JO, by="jo")
        slow.let_go()
        await until(lambda: "was not needed" in caplog.text)
        answer = await told(runtime, handle.run_id)
        assert (answer.status, answer.resolved_by) == ("error", "jo")

    policy, planner = RunPolicy(tool_timeout=0.125), ScriptedPlanner([calling("block"), first_answer])
    try:
        await ran(planner, policy, toolsets=(slow.toolset,), drive=drive)
    finally:
        slow.let_go()


@REAL
async def test_a_late_end_after_the_runtime_was_closed_settles_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow = Slow()
    planner, policy = ScriptedPlanner([calling("block"), first_answer]), RunPolicy(tool_timeout=0.125)
    try:
        async with running(agent("x.agent", planner, slow.toolset, policy=policy)) as (runtime, _):
            await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        slow.let_go()
        await until(lambda: not runtime.stuck_threads)
        async with asyncio.timeout(30):
            while LEFT not in caplog.messages:  # noqa: ASYNC110  # of the thread
                await asyncio.sleep(0.01)
        assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("late end")]
    finally:
        slow.let_go()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@REAL
async def test_the_late_call_of_a_child_run_settles_itself() -> None:
    slow = Slow()
    low = agent(
        "x.low",
        ScriptedPlanner([calling("block"), first_answer]),
        slow.toolset,
        policy=RunPolicy(tool_timeout=0.125),
    )
    high = agent("x.agent", ScriptedPlanner([calling("look"), first_answer]), exported("x.lows", "x.low"))
    async with running(low, high) as (runtime, engine):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        (child,) = (await engine.status(output.run_id)).children
        assert len(await unknown(runtime, child)) == 1
        slow.let_go()
        async with asyncio.timeout(30):
            while await unknown(runtime, child):  # noqa: ASYNC110  # of another task
                await asyncio.sleep(0.01)


@REAL
@pytest.mark.parametrize("by", ["its time", "a cancellation"])
async def test_the_late_call_of_a_run_of_its_own_settles_itself(by: str) -> None:
    slow = Slow()
    limit: Any = {"timeout": 0.125} if by == "its time" else {}
    confirmed = func_tool(slow.block, toolset="x.asked", confirm=ConfirmSpec(), **limit)
    async with running(agent("x.agent", ScriptedPlanner([]))) as (runtime, engine):
        runtime.tools.register(StaticToolset(name="x.asked", bound=(confirmed,)))
        asked = (await runtime.call("block", {}, CallMeta(session_id="s", tool_call_id="c"))).suspension
        assert asked is not None
        answering = asyncio.create_task(runtime.suspensions.answer(asked.token, {"approved": True}, by="jo"))
        await slow.began.wait()
        if by == "a cancellation":
            await runtime.runs.cancel(asked.run_id, "enough")
        result = await answering
        assert (result.status, result.retry_hint) == ("unknown", None)
        assert await unknown(runtime, asked.run_id) == ["c"]
        slow.let_go()
        async with asyncio.timeout(30):
            while await unknown(runtime, asked.run_id):  # noqa: ASYNC110  # of another task
                await asyncio.sleep(0.01)
        end = await resolved_end(engine, asked.run_id, "c")
        assert end is not None
        assert (end["status"], end["result"], end["resolved_by"]) == ("ok", "paid", BY_ITSELF)


@REAL
@pytest.mark.parametrize("fails", [None, ToolError("no money for OTTER-PIN")], ids=["ends", "fails"])
@pytest.mark.parametrize("tool", ["quote", "quote_in_loop"])
async def test_people_see_no_sensitive_value_that_a_late_end_quotes(
    tool: str, fails: Exception | None
) -> None:
    """The model sees the result as it is, as in time."""
    slow, events = Slow(fails=fails), Events()
    ends: list[Any] = []

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.result()
        slow.let_go()
        answer = await settled(runtime, handle.run_id)
        assert ("OTTER-PIN" in answer.text) is (fails is None)
        ends.append(await resolved_end(engine_of(runtime), handle.run_id, CALL))

    planner = ScriptedPlanner([calling((tool, {"pin": "OTTER-PIN"})), first_answer])
    try:
        async with events.subscribe() as heard:
            policy, options = RunPolicy(tool_timeout=0.125), {"events": events}
            await ran(planner, policy, toolsets=(slow.toolset,), drive=drive, options=options)
    finally:
        slow.let_go()
    assert HIDDEN in str(ends[0]["error" if fails else "result"])
    assert "OTTER" not in str([*ends, *[as_json(event) async for event in heard]])


@REAL
async def test_people_see_no_sensitive_value_that_the_late_end_of_a_direct_call_quotes() -> None:
    slow = Slow()
    confirmed = func_tool(slow.quote, toolset="x.asked", confirm=ConfirmSpec(), timeout=0.125)
    try:
        async with running(agent("x.agent", ScriptedPlanner([]))) as (runtime, engine):
            runtime.tools.register(StaticToolset(name="x.asked", bound=(confirmed,)))
            meta = CallMeta(session_id="s", tool_call_id="c")
            asked = (await runtime.call("quote", {"pin": "OTTER-PIN"}, meta)).suspension
            assert asked is not None
            assert (await runtime.suspensions.answer(asked.token, {"approved": True})).status == "unknown"
            slow.let_go()
            async with asyncio.timeout(30):
                while await unknown(runtime, asked.run_id):  # noqa: ASYNC110  # of another task
                    await asyncio.sleep(0.01)
            end = await resolved_end(engine, asked.run_id, "c")
            again = await runtime.suspensions.answer(asked.token, {"approved": True})
    finally:
        slow.let_go()
    assert end is not None
    assert (end["status"], end["result"]) == ("ok", f"paid with {HIDDEN}")
    assert (again.status, json.loads(again.json)) == ("ok", end["result"])
