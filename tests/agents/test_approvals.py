"""Calls that a person approves or denies while their run waits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.agents.tools import (
    Bench,
    Resetting,
    Users,
    agent,
    answers,
    calling,
    everything,
    exported,
    first_answer,
    keeping,
    ran,
    resetting,
    running,
    waiting,
)
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    RunHandle,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    Ask,
    ConfirmSpec,
    Continue,
    Hook,
    Policy,
    Runtime,
    StaticToolset,
    Suspended,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
    Verdict,
)
from toolgen.runtime.views import with_confirmation
from toolgen.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
)


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
    registration = AgentRegistration(spec=spec, planner=planner, dynamic=(toolset,))
    async with running(registration, **keeping()) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        assert (asked.kind, asked.question) == ("confirmation", "Add 2 and 3?")
        await handle.answer(asked, answer)
        assert (await handle.result()).text == text
        events = await runtime.runs.events(handle.run_id)
    decided = [event for event in events if event.type == "tool_authorization"]
    assert [(event.decision, event.decided_by) for event in decided] == [
        ("approved" if answer["approved"] else "denied", "person")
    ]


SUM = ("add", {"a": 1, "b": 1})


def asks(name: str) -> tuple[str, dict[str, Any]]:
    return "ask", {"name": name}


def confirmed(bench: Bench) -> StaticToolset:
    confirm = ConfirmSpec(hint="Work as {name}?")
    tool = func_tool(bench.work, toolset="x.bench", confirm=confirm)
    return StaticToolset(name="x.bench", bound=(tool, func_tool(bench.ask, toolset="x.bench")))


class Rename(Hook):
    """Changes the arguments before they are shown to a person."""

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        if ctx.tool != "x.bench.work":
            return Continue()
        return Continue(payload=payload.model_copy(update={"name": payload.name.upper()}))


async def test_what_was_approved_is_what_runs_and_siblings_run_once() -> None:
    bench = Bench()
    SUMS.clear()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert asked.question == "Work as ANN?"
        wrongs: list[Any] = [True, {"approved": "yes"}, {"approved": True, "name": "bo"}, {}]
        for wrong in wrongs:
            with pytest.raises(BadAnswerError):
                await handle.answer(asked, wrong)
        await handle.answer(asked, {"approved": True})
        await handle.answer(asked, {"approved": True})
        with pytest.raises(ConflictingAnswerError):
            await handle.answer(asked, {"approved": False})

    planner = ScriptedPlanner([calling(("work", {"name": "ann"}), SUM), lambda given: str(answers(given))])
    tools = function_toolset("x.sums", [add])
    found = await ran(
        planner, toolsets=(confirmed(bench), tools), drive=drive, options=keeping(hooks=[Rename()])
    )
    assert found.output.text == "['\"ANN\"', '2']"
    assert bench.did == ["ANN begins", "ANN ends"]
    assert SUMS == [2]
    assert sorted(event.status for event in found.of("tool_end")) == ["ok", "ok", "suspended"]


SUMS: list[int] = []


async def add(a: int, b: int) -> int:
    """Add."""
    SUMS.append(a + b)
    return a + b


async def test_an_agent_asks_for_more_than_its_tools_and_a_policy_for_more_than_both() -> None:
    class Always(Policy):
        async def decide(self, call: ToolCall, spec: Any, preview: str) -> Any:
            return Ask(question="Really?")

    for policy, question in ((None, "Go through?"), (Always(), "Really?")):
        bench = Bench()
        bench.gate.set()
        tool = AgentTool(id="x.bench.through", name="pass_on", confirm=ConfirmSpec(hint="Go through?"))
        spec = AgentSpec(id="x.agent", description="Goes.", tools=(tool,))
        planner = ScriptedPlanner([calling("pass_on"), first_answer])
        registration = AgentRegistration(spec=spec, planner=planner, toolsets=(bench.toolset,))
        async with running(registration, **keeping(policy=policy)) as (runtime, engine):
            handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
            asked = await waiting(handle)
            assert asked.question == question
            result = await runtime.suspensions.answer(
                asked.token, {"approved": False, "message": "No."}, session_id="s"
            )
            assert result.status == "denied"
            assert (await handle.result()).text == '{"error":"No.","code":"denied"}'
            assert bench.did == []
            await engine.replay(handle.run_id)


async def test_a_call_of_a_child_is_answered_where_its_parent_is_watched() -> None:
    bench = Bench()
    low = ScriptedPlanner([calling(asks("low")), lambda given: answers(given)[0]])
    top = ScriptedPlanner([calling("look", asks("top")), lambda given: str(answers(given))])
    async with running(
        agent("x.low", low, bench.toolset),
        agent("x.top", top, bench.toolset, exported("x.lows", "x.low")),
        **keeping(),
    ) as (runtime, engine):
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        output = await handle.settled()
        assert [one.question for one in output.awaiting] == ["top?", "low?"]
        for number, one in enumerate(output.awaiting):
            await handle.answer(one, f"answer {number}")
        result = await handle.result()
        assert result.text == "['\"low: answer 1\"', '\"top: answer 0\"']"
        assert (result.children_count, result.tool_calls) == (1, 3)
        for run_id in (handle.run_id, f"{handle.run_id}/child:call_0_0"):
            assert await engine.replay(run_id) == (await engine.status(run_id)).output


def asking(**more: Any) -> dict[str, Any]:
    """Return options of a runtime that can ask, and that knows who calls."""
    return {"interceptors": [Users()], **more}


async def all_waiting(handle: RunHandle) -> tuple[Suspended, ...]:
    output = await asyncio.wait_for(handle.settled(), 60)
    assert output.status == "waiting"
    return output.awaiting


def reset(device: str) -> tuple[str, dict[str, Any]]:
    return "factory_reset", {"device_id": device}


async def test_two_are_approved_in_another_order_and_keep_their_places() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        first, second = sorted(await all_waiting(handle), key=lambda one: one.question)
        assert first.question == "Reset d1 to factory settings? Its settings are lost."
        assert {one.id for one in await runtime.suspensions.list("s")} == {first.id, second.id}
        approved = await runtime.suspensions.answer(second.token, {"approved": True})
        assert approved.status == "ok"
        assert await all_waiting(handle) == (first,)
        denied = await runtime.suspensions.answer(first.token, {"approved": False})
        assert denied.status == "denied"

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("d1"), "boom", reset("d2")), everything])
    toolsets = (resetting(executor), function_toolset("x.boom", [boom]))
    found = await ran(planner, drive=drive, options=asking(), toolsets=toolsets)
    first, second, third = found.output.text.split(" | ")
    assert first == '{"error":"a person did not approve the call","code":"denied"}'
    assert second.startswith('{"error":"boom failed')
    assert third == '{"name":"d2","lost":{}}'
    assert executor.asked == ["d2 for u-secret"]
    assert "u-secret" not in str(found.events)
    ends = [(event.tool_call_id, event.status) for event in found.of("tool_end")]
    assert ends[-2:] == [("call_0_2", "ok"), ("call_0_0", "denied")]
    assert ends.count(("call_0_1", "error")) == 1
    awaited = [event.suspension_id for event in found.of("approval_requested")]
    decided = [event.suspension_id for event in found.of("tool_authorization")]
    assert sorted(awaited) == sorted(decided)
    assert len(awaited) == 2


async def boom() -> str:
    """Fail."""
    raise RuntimeError("no")


class Renames(Hook):
    """Puts another device into the place of the one that the model names, another one each time."""

    def __init__(self) -> None:
        self.times = 0

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        self.times += 1
        return Continue(payload=payload.model_copy(update={"device_id": f"d{self.times}"}))


class Asks:
    """A policy that asks about everything."""

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Ask:
        return Ask(question="Sure?")


async def test_an_approval_is_taken_once_and_for_what_was_shown() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await all_waiting(handle)
        assert (asked.question, asked.preview) == ("Sure?", "Resetting d1")
        with pytest.raises(BadAnswerError, match="can have approved, message, payload, but not device_id"):
            await handle.answer(asked, {"approved": True, "device_id": "d9"})
        await handle.answer(asked, {"approved": True})
        assert (await handle.settled()).text == '{"name":"d1","lost":{}}'
        again = await runtime.suspensions.answer(asked.token, {"approved": True})  # the run is over
        assert again.json == b'{"name":"d1","lost":{}}'
        with pytest.raises(ConflictingAnswerError):
            await runtime.suspensions.answer(asked.token, {"approved": False})
        with pytest.raises(ConflictingAnswerError):
            await runtime.suspensions.cancel(asked.token)

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("the lamp")), first_answer])
    options = asking(hooks=[Renames()], policy=Asks())
    await ran(planner, drive=drive, options=options, toolsets=(resetting(executor),))
    assert executor.asked == ["d1 for u-secret"]


async def test_of_two_answers_at_once_one_is_taken() -> None:
    """Which one is the engine's choice."""
    taken: list[ToolResult] = []

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await all_waiting(handle)
        given: list[Json] = [{"approved": True}, {"approved": False}, {"approved": True}]
        for found in await asyncio.gather(
            *(runtime.suspensions.answer(asked.token, answer) for answer in given), return_exceptions=True
        ):
            if isinstance(found, BaseException):
                assert isinstance(found, ConflictingAnswerError)
            else:
                taken.append(found)

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("d1")), first_answer])
    await ran(planner, drive=drive, options=asking(), toolsets=(resetting(executor),))
    statuses = [one.status for one in taken]
    assert (statuses, executor.asked) in ((["ok", "ok"], ["d1 for u-secret"]), (["denied"], []))
    assert len({one.json for one in taken}) == 1


async def test_whoever_delivers_with_a_snapshot_answers_the_run_too() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await all_waiting(handle)
        result = await (await runtime.tools.snapshot()).suspensions.answer(asked.token, {"approved": True})
        assert result.status == "ok"

    executor = Resetting()
    planner = ScriptedPlanner([calling(reset("d1")), first_answer])
    found = await ran(planner, drive=drive, options=asking(), toolsets=(resetting(executor),))
    assert (found.output.text, executor.asked) == ('{"name":"d1","lost":{}}', ["d1 for u-secret"])


class Changing:
    """A toolset of one tool, which may be another one for the next request."""

    name = "x.changing"

    def __init__(self) -> None:
        self.did: list[str] = []
        self.is_destructive = False

    async def tools(self, context: Any) -> Any:
        annotations: dict[Any, bool] = {"destructive": self.is_destructive}

        async def wipe(text: str) -> str:
            """Wipe."""
            self.did.append(text)
            return "wiped"

        return [func_tool(wipe, toolset=self.name, confirm=ConfirmSpec(), annotations=annotations)]


@pytest.mark.parametrize("is_changed", [False, True])
async def test_a_tool_that_its_toolset_lists_otherwise_is_asked_about_again(is_changed: bool) -> None:
    """In the process that planned the call too."""
    changing = Changing()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await all_waiting(handle)
        changing.is_destructive = is_changed
        result = await runtime.suspensions.answer(asked.token, {"approved": True})
        if not is_changed:
            return
        assert (result.status, changing.did) == ("suspended", [])
        (again,) = await all_waiting(handle)
        assert again.reason == "the tool has changed since the question was asked"
        assert (await runtime.suspensions.answer(again.token, {"approved": True})).status == "ok"

    planner = ScriptedPlanner([calling(("wipe", {"text": "all"})), first_answer])
    found = await ran(planner, drive=drive, options=asking(), dynamic=(changing,))
    assert (found.output.text, changing.did) == ('"wiped"', ["all"])
