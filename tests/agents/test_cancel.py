"""A run that is canceled: its tools hear of it, and each of its calls has its one end in the log."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.agents.tools import (
    Bench,
    Resetting,
    Users,
    agent,
    calling,
    check_log,
    everything,
    exported,
    is_paired,
    keeping,
    ran,
    resetting,
    running,
    texts,
    until,
    waiting,
)
from tests.runtime.raising import leaving_nothing
from tests.virtual_time import now
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    Await,
    FinalResponse,
    PlanInput,
    PlanResult,
    RunHandle,
    RunOutput,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.events.records import Event, RunCompleted, ToolEnd
from toolgen.runtime import (
    Continue,
    Runtime,
    ToolContext,
    ToolOutcome,
    Unfinished,
    Verdict,
)
from toolgen.waiting.errors import LateAnswerError
from toolgen.waiting.options import WaitOptions

CANCELED: list[str] = []


async def hang() -> str:
    """Hang."""
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        CANCELED.append("hang")
        raise
    return ""


async def ask(ctx: ToolContext) -> str | Unfinished:
    """Ask."""
    return str(ctx.answer) if ctx.answer else ToolOutcome.ask("Who?")


async def quick() -> str:
    """Be quick."""
    return "done"


TOOLSET = function_toolset("x.tools", [hang, ask, quick])

SPEC = AgentSpec(
    id="x.agent",
    description="Calls.",
    tools=tuple(AgentTool(id=tool.spec.id, name=tool.spec.name) for tool in TOOLSET.bound),
)


def seen(given: PlanInput) -> str:
    return " ".join(message.type for message in given.messages)


async def canceled(
    planner: ScriptedPlanner, *statuses: str
) -> tuple[RunOutput, tuple[Event, ...], RunOutput]:
    """Return the output and the events of a run that is canceled, and the output of the next turn.

    It is canceled when calls of it have ended with these statuses, in any order.
    """
    async with Runtime(engine=InProcessEngine()) as runtime:
        agents_of(runtime).register(AgentRegistration(spec=SPEC, planner=planner, toolsets=(TOOLSET,)))
        handle = await agents_of(runtime).client(SPEC.id).start("Go.", session_id="s")
        missing = [*statuses]
        async for event in handle.events():
            if isinstance(event, ToolEnd):
                missing.remove(event.status)
            if not missing:
                break
        await handle.cancel("enough")
        output = await handle.result()
        events = await runtime.runs.events(handle.run_id)
        return output, events, await agents_of(runtime).client(SPEC.id).run("Again.", session_id="s")


async def test_every_call_has_one_end() -> None:
    CANCELED.clear()
    output, events, after = await canceled(
        ScriptedPlanner([calling("hang", "quick", "ask")], [seen]), "ok", "suspended"
    )
    assert (output.status, output.error) == ("canceled", "enough")
    assert CANCELED == ["hang"]
    ends = [event for event in events if isinstance(event, ToolEnd) and event.status != "suspended"]
    assert sorted((event.tool_call_id, event.status) for event in ends) == [
        ("call_0_0", "unknown"),
        ("call_0_1", "ok"),
        ("call_0_2", "denied"),
    ]
    completed, last = events[-2:]
    assert isinstance(completed, RunCompleted)
    assert (completed.status, completed.error, last.type) == ("canceled", "enough", "run_stream_end")
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.session_id for event in events} == {"s"}
    assert after.text == "user assistant tools user"  # the next turn has a result for every call


async def test_a_tool_cleans_up_before_a_runtime_is_closed_in_which_its_run_was_canceled() -> None:
    """Closing cancels once more what is being canceled; the tool has its time to end all the same."""
    begun, ending, ended = asyncio.Event(), asyncio.Event(), []

    async def hold() -> str:
        """Hold something that has to be given back."""
        begun.set()
        try:
            await asyncio.sleep(30)
        finally:
            ending.set()
            for _ in range(20):
                await asyncio.sleep(0)
            ended.append("given back")
        return ""

    toolset = function_toolset("x.tools", [hold])
    spec = AgentSpec(id="x.agent", description="Holds.", tools=(AgentTool(id="x.tools.hold", name="hold"),))
    planner = ScriptedPlanner([calling("hold")])
    async with leaving_nothing(), Runtime() as runtime:
        agents_of(runtime).register(AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,)))
        handle = await agents_of(runtime).client(spec.id).start("Go.", session_id="s")
        await begun.wait()
        await handle.cancel("enough")
        await ending.wait()
    assert ended == ["given back"]


def asks(name: str) -> tuple[str, dict[str, Any]]:
    return "ask", {"name": name}


async def slow(given: PlanInput) -> PlanResult:
    PLANNING.append("begins")
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        PLANNING.append("cancelled")
        raise
    return FinalResponse(text="never")


PLANNING: list[str] = []


@pytest.mark.exhaustive
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
    options = keeping(waiting=WaitOptions(is_interactive=where != "planning"))
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
            events = await runtime.runs.events(run_id)
            check_log(output, events)
            (completed,) = [event for event in events if event.type == "run_completed"]
            assert completed.status == "canceled"
        assert (output.status, output.error, output.awaiting) == ("canceled", "enough", ())
        again = await agents_of(runtime).client("x.agent").run("Again.", session_id="s")
    assert again.text.startswith("True [Go.]")
    assert again.text.endswith("[Again.]")
    if where in ("planning", "child"):
        assert PLANNING == ["begins", "cancelled"]


ADD = ("add", {"a": 1, "b": 2})


async def hangs(about: Any) -> Verdict:
    await asyncio.sleep(30)
    return Continue()


class Ears:
    """Notes who hears that a run is canceled."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.is_there = asyncio.Event()

    async def listen(self) -> str:
        """Listen."""
        return await self.until("tool")

    async def until(self, who: str) -> str:
        self.is_there.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.heard.append(who)
            raise
        return ""


@pytest.mark.parametrize("where", ["planning", "tool", "closing", "waiting"])
async def test_whoever_works_for_a_canceled_run_hears_of_it(where: str) -> None:
    ears = Ears()

    async def hangs(given: PlanInput) -> FinalResponse:
        return FinalResponse(text=await ears.until("planner"))

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        if where == "waiting":
            await handle.settled()
        else:
            await asyncio.wait_for(ears.is_there.wait(), 60)
        await asyncio.gather(handle.cancel("enough"), handle.cancel("again"))
        await handle.cancel("late")
        assert (await handle.result()).error == "enough"
        after = await agents_of(runtime).client("x.agent").run("Again.", session_id="s")
        (seen,) = [given for given in planner.inputs if given.run_id == after.run_id]
        for message, following in zip(seen.messages, seen.messages[1:], strict=False):
            ids = [call.id for call in getattr(message, "calls", ())]
            assert ids == [answer.id for answer in getattr(following, "answers", ())]

    steps: dict[str, list[Any]] = {
        "planning": [calling(ADD), hangs],
        "tool": [calling("listen", ADD)],
        "closing": [calling(ADD, ADD), hangs],
        "waiting": [Await(kind="clarification", question="Which?")],
    }
    planner = ScriptedPlanner(steps.get(where, []), ["fresh"])
    toolsets = (function_toolset("x.ears", [ears.listen]), function_toolset("x.adds", [add]))
    policy = RunPolicy(max_tool_calls=1 if where == "closing" else None)
    found = await ran(planner, policy, drive=drive, toolsets=toolsets)
    assert (found.output.status, found.output.error) == ("canceled", "enough")
    assert ears.heard == {"tool": ["tool"], "waiting": []}.get(where, ["planner"])
    assert [event.type for event in found.events].count("run_completed") == 1
    assert [event.type for event in found.events].count("run_stream_end") == 1


async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_what_a_canceled_run_waited_for_is_approved_by_nobody() -> None:
    executor = Resetting()
    toolset = resetting(executor)
    planner = ScriptedPlanner([calling(("factory_reset", {"device_id": "d1"}))])
    async with running(agent("x.agent", planner, toolset), interceptors=[Users()]) as (runtime, _engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        (asked,) = (await handle.settled()).awaiting
        await handle.cancel("enough")
        assert await runtime.suspensions.list() == ()
        with pytest.raises(LateAnswerError, match="the run of this call was canceled: enough"):
            await runtime.suspensions.answer(asked.token, {"approved": True})
        check_log(await handle.output(), await runtime.runs.events(handle.run_id))
    assert executor.asked == []


async def test_a_call_that_was_not_made_says_so_after_its_batch_was_cut() -> None:
    """One that nobody approved in time, and one too many; beside a call that never ended."""
    executor, bench = Resetting(), Bench()
    secret = function_toolset("x.secret", [func_tool(hang, toolset="x.secret", tags=("secret",))])
    calls = calling(("factory_reset", {"device_id": "d1"}), "through", "hang")
    planner = ScriptedPlanner([calls], [everything])
    waits = WaitOptions(clock=now, expires_s=60)
    registration = agent("x.agent", planner, resetting(executor), bench.toolset, secret)
    async with running(registration, interceptors=[Users()], waiting=waits) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s", denied_tags=["secret"])
        await asyncio.sleep(61)
        await handle.cancel("enough")
        after = await client.run("What now?", session_id="s")
    expired, unknown, refused = after.text.split(" | ")
    assert json.loads(expired) == {"error": "factory_reset was not run: nobody answered in time"}
    assert json.loads(unknown) == {"unknown": "its result was not kept; it may have run"}
    assert json.loads(refused) == {"error": "not run: this run may not use hang"}
    assert (executor.asked, bench.did) == ([], ["at the gate"])
