"""When a run waits: for a person, for a credential, for work elsewhere, for its client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.runtime.run_tools import agent, answers, calling, first_answer, ran, running, texts
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    Await,
    Awaiting,
    InterruptsNotAllowedError,
    PlanInput,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    SessionBusyError,
    agents_of,
)
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    Pending,
    Runtime,
    StaticToolset,
    ToolContext,
    ToolOutcome,
    Unfinished,
    with_confirmation,
)
from toolgen.runtime.specs import LongRunningSpec
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    UnknownSuspensionError,
)
from toolgen.runtime.waiting.suspension import MemorySuspensionStore


def keeping(**more: Any) -> Mapping[str, Any]:
    """Return options of a runtime that can ask."""
    return {"suspensions": MemorySuspensionStore(), **more}


async def waiting(handle: RunHandle) -> Awaiting:
    output = await asyncio.wait_for(handle.settled(), 5)
    assert output.status == "waiting"
    (awaiting,) = output.awaiting
    return awaiting


async def test_answers_are_checked_and_taken_once() -> None:
    tokens: list[str] = []

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert (asked.kind, asked.question, asked.run_id) == ("input", "Which name?", handle.run_id)
        assert asked.token not in repr(asked)
        tokens.append(asked.token)
        with pytest.raises(BadAnswerError, match="must be of type string"):
            await runtime.deliver(asked.token, 3)
        with pytest.raises(ForeignAnswerError):
            await runtime.deliver(asked.token, "Bo", session_id="another")
        with pytest.raises(UnknownSuspensionError):
            await runtime.deliver("s_forged", "Bo")
        first = await runtime.deliver(asked.token, "Bo")
        again = await runtime.deliver(asked.token, "Bo")
        assert first.json == again.json == b'"hello Bo"'
        with pytest.raises(ConflictingAnswerError):
            await runtime.deliver(asked.token, "Cy")

    planner = ScriptedPlanner([calling("ask", ("add", {"a": 1, "b": 1})), lambda given: str(answers(given))])
    found = await ran(planner, drive=drive, options=keeping())
    assert found.output.text == "['\"hello Bo\"', '2']"
    assert [event.status for event in found.of("tool_end")] == ["suspended", "ok", "ok"]
    assert not any(token in str(found.events) for token in tokens)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"approved": True}, "5"),
        ({"approved": False, "message": "Never."}, '{"error":"Never.","code":"denied"}'),
    ],
)
async def test_a_person_decides(answer: dict[str, Any], text: str) -> None:
    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    toolset = with_confirmation(function_toolset("x.sums", [add]), hint="Add {a} and {b}?")
    planner = ScriptedPlanner([calling(("add", {"a": 2, "b": 3})), first_answer])
    spec = AgentSpec(id="x.agent", description="Adds.")
    registration = AgentRegistration(spec=spec, planner=planner, dynamic=(toolset,), format=1)
    async with running(registration, **keeping()) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        assert (asked.kind, asked.question) == ("confirmation", "Add 2 and 3?")
        await handle.answer(asked, answer)
        assert (await handle.result()).text == text
        events = await agents_of(runtime).events(handle.run_id)
    decided = [event for event in events if event.type == "tool_authorization"]
    assert [(event.decision, event.by) for event in decided] == [
        ("approved" if answer["approved"] else "denied", "person")
    ]


async def test_with_nobody_to_ask_the_call_is_denied() -> None:
    for options in ({}, keeping(is_interactive=False)):
        found = await ran(ScriptedPlanner([calling("ask"), first_answer]), options=options)
        assert '"code":"approval_unavailable"' in found.output.text


async def test_a_question_can_be_taken_back() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        with pytest.raises(SessionBusyError, match="answer what it waits for"):
            await agents_of(runtime).client("x.agent").run("More.", session_id="s")
        assert (await runtime.cancel(asked.token, "no time")).status == "denied"

    found = await ran(ScriptedPlanner([calling("ask"), first_answer]), drive=drive, options=keeping())
    assert found.output.text == '{"error":"no time","code":"canceled"}'


async def test_an_answer_after_the_end_is_late() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        await handle.cancel("enough")
        with pytest.raises(LateAnswerError):
            await runtime.deliver(asked.token, "Bo")

    found = await ran(ScriptedPlanner([calling("ask")]), drive=drive, options=keeping())
    assert (found.output.status, found.output.error) == ("canceled", "enough")


async def test_waiting_costs_no_time_of_the_run() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        await asyncio.sleep(0.3)
        await handle.answer(asked, "Bo")

    planner = ScriptedPlanner([calling("ask"), first_answer])
    found = await ran(planner, RunPolicy(time_budget=0.25), drive=drive, options=keeping())
    assert (found.output.text, found.output.stop) == ('"hello Bo"', "final")


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"size": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["size"],
}


@pytest.mark.parametrize(
    ("wait", "bad", "good", "said"),
    [
        (Await(kind="clarification", question="Which?"), 3, "the red one", "the red one"),
        (Await(kind="questions", question="Size?", schema=SCHEMA), {"size": "x"}, {"size": 3}, '{"size":3}'),
        (
            Await(kind="questions", question="Size?", schema=SCHEMA),
            {"size": None, "note": None},
            {"size": 3, "note": None},
            '{"size":3}',
        ),
        (Await(kind="confirmation", question="Sure?", schema={"type": "boolean"}), "yes", True, "true"),
        (Await(kind="external", question="The total?", schema={"type": "number"}), None, 2.5, "2.5"),
    ],
)
async def test_a_planner_may_wait_for_a_person(wait: Await, bad: Any, good: Any, said: str) -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert (asked.kind, asked.question, asked.token) == (wait.kind, wait.question, "")
        with pytest.raises(BadAnswerError):
            await handle.answer(asked, bad)
        await handle.answer(asked, good)
        await handle.answer(asked, good)  # a second answer says nothing more

    found = await ran(ScriptedPlanner([wait, texts]), drive=drive)
    assert found.output.text == f"[Go.] [{wait.question}] [{said}]"
    (event,) = found.of("await_clarification")
    assert (event.kind, event.question) == (wait.kind, wait.question)


async def test_a_planner_has_nobody_to_ask() -> None:
    planner = ScriptedPlanner([Await(kind="clarification", question="Which?"), texts])
    found = await ran(planner, options={"is_interactive": False})
    assert found.output.text.endswith("[there is nobody to ask; go on without an answer]")


async def test_missing_fields_are_asked_for() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert asked.question == "To call add I need b."
        await handle.answer(asked, "b is 2")

    planner = ScriptedPlanner([calling(("add", {"a": 1})), calling(("add", {"a": 1, "b": 2})), first_answer])
    found = await ran(planner, RunPolicy(on_missing_fields="await_clarification"), drive=drive)
    assert found.output.text == "3"
    assert "[b is 2]" in texts(planner.inputs[1])


async def test_clients_speak_into_a_run_and_pause_it() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.pause()
        assert (await waiting(handle)).kind == "pause"
        await handle.interrupt("Be quick.")
        await handle.resume("Now.")

    async def later(given: PlanInput) -> Any:
        await asyncio.sleep(0.05)
        return calling(("add", {"a": 1, "b": 1}))

    planner = ScriptedPlanner([later, texts])
    found = await ran(planner, RunPolicy(interrupts_allowed=True), drive=drive)
    assert found.output.text == "[Go.] [Be quick.] [Now.] [] [results]"

    async def refused(runtime: Runtime, handle: RunHandle) -> None:
        for interrupt in (handle.interrupt("Hey."), handle.pause(), handle.resume()):
            with pytest.raises(InterruptsNotAllowedError, match="takes no interrupts"):
                await interrupt

    await ran(ScriptedPlanner(["done"]), drive=refused)


async def twice(ctx: ToolContext) -> str | Unfinished:
    """Ask for two things, one after the other."""
    return ToolOutcome.ask("And?") if ctx.answer != "b" else "a then b"


async def pay(ctx: ToolContext) -> str | Unfinished:
    """Pay, once there is a key."""
    return ToolOutcome.need_credential({"key": "bank"}, "The bank?") if ctx.answer is None else "paid"


async def test_a_tool_asks_again_and_a_credential_comes() -> None:
    toolset = function_toolset("x.more", [twice, pay])
    planner = ScriptedPlanner([calling("twice", "pay"), lambda given: str(answers(given))])
    async with running(agent("x.agent", planner, toolset), **keeping()) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        for answer in ("a", "b"):
            output = await handle.settled()
            asked = next(one for one in output.awaiting if one.kind == "input")
            await runtime.deliver(asked.token, answer)
        asked = await waiting(handle)
        assert (asked.kind, asked.question) == ("credential", "The bank?")
        await runtime.deliver(asked.token, {"available": True})
        output = await handle.result()
        assert output.text == "['\"a then b\"', '\"paid\"']"
        assert await engine.replay(handle.run_id) == (await engine.status(handle.run_id)).output


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
        await runtime.deliver(asked.token, "2.4.0")
        assert (await handle.result()).text == '"2.4.0"'


async def test_work_with_an_acknowledgement_opens_a_turn_when_it_is_done() -> None:
    planner = ScriptedPlanner([calling("update"), first_answer], [texts])
    async with running(agent("x.agent", planner, long_running(ack=True)), **keeping()) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        assert (output.status, output.text) == ("completed", '"begun"')
        (work,) = output.pending
        assert (work.kind, work.tool, work.handle) == ("pending", "x.jobs.update", "job-1")
        result = await runtime.deliver(work.token, "2.4.0")
        assert result.json == b'"2.4.0"'
        after = (
            await agents_of(runtime)
            .client("x.agent")
            .handle(f"{output.run_id}/done:call_0_0", session_id="s")
            .result()
        )
    assert after.text.endswith('[The work of update (call_0_0) is done: "2.4.0"]')
