"""Work that goes on elsewhere: a run parks, or a turn opens when it is done."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.agents.tools import (
    Users,
    agent,
    calling,
    first_answer,
    keeping,
    ran,
    running,
    texts,
    waiting,
)
from tests.virtual_time import now
from toolgen.agents import (
    Await,
    FinalResponse,
    PlanInput,
    RunHandle,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.specs import LongRunningSpec
from toolgen.engines import UnknownRunError
from toolgen.runtime import (
    Pending,
    Runtime,
    StaticToolset,
    Suspended,
    ToolOutcome,
)
from toolgen.waiting.options import WaitOptions

from .tools import engine_of


def long_running(*, ack: bool) -> StaticToolset:
    async def update() -> str | Pending[str | None]:
        """Update."""
        return ToolOutcome.pending("job-1", "begun" if ack else None)

    tool = func_tool(update, toolset="x.jobs")
    late = LongRunningSpec(ack=tool.spec.result if ack else None)
    made = func_tool(update, toolset="x.jobs", long_running=late)
    return StaticToolset(name="x.jobs", bound=(made,))


async def test_work_elsewhere_parks_the_run() -> None:
    planner = ScriptedPlanner([calling("update"), first_answer])
    async with running(agent("x.agent", planner, long_running(ack=False)), **keeping()) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        assert asked.kind == "pending"
        await runtime.suspensions.answer(asked.token, "2.4.0")
        assert (await handle.result()).text == '"2.4.0"'


async def test_work_with_an_acknowledgement_opens_a_turn_when_it_is_done() -> None:
    planner = ScriptedPlanner([calling("update"), first_answer], [texts])
    async with running(agent("x.agent", planner, long_running(ack=True)), **keeping()) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        assert (output.status, output.text) == ("completed", '"begun"')
        (work,) = output.pending
        assert (work.kind, work.tool, work.handle) == ("pending", "x.jobs.update", "job-1")
        result = await runtime.suspensions.answer(work.token, "2.4.0")
        assert result.json == b'"2.4.0"'
        await engine_of(runtime).result(work.run_id)
        after = (
            await agents_of(runtime)
            .client("x.agent")
            .handle(f"{output.run_id}/done:call_0_0", session_id="s")
            .result()
        )
    assert after.text.endswith('[The work of update (call_0_0) is done: "2.4.0"]')


@pytest.mark.asyncio(loop_factories=["virtual"])
@pytest.mark.parametrize("is_canceled", [False, True])
async def test_work_without_a_result_opens_a_turn_that_says_why(is_canceled: bool) -> None:
    planner = ScriptedPlanner([calling("update"), first_answer], [texts])
    waits = WaitOptions(expires_s=60, clock=now)
    async with running(agent("x.agent", planner, long_running(ack=True)), waiting=waits) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        (work,) = output.pending
        if is_canceled:
            await runtime.suspensions.cancel(work.token, "no power", by="jo")
        await engine_of(runtime).result(work.run_id)
        after = agents_of(runtime).client("x.agent").handle(f"{output.run_id}/done:call_0_0", session_id="s")
        text = (await after.result()).text
        log = [event async for _, event in engine_of(runtime).events(work.run_id)]
        client = agents_of(runtime).client("x.agent")
        seen = [event async for event in client.handle(work.run_id, session_id="s").events()]
        assert seen == list(await runtime.runs.events(work.run_id))
        assert [event.type for event in seen] == [event["type"] for event in log]
        with pytest.raises(UnknownRunError, match="or belong to another session or agent"):
            await anext(client.handle(work.run_id, session_id="other").events())
    why = "no power" if is_canceled else "nobody answered in time"
    told = f'{{"unknown":"{why}; the work may be done all the same"}}'
    assert text.endswith(f"[The work of update (call_0_0) has an unknown outcome: {told}]")
    (ended,) = [event for event in log if event["type"] == "tool_end"]
    assert (ended["status"], ended["run_id"], ended["tool_call_id"]) == ("unknown", output.run_id, "call_0_0")
    assert [event["answered_by"] for event in log if event["type"] == "answer_accepted"] == [
        "jo"
    ] * is_canceled


@pytest.mark.asyncio(loop_factories=["virtual"])
@pytest.mark.parametrize("by", ["run", "token", "time"])
async def test_work_for_which_its_run_waits_is_unknown_without_a_result(by: str) -> None:
    planner = ScriptedPlanner([calling("update"), first_answer])
    waits = WaitOptions(expires_s=60, clock=now)
    async with running(agent("x.agent", planner, long_running(ack=False)), waiting=waits) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        if by == "run":
            await handle.cancel("no power")
        elif by == "token":
            await runtime.suspensions.cancel(asked.token, "no power")
        await handle.result()
        (said,) = await agents_of(runtime).sessions.transcript("s")
        (result,) = [one for message in said.messages for one in getattr(message, "answers", ())]
        why = "nobody answered in time" if by == "time" else "no power"
        told = f'{{"unknown":"{why}; the work may be done all the same"}}'
        assert (result.status, result.text) == ("unknown", told)


def asking(**more: Any) -> dict[str, Any]:
    """Return options of a runtime that can ask, and that knows who calls."""
    return {"interceptors": [Users()], **more}


async def all_waiting(handle: RunHandle) -> tuple[Suspended, ...]:
    output = await asyncio.wait_for(handle.settled(), 60)
    assert output.status == "waiting"
    return output.awaiting


class Worker:
    """Executes a tool whose work goes on elsewhere."""

    def __init__(self) -> None:
        self.runs = 0

    async def update(self) -> str | Pending[str]:
        """Update."""
        self.runs += 1
        return ToolOutcome.pending("job-1", "begun")

    def toolset(self) -> StaticToolset:
        plain = func_tool(self.update, toolset="x.jobs")
        late = LongRunningSpec(ack=plain.spec.result)
        return StaticToolset(
            name="x.jobs", bound=(func_tool(self.update, toolset="x.jobs", long_running=late),)
        )


async def test_work_that_fails_later_opens_a_turn_too_and_runs_nothing_again() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (work,) = (await handle.result()).pending
        await runtime.suspensions.progress(work.token, 0.5, "half")
        failed = await runtime.suspensions.answer(work.token, {"error": "no power"})
        assert failed.status == "error"
        again = await runtime.suspensions.answer(work.token, {"error": "no power"})
        assert again.json == failed.json
        await engine_of(runtime).result(work.run_id)
        after = agents_of(runtime).client("x.agent").handle(f"{handle.run_id}/done:call_0_0", session_id="s")
        said = await after.result()
        assert said.text.endswith('[The work of update (call_0_0) has failed: {"error":"no power"}]')
        assert len(await agents_of(runtime).sessions.transcript("s")) == 2

    worker = Worker()
    planner = ScriptedPlanner([calling("update"), first_answer], [texts])
    found = await ran(planner, drive=drive, options=asking(), toolsets=(worker.toolset(),))
    assert (found.output.text, worker.runs) == ('"begun"', 1)
    assert [event.status for event in found.of("tool_end")] == ["pending"]


async def test_work_that_is_done_in_the_middle_of_a_turn_waits_for_its_own() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (work,) = (await handle.result()).pending
        second = await agents_of(runtime).client("x.agent").start("More.", session_id="s")
        (asked,) = await all_waiting(second)
        await runtime.suspensions.answer(work.token, "2.4.0")
        assert len(await agents_of(runtime).sessions.transcript("s")) == 2
        await second.answer(asked, "now")
        assert (await second.result()).text == "soon"
        await engine_of(runtime).result(work.run_id)
        turns = await agents_of(runtime).sessions.transcript("s")
        after = (
            await agents_of(runtime).client("x.agent").handle(turns[-1].turn.run_id, session_id="s").result()
        )
        assert after.run_id == f"{handle.run_id}/done:call_0_0"
        assert after.text.endswith('[soon] [The work of update (call_0_0) is done: "2.4.0"]')

    planner = ScriptedPlanner(
        [calling("update"), first_answer],
        [Await(kind="clarification", question="When?"), "soon"],
        [texts],
    )
    await ran(planner, drive=drive, options=asking(), toolsets=(Worker().toolset(),))


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_results_of_work_are_told_in_order_as_soon_as_their_session_is_free() -> None:
    """The session is busy for long; each of the turns that they open keeps it busy too."""
    told: list[tuple[str, float]] = []

    async def hears(given: PlanInput) -> FinalResponse:
        told.append((texts(given)[-30:], now()))
        await asyncio.sleep(7)
        return FinalResponse(text="heard")

    busy = Await(kind="clarification", question="When?")
    batch = calling("update", "update", "update")
    planner = ScriptedPlanner([batch, first_answer], [busy, "soon"], [hears], [hears], [hears])
    waits = WaitOptions(expires_s=10 * 86400, clock=now)
    async with running(agent("x.agent", planner, long_running(ack=True)), waiting=waits) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        works = (await client.run("Go.", session_id="s")).pending
        second = await client.start("More.", session_id="s")
        asked = await waiting(second)
        for work in works[::-1]:
            await runtime.suspensions.answer(work.token, work.tool_call_id)
            await asyncio.sleep(100)
        await asyncio.sleep(5000)
        free = now()
        await second.answer(asked, "now")
        await asyncio.gather(*(engine_of(runtime).result(work.run_id) for work in works))
        last = client.handle(f"{works[0].run_id.partition('/')[0]}/done:call_0_0", session_id="s")
        await last.result()
    assert [text.partition("done: ")[2] for text, _ in told] == [
        f'"{work.tool_call_id}"]' for work in works[::-1]
    ]
    assert [at - free < 0.5 + 7 * turn for turn, (_, at) in enumerate(told)] == [True] * 3


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_work_that_was_canceled_while_it_waited_for_its_session_holds_up_no_other() -> None:
    told: list[float] = []

    async def hears(given: PlanInput) -> FinalResponse:
        told.append(now())
        return FinalResponse(text="heard")

    planner = ScriptedPlanner(
        [calling("update", "update"), first_answer],
        [Await(kind="clarification", question="When?"), "soon"],
        [hears],
    )
    waits = WaitOptions(expires_s=10 * 86400, clock=now)
    async with running(agent("x.agent", planner, long_running(ack=True)), waiting=waits) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        first, other = (await client.run("Go.", session_id="s")).pending
        second = await client.start("More.", session_id="s")
        asked = await waiting(second)
        for work in (first, other):
            await runtime.suspensions.answer(work.token, work.tool_call_id)
            await asyncio.sleep(500)
        await engine.cancel(first.run_id)
        free = now()
        await second.answer(asked, "now")
        await engine.result(other.run_id)
        await client.handle(f"{second.run_id}", session_id="s").result()
        done = f"{other.run_id.partition('/')[0]}/done:{other.tool_call_id}"
        await client.handle(done, session_id="s").result()
    assert [at - free < 0.5 for at in told] == [True]
