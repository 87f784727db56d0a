"""Whoever stops waiting for a call of a run says what is known of it: its time ends, or its run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from threading import Event as Gate
from typing import Any

import pytest

from toolgen.agents import (
    AssistantMessage,
    FinalResponse,
    FinalResult,
    Message,
    PlanInput,
    PlannedCall,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    ToolAnswer,
    ToolMessage,
    agents_of,
)
from toolgen.agents.loop.events import last_events
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.calls.functions.tools import func_tool
from toolgen.contract.json_value import Json
from toolgen.engines import EndedRun
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, Scheduling, StaticToolset
from toolgen.waiting.once_call import Resolution
from toolgen.waiting.resolving import unknown_ends

from .tools import agent, calling, engine_of, everything, exported, first_answer, ran, running, until, waiting

UNKNOWN_WHY = "its result was not kept; it may have run"
UNKNOWN = f'{{"unknown":"{UNKNOWN_WHY}"}}'
YES: dict[str, Any] = {"approved": True}
WELL = Resolution(outcome="result", result="paid")


class Payments:
    """Tools that do not end by themselves: one with an effect, one that only reads, and one in a thread."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.gate = Gate()
        confirm = ConfirmSpec(hint="Pay?")
        self.toolset = StaticToolset(
            name="x.payments",
            bound=(
                func_tool(self.pay, toolset="x.payments"),
                func_tool(self.pay, toolset="x.payments", name="pay_asked", confirm=confirm),
                func_tool(self.pay, toolset="x.payments", name="pay_alone", is_sequential=True),
                func_tool(self.look, toolset="x.payments", annotations={"read_only": True}),
                func_tool(self.block, toolset="x.payments"),
            ),
        )

    async def pay(self) -> str:
        """Pay."""
        self.began.append("pay")
        await asyncio.sleep(3600)
        return "paid"

    async def look(self) -> str:
        """Look."""
        self.began.append("look")
        await asyncio.sleep(3600)
        return "seen"

    def block(self) -> str:
        """Pay, in a thread."""
        self.began.append("block")
        self.gate.wait()
        return "paid"


def within(limit: str, seconds: float) -> RunPolicy:
    """Return a policy with one limit in seconds."""
    facts: dict[str, Any] = {limit: seconds}
    return RunPolicy(**facts)


def answers_in(messages: Iterable[Message]) -> list[ToolAnswer]:
    return [answer for one in messages if isinstance(one, ToolMessage) for answer in one.answers]


async def unknown_calls(runtime: Runtime, run_id: str) -> list[str]:
    """Return the calls of a run that `toolgen runs list --status unknown` lists."""
    return [end["tool_call_id"] for end in await unknown_ends(engine_of(runtime), run_id)]


@pytest.mark.parametrize("limit", ["tool_timeout", "time_budget"])
async def test_a_call_whose_time_ends_is_unknown_and_can_be_resolved(limit: str) -> None:
    payments, policy = Payments(), within(limit, 2.0)
    heard: list[Any] = []

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        assert (await handle.result()).status == "completed"
        assert await unknown_calls(runtime, handle.run_id) == ["call_0_0"]
        resolved = await runtime.runs.resolve(handle.run_id, "call_0_0", WELL, by="jo")
        assert (resolved.status, await unknown_calls(runtime, handle.run_id)) == ("ok", [])
        await agents_of(runtime).client("x.agent").run("Again.", session_id="s")

    def again(given: Any) -> str:
        heard.extend(answer.text for message in given.messages for answer in getattr(message, "answers", ()))
        return "done"

    planner = ScriptedPlanner([calling("pay", "look"), everything], [again])
    found = await ran(planner, policy, toolsets=(payments.toolset,), drive=drive)
    ends = {end.tool_call_id: end.status for end in found.of("tool_end")}
    assert ends == {"call_0_0": "unknown", "call_0_1": "error"}
    assert [hint.reason for hint in planner.inputs[1].retry_hints] == ["timeout"]
    assert [hint.tool for hint in planner.inputs[1].retry_hints] == ["x.payments.look"]
    assert heard[0] == '"paid"'
    assert sorted(payments.began) == ["look", "pay"]


@pytest.mark.parametrize("limit", ["tool_timeout", "time_budget"])
async def test_an_approved_call_whose_time_ends_is_unknown(limit: str) -> None:
    payments = Payments()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        result = await runtime.suspensions.answer(asked.token, YES, by="jo")
        assert (result.status, result.retry_hint) == ("unknown", None)
        await handle.result()
        assert await unknown_calls(runtime, handle.run_id) == ["call_0_0"]

    planner = ScriptedPlanner([calling("pay_asked"), first_answer])
    found = await ran(planner, within(limit, 2.0), toolsets=(payments.toolset,), drive=drive)
    assert '"unknown"' in found.output.text
    assert planner.inputs[1].retry_hints == ()
    assert payments.began == ["pay"]


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("limit", ["tool_timeout", "time_budget"])
async def test_a_call_in_a_thread_whose_time_ends_is_unknown(limit: str) -> None:
    payments = Payments()
    planner = ScriptedPlanner([calling("block"), first_answer])
    try:
        found = await ran(planner, within(limit, 0.125), toolsets=(payments.toolset,))
    finally:
        payments.gate.set()
    assert [end.status for end in found.of("tool_end")] == ["unknown"]
    assert planner.inputs[1].retry_hints == ()


async def test_the_call_of_a_child_run_whose_time_ends_is_unknown() -> None:
    payments = Payments()
    low = ScriptedPlanner([calling("pay"), first_answer])
    high = ScriptedPlanner([calling("look"), first_answer])
    async with running(
        agent("x.low", low, payments.toolset, policy=RunPolicy(tool_timeout=2.0)),
        agent("x.agent", high, exported("x.lows", "x.low")),
    ) as (runtime, engine):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        (child,) = (await engine.status(output.run_id)).children
        (call,) = await unknown_calls(runtime, child)
        await runtime.runs.resolve(child, call, WELL, by="jo")
        assert await unknown_calls(runtime, child) == []


def test_a_call_that_has_begun_is_unknown_though_the_log_lacks_its_start() -> None:
    """On Temporal the log is written beside the calls; else a conversation says that it was not run."""
    ids: dict[str, Json] = {"run_id": "run_1", "session_id": "s", "turn_id": "t", "agent_id": "x.agent"}
    start: dict[str, Json] = {
        **ids,
        "type": "tool_start",
        "tool": "x.pay",
        "name": "pay",
        "tool_call_id": "c1",
        "time": 1.0,
    }
    done: dict[str, Json] = {**start, "type": "tool_end", "status": "ok", "result": "paid"}
    ended = EndedRun(
        input={"facts": {}},
        ending="failed",
        reason="terminated",
        at=2.0,
        log=[{**ids, "type": "run_started", "time": 1.0}, start, done],
        begun={"tool:c1", "tool:c2", "plan:2"},
        waits={},
    )
    (end,) = last_events(ended)
    assert end.items() >= {**ids, "type": "tool_end", "status": "unknown", "tool_call_id": "c2"}.items()


@pytest.mark.parametrize("end", ["the child is canceled", "its time", "the time of the parent"])
async def test_a_call_is_unknown_whose_agent_left_one_unknown(end: str) -> None:
    """The model that made it reads nothing else of what its agent had begun."""
    payments, short = Payments(), RunPolicy(time_budget=2.0)
    low = ScriptedPlanner([calling("pay")])
    high = ScriptedPlanner([calling("look"), first_answer])
    async with running(
        agent("x.low", low, payments.toolset, policy=short if end == "its time" else None),
        agent("x.agent", high, exported("x.lows", "x.low"), policy=short if "parent" in end else None),
    ) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        if end == "the child is canceled":
            await until(lambda: payments.began)
            (child,) = (await engine.status(handle.run_id)).children
            await runtime.runs.cancel(child, "enough")
        output = await handle.result()
        assert output.text.endswith('; a call that it made may have run"}')
        (call,) = await unknown_calls(runtime, handle.run_id)
        assert call == "call_0_0"
    assert high.inputs[-1].retry_hints == ()


async def test_a_call_whose_agent_failed_without_one_has_failed() -> None:
    low = ScriptedPlanner([calling("look")])
    high = ScriptedPlanner([calling("look"), first_answer])
    looks = exported("x.others", "x.lower")
    async with running(
        agent("x.lower", ScriptedPlanner([FinalResult(result="seen")])),
        agent("x.low", low, looks),
        agent("x.agent", high, exported("x.lows", "x.low")),
    ) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        assert output.text.startswith('{"error":"look failed: ')
        assert await unknown_calls(runtime, output.run_id) == []


@pytest.mark.parametrize("by", ["cancel", "end of the session"])
async def test_the_calls_of_a_run_that_is_ended_in_the_middle(by: str) -> None:
    """Unknown is what had begun, what waited for its turn was not run, what waited for a person is denied."""
    payments, why = Payments(), "enough" if by == "cancel" else "the session ended"

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: len(payments.began) == 3)
        if by == "cancel":
            await handle.cancel("enough")
        else:
            await agents_of(runtime).sessions.end("s")
        assert (await handle.result()).status == "canceled"
        assert sorted(await unknown_calls(runtime, handle.run_id)) == ["call_0_0", "call_0_2"]
        await has_all_results(runtime, handle)
        await runtime.runs.resolve(handle.run_id, "call_0_0", WELL, by="jo")
        await has_all_results(runtime, handle, call_0_0=("ok", '"paid"'))
        if by == "cancel":
            await agents_of(runtime).client("x.agent").run("Again.", session_id="s")

    async def has_all_results(runtime: Runtime, handle: RunHandle, **other: tuple[str, str]) -> None:
        """The conversation has for each call what the log says, or what a person resolved."""
        (said,) = await agents_of(runtime).sessions.transcript("s")
        assert said.messages == await agents_of(runtime).sessions.run_messages(handle.run_id)
        told = {answer.id: (answer.status, answer.text) for answer in answers_in(said.messages)}
        assert list(told) == [f"call_0_{number}" for number in range(5)]
        not_run = '{"error":"pay_alone was not run: the run ended before"}'
        assert told == {
            "call_0_0": ("unknown", UNKNOWN),
            "call_0_1": ("error", '{"error":"the run ended before this call did"}'),
            "call_0_2": ("unknown", UNKNOWN),
            "call_0_3": ("error", not_run),
            "call_0_4": ("denied", f'{{"error":"{why}","code":"canceled"}}'),
            **other,
        }

    def again(given: PlanInput) -> str:
        seen.extend(answer.status for answer in answers_in(given.messages))
        return "done"

    seen: list[str] = []
    planner = ScriptedPlanner([calling("pay", "look", "pay_alone", "pay_alone", "pay_asked")], [again])
    found = await ran(planner, toolsets=(payments.toolset,), drive=drive)
    assert seen == (["ok", "error", "unknown", "error", "denied"] if by == "cancel" else [])
    ends = {end.tool_call_id: end for end in found.of("tool_end")}
    assert {id_: (end.status, end.error["message"]) for id_, end in ends.items()} == {
        "call_0_0": ("unknown", UNKNOWN_WHY),
        "call_0_1": ("error", "the run ended before this call did"),
        "call_0_2": ("unknown", UNKNOWN_WHY),
        "call_0_3": ("error", "pay_alone was not run: the run ended before"),
        "call_0_4": ("denied", why),
    }


async def test_calls_that_were_planned_and_not_made_are_not_unknown() -> None:
    """The conversation has them, and the log does not: their run ended before it heard of its planning."""
    store, is_planning = MemorySessionStore(), asyncio.Event()
    plan = AssistantMessage(calls=tuple(PlannedCall(name=name, id=name) for name in ("pay", "look")))

    class Slow:
        async def plan_start(self, given: PlanInput) -> Any:
            if given.run_id == "r":
                is_planning.set()
                await asyncio.sleep(3600)
            return FinalResponse(text=everything(given))

        plan_resume = plan_start

    async with running(agent("x.agent", Slow(), Payments().toolset), sessions=store) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s", run_id="r")
        await is_planning.wait()
        await handle.cancel("enough")
        await store.write("r", 1, [plan])
        after = await client.run("Again.", session_id="s")
        said, _ = await agents_of(runtime).sessions.transcript("s")
    not_run = [f'{{"error":"{name} was not run: the run ended before"}}' for name in ("pay", "look")]
    told = [(answer.status, answer.text) for answer in answers_in(said.messages)]
    assert told == [("error", text) for text in not_run]
    assert after.text == " | ".join(not_run)


async def test_a_call_by_itself_that_is_ended_in_the_middle_is_unknown() -> None:
    payments = Payments()
    async with running(agent("x.agent", ScriptedPlanner([]))) as (runtime, engine):
        runtime.tools.register(payments.toolset)
        asked = (await runtime.call("pay_asked", {}, CallMeta(session_id="s"))).suspension
        assert asked is not None
        answering = asyncio.create_task(runtime.suspensions.answer(asked.token, YES, by="jo"))
        await until(lambda: payments.began)
        await runtime.runs.cancel(asked.run_id, "enough")
        answering.cancel()
        assert (await engine.result(asked.run_id)).state == "canceled"
        assert len(await unknown_calls(runtime, asked.run_id)) == 1
        await runtime.runs.resolve(asked.run_id, "", WELL, by="jo")
        assert await unknown_calls(runtime, asked.run_id) == []


async def test_calls_of_unknown_outcome_count_as_failed() -> None:
    payments = Payments()
    steps: list[ScriptStep] = [calling("pay"), calling("pay"), lambda given: given.closing]
    policy = RunPolicy(tool_timeout=2.0, max_consecutive_failed_tool_calls=2)
    found = await ran(ScriptedPlanner(steps), policy, toolsets=(payments.toolset,))
    assert (found.output.text, found.output.stop) == ("failure_cap", "failure_cap")


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("end", ["time_budget", "cancel"])
async def test_a_call_that_never_got_its_thread_was_not_run(end: str) -> None:
    payments = Payments()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: payments.began)
        if end == "cancel":
            await handle.cancel("enough")
        await handle.result()

    planner = ScriptedPlanner([calling("block", "block", "block"), everything])
    policy = within("time_budget", 0.5) if end == "time_budget" else RunPolicy()
    options = {"scheduling": Scheduling(max_threads=1)}
    try:
        found = await ran(planner, policy, toolsets=(payments.toolset,), drive=drive, options=options)
    finally:
        payments.gate.set()
    assert sorted(event.status for event in found.of("tool_end")) == ["error", "error", "unknown"]
    assert payments.began == ["block"]
    not_run = [event.error["message"] for event in found.of("tool_end") if event.status == "error"]
    assert all("block was not run" in error for error in not_run)


@pytest.mark.parametrize("begun", [frozenset({"tool:c1"}), frozenset[str]()])
def test_a_call_that_is_cut_off_ends_when_its_run_ends(begun: frozenset[str]) -> None:
    """And not when it began, which readers of the log would take for a call that took no time."""
    start: dict[str, Json] = {"type": "tool_start", "tool": "x.t.pay", "name": "pay", "time": 10.0}
    start["tool_call_id"] = "c1"
    (end,) = last_events(
        EndedRun(input={}, ending="canceled", reason="", at=25.0, log=[start], begun=begun, waits={})
    )
    assert (end["type"], end["tool_call_id"], end["time"]) == ("tool_end", "c1", 25.0)
