"""What happens to a run that stands still: answers that come twice, late or never, and its end meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.runtime.agent_tools import Bench, exported, is_paired, parked, until
from tests.runtime.run_tools import agent, answers, calling, check_log, first_answer, ran, running, texts
from tests.virtual_time import in_virtual_time
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    Await,
    Awaiting,
    FinalResponse,
    PlanInput,
    PlanResult,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
)
from toolgen.runtime import (
    Ask,
    CallMeta,
    ConfirmSpec,
    Continue,
    Hook,
    Key,
    Policy,
    Runtime,
    StaticToolset,
    ToolCall,
    ToolContext,
    ToolOutcome,
    Unfinished,
    Verdict,
)
from toolgen.runtime.capabilities import CallScope, Conflict
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.approvals import Suspensions
from toolgen.runtime.waiting.errors import BadAnswerError, ConflictingAnswerError, LateAnswerError
from toolgen.runtime.waiting.suspension import MemorySuspensionStore

ADD = ("add", {"a": 1, "b": 1})


def keeping(**more: Any) -> dict[str, Any]:
    return {"suspensions": MemorySuspensionStore(), **more}


async def waiting(handle: RunHandle) -> Awaiting:
    output = await asyncio.wait_for(handle.settled(), 5)
    assert output.status == "waiting"
    (awaiting,) = output.awaiting
    return awaiting


def asks(name: str) -> tuple[str, dict[str, Any]]:
    return "ask", {"name": name}


# Confirmations.


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

    planner = ScriptedPlanner([calling(("work", {"name": "ann"}), ADD), lambda given: str(answers(given))])
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
        registration = AgentRegistration(spec=spec, planner=planner, toolsets=(bench.toolset,), format=1)
        async with running(registration, **keeping(policy=policy)) as (runtime, engine):
            handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
            asked = await waiting(handle)
            assert asked.question == question
            result = await runtime.deliver(asked.token, {"approved": False, "message": "No."}, session_id="s")
            assert result.status == "denied"
            assert (await handle.result()).text == '{"error":"No.","code":"denied"}'
            assert bench.did == []
            await engine.replay(handle.run_id)


async def test_two_who_answer_at_once_hear_whose_answer_was_taken() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        one, other = await asyncio.gather(
            runtime.deliver(asked.token, "Bo"), runtime.deliver(asked.token, "Bo"), return_exceptions=True
        )
        assert not isinstance(one, BaseException)
        assert not isinstance(other, BaseException)
        assert one.json == other.json == b'"a: Bo"'

    bench = Bench()
    planner = ScriptedPlanner([calling(asks("a")), first_answer])
    await ran(planner, toolsets=(bench.toolset,), drive=drive, options=keeping())
    assert bench.did == ["a heard Bo"]


async def test_nobody_answers_in_time() -> None:
    bench = Bench()
    planner = ScriptedPlanner([calling(asks("a")), first_answer])
    async with running(agent("x.agent", planner, bench.toolset), **keeping()) as (runtime, engine):
        runtime._host.suspensions = Suspensions(MemorySuspensionStore(), lifetime_s=0.15)
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        output = await asyncio.wait_for(handle.result(), 5)
        with pytest.raises(LateAnswerError):
            await runtime.deliver(asked.token, "Bo")
        events = await agents_of(runtime).events(handle.run_id)
        check_log(output, events)
        await engine.replay(handle.run_id)
    assert (output.status, output.text) == ("completed", '{"error":"nobody answered in time"}')
    assert [event.status for event in events if event.type == "tool_end"] == ["suspended", "denied"]


BROKEN: Key[object] = Key("broken")


class Broken:
    """A capability that cannot keep anything."""

    name = "broken"

    def open(self, call: CallScope) -> object:
        return object()

    async def close(self, opened: Any) -> tuple[Conflict, ...]:
        raise OSError("the disk is full")


async def test_whoever_answered_hears_of_the_result_whatever_the_host_cannot_keep() -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask."""
        ctx.capability(BROKEN)
        return "heard" if ctx.answer else ToolOutcome.ask("Who?")

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        asked = await waiting(handle)
        assert (await asyncio.wait_for(runtime.deliver(asked.token, "Bo"), 2)).json == b'"heard"'

    planner = ScriptedPlanner([calling("ask"), first_answer])
    options = keeping(capabilities=[Broken()])
    found = await ran(planner, toolsets=(function_toolset("x.t", [ask]),), drive=drive, options=options)
    assert found.output.text == '"heard"'


@in_virtual_time
async def test_whoever_answered_hears_when_the_time_of_the_run_ends_the_call() -> None:
    """The run goes on meanwhile, and waits for another person."""
    bench = Bench()

    async def slowly(ctx: ToolContext) -> str | Unfinished:
        """Ask, then take long."""
        if ctx.answer is None:
            return ToolOutcome.ask("slowly?")
        await asyncio.sleep(9)
        return ""

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        output = await handle.settled()
        slow, other = sorted(output.awaiting, key=lambda asked: asked.question, reverse=True)
        result = await asyncio.wait_for(runtime.deliver(slow.token, "Bo"), 2)
        assert result.status == "error"
        assert (await handle.settled()).status == "waiting"
        await runtime.deliver(other.token, "Cy")

    planner = ScriptedPlanner(
        [calling("slowly", asks("a")), lambda given: f"{given.closing} {answers(given)}"]
    )
    found = await ran(
        planner,
        RunPolicy(time_budget=0.1),
        toolsets=(bench.toolset, function_toolset("x.slow", [slowly])),
        drive=drive,
        options=keeping(),
    )
    assert "slowly did not end within the time of the run" in found.output.text


async def test_with_nobody_to_ask_missing_fields_go_back_to_the_model() -> None:
    planner = ScriptedPlanner([calling(("add", {"a": 1})), first_answer])
    policy = RunPolicy(on_missing_fields="await_clarification")
    found = await ran(planner, policy, options={"is_interactive": False})
    assert (found.output.status, found.of("await_clarification")) == ("completed", [])


# Planners that ask.


@pytest.mark.parametrize(("own", "allowed"), [("", "add"), ("boom", "boom")])
async def test_only_the_tool_that_a_question_was_about_may_be_called_next(own: str, allowed: str) -> None:
    """A planner cannot widen what its run may call."""

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.answer(await waiting(handle), "b is 1")

    question = Await(kind="clarification", question="And b?", restrict_to_tool="add", missing_fields=("b",))
    script: list[ScriptStep] = [question, calling("boom", ADD), calling("boom", ADD), "done"]
    planner = ScriptedPlanner(script)
    found = await ran(planner, drive=drive, restrict_to_tool=own)
    assert found.output.text == "done"
    assert [tool.name for tool in planner.inputs[1].tools] == [allowed]
    assert planner.inputs[1].restrict_to_tool == allowed
    refused = [text for text in answers(planner.inputs[2]) if "not run" in text]
    assert refused == ['{"error":"not run: only %s may be called now"}' % allowed]  # noqa: UP031
    assert [tool.name for tool in planner.inputs[2].tools][:1] == [own or "add"]
    assert planner.inputs[2].restrict_to_tool == own


# The end of a run that stands still, or does not.


async def slow(given: PlanInput) -> PlanResult:
    PLANNING.append("begins")
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        PLANNING.append("cancelled")
        raise
    return FinalResponse(text="never")


PLANNING: list[str] = []


@pytest.mark.parametrize("where", ["planning", "tool", "call", "question", "pause", "child", "child call"])
async def test_a_run_is_canceled_wherever_it_is(where: str) -> None:
    """Its log ends once, and the next turn has a result for every call."""
    bench = Bench()
    PLANNING.clear()
    first: dict[str, list[ScriptStep]] = {
        "planning": [calling(asks("x")), slow],
        "tool": [calling("through", ("work", {"name": "w"}))],
        "call": [calling(asks("a"), ("work", {"name": "w"}))],
        "question": [Await(kind="clarification", question="Which?")],
        "pause": [calling("through"), "never"],
        "child": [calling("look", ("work", {"name": "w"}))],
        "child call": [calling("look", ("work", {"name": "w"}))],
    }
    low = ScriptedPlanner([calling(asks("low"))] if where == "child call" else [slow])
    planner = ScriptedPlanner(first[where], [lambda given: f"{is_paired(given)} {texts(given)}"])
    policy = RunPolicy(interrupts_allowed=True)
    options = keeping() if where != "planning" else {}
    async with running(
        agent("x.low", low, bench.toolset),
        agent("x.agent", planner, bench.toolset, exported("x.lows", "x.low"), policy=policy),
        **options,
    ) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        match where:
            case "planning" | "child":
                await until(lambda: PLANNING)
            case "tool":
                await until(lambda: "at the gate" in bench.did)
            case "pause":
                await until(lambda: bench.did)
                await handle.pause()
                bench.gate.set()
                await waiting(handle)
            case _:
                await waiting(handle)
        await asyncio.gather(*(handle.cancel("enough") for _ in range(3)))
        output = await handle.result()
        for run_id in (handle.run_id, *(await engine.status(handle.run_id)).children):
            events = await agents_of(runtime).events(run_id)
            check_log(output, events)
            (completed,) = [event for event in events if event.type == "run_completed"]
            assert completed.status == "canceled"
        assert (output.status, output.error, output.awaiting) == ("canceled", "enough", ())
        again = await agents_of(runtime).client("x.agent").run("Again.", session_id="s")
    assert again.text.startswith("True [Go.]")
    assert again.text.endswith("[Again.]")
    if where in ("planning", "child"):
        assert PLANNING == ["begins", "cancelled"]


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
        assert (result.children_count, result.tool_calls) == (1, 2)
        for run_id in (handle.run_id, f"{handle.run_id}/child:call_0_0"):
            assert await engine.replay(run_id) == (await engine.status(run_id)).output


async def test_the_tool_that_waits_is_the_tool_that_was_called() -> None:
    """A call that was made directly, outside of runs, is answered as ever."""
    bench = Bench()
    async with running(agent("x.agent", ScriptedPlanner(["done"]), bench.toolset), **keeping()) as (
        runtime,
        _,
    ):
        await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        result = await runtime.call("x.bench.ask", {"name": "a"}, CallMeta(run_id="foreign", session_id="s"))
        assert result.suspension is not None
        assert (await runtime.deliver(result.suspension.token, "Bo")).json == b'"a: Bo"'


# People who speak into a run.


async def test_what_is_said_into_a_run_joins_its_next_planning() -> None:
    bench = Bench()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: "at the gate" in bench.did)
        await handle.interrupt("One.")
        await handle.interrupt("Two.")
        await handle.resume("Three.")
        await handle.pause()
        bench.gate.set()
        await parked(handle)
        await handle.interrupt("Four.")
        await handle.pause()
        await handle.resume()

    planner = ScriptedPlanner([calling("through"), texts])
    policy = RunPolicy(interrupts_allowed=True, time_budget=5)
    found = await ran(planner, policy, toolsets=(bench.toolset,), drive=drive)
    assert found.output.text == "[Go.] [] [results] [One.] [Two.] [Three.] [Four.]"
    assert is_paired(planner.inputs[1])
