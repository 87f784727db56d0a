"""Who asked, in which session, by which agent: what every call knows, whatever led to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.tools import (
    agent,
    calling,
    engine_of,
    exported,
    first_answer,
    running,
    until,
    waiting,
)
from tests.virtual_time import now
from toolgen.agents import (
    AgentRegistration,
    FinalResult,
    HandOver,
    PlanInput,
    ScriptedPlanner,
    UserMessage,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.specs import LongRunningSpec
from toolgen.contract.json_value import Json
from toolgen.events.records import InputRequested
from toolgen.runtime import (
    Allow,
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Pending,
    ReadonlyContext,
    Runtime,
    StaticToolset,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolSpec,
    Unfinished,
)
from toolgen.waiting.errors import NotAllowedAnswerError
from toolgen.waiting.options import WaitOptions, requester_may_not_approve

FOR_ANN = CallMeta(session_id="s", turn_id="t", labels={"tier": "gold"}, requested_by="ann")
YES: Json = {"approved": True}
FOUR_EYES = WaitOptions(clock=now, rule=requester_may_not_approve)
NOTHING = StaticToolset(name="x.nothing", bound=())


async def wipe(device: str) -> str:
    """Wipe a device."""
    return f"{device} is empty"


WIPES = function_toolset(
    "x.wipes", [func_tool(wipe, toolset="x.wipes", confirm=ConfirmSpec(hint="Wipe {device}?"))]
)


class Witness:
    """A policy, and a toolset whose one tool notes too: the facts of the calls that each sees."""

    name = "x.seen"

    def __init__(self) -> None:
        self.seen: list[tuple[str, CallMeta]] = []

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Allow:
        self.seen.append(("policy", call.meta))
        return Allow()

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        self.seen.append(("toolset", context.meta))
        return function_toolset("x.seen", [self.note]).bound

    async def note(self, ctx: ToolContext) -> str:
        """Note the facts."""
        self.seen.append(("executor", ctx.meta))
        return "noted"


async def test_the_agent_and_who_asked_are_facts_of_every_call_of_a_run_and_of_the_runs_below() -> None:
    witness = Witness()
    top = ScriptedPlanner([calling("look"), HandOver(agent="x.third", message="Go on.")])
    low = ScriptedPlanner([calling("note"), FinalResult(result="seen")])
    third = ScriptedPlanner([calling("note"), "done"])
    agents = (
        agent("x.low", low, NOTHING, dynamic=(witness,)),
        agent("x.top", top, exported("x.lows", "x.low"), transfers=("x.third",)),
        agent("x.third", third, StaticToolset(name="x.none", bound=()), dynamic=(witness,)),
    )
    async with running(*agents, policy=witness) as (runtime, engine):
        client = agents_of(runtime).client("x.top")
        handle = await client.start("Go.", session_id="s", labels={"tier": "gold"}, requested_by="ann")
        assert (await handle.result()).text == "done"
        (below, *_) = (await engine.status(handle.run_id)).children
        child = await runtime.runs.events(below)
    given = {(meta.requested_by, meta.session_id, *meta.labels.items()) for _, meta in witness.seen}
    assert given == {("ann", "s", ("tier", "gold"))}
    seen = {(who, at) for who in ("policy", "toolset", "executor") for at in ("x.low", "x.third")}
    assert {(who, meta.agent) for who, meta in witness.seen} == {("policy", "x.top"), *seen}
    assert {event.agent_id for event in child} == {"x.low"}


async def test_a_direct_call_of_an_agents_tool_hands_on_who_asked() -> None:
    """The rule of four eyes is asked for what the agent's run asks, also where no run called it."""
    low = ScriptedPlanner([calling(("wipe", {"device": "d1"})), FinalResult(result="done")])
    async with running(agent("x.low", low, WIPES), waiting=FOUR_EYES) as (runtime, _):
        runtime.tools.register(exported("x.lows", "x.low"))
        call = asyncio.ensure_future(runtime.call("look", {}, FOR_ANN))
        await until(lambda: low.inputs)
        await _parked(runtime)
        (asked,) = await runtime.suspensions.list("s")
        assert (asked.tool, asked.requested_by) == ("x.wipes.wipe", "ann")
        assert low.inputs[0].labels == {"tier": "gold"}
        with pytest.raises(NotAllowedAnswerError):
            await runtime.suspensions.answer(asked.token, YES, by="ann")
        assert (await runtime.suspensions.answer(asked.token, YES, by="bob")).status == "ok"
        await call


async def _parked(runtime: Runtime) -> None:
    """Wait until the one run of an agent waits."""
    (run,) = await agents_of(runtime).list_runs()
    await engine_of(runtime).settled(run.run_id)


async def test_an_agent_that_a_tool_of_a_run_calls_keeps_the_limits_of_the_run() -> None:
    """What the run may not do, an agent that one of its tools calls may not do either."""

    async def delegate(ctx: ToolContext) -> str:
        """Delegate."""
        return (await runtime.call("look", {}, ctx.meta)).json.decode()

    low = ScriptedPlanner([calling(("add", {"a": 1, "b": 1})), _as_result])
    top = ScriptedPlanner([calling("delegate"), first_answer])
    own = function_toolset("x.own", [func_tool(delegate, toolset="x.own", tags=("own",))])
    async with running(agent("x.low", low), agent("x.top", top, own)) as (runtime, _):
        runtime.tools.register(exported("x.lows", "x.low"))
        client = agents_of(runtime).client("x.top")
        text = (await client.run("Go.", session_id="s", allowed_tags=("own",))).text
    assert "this run may not use add" in text


def _as_result(given: PlanInput) -> FinalResult:
    return FinalResult(result=first_answer(given))


# Work that goes on elsewhere.


def having(by: str, id_: str, planner: ScriptedPlanner) -> AgentRegistration:
    """Return an agent whose tool is acknowledged first, by its design or by a dynamic toolset."""

    async def export() -> str | Pending[str]:
        """Export."""
        return ToolOutcome.pending("job-1", "begun")

    late = LongRunningSpec(ack=func_tool(wipe).spec.result)
    made = func_tool(export, toolset="x.exports", long_running=late)
    tools = function_toolset("x.exports", [made, func_tool(wipe, toolset="x.exports", tags=("no",))])
    if by == "dynamic":
        return agent(id_, planner, NOTHING, dynamic=(tools,))
    return agent(id_, planner, tools)


def newest(given: PlanInput) -> str:
    """Return the text of the newest message."""
    message = given.messages[-1]
    assert isinstance(message, UserMessage)
    return message.text


@pytest.mark.parametrize("by", ["design", "dynamic"])
async def test_acknowledged_work_is_delivered_and_tells_of_its_progress(by: str) -> None:
    planner = ScriptedPlanner([calling("export"), "begun"], [newest])
    async with running(having(by, "x.agent", planner)) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        output = await client.run("Go.", session_id="s")
        (work,) = output.pending
        await runtime.suspensions.progress(work.token, 0.5)
        assert (await runtime.suspensions.answer(work.token, "the file")).status == "ok"
        await engine.result(work.run_id)
        heard = await client.handle(f"{output.run_id}/done:call_0_0", session_id="s").result()
    assert heard.text == 'The work of export (call_0_0) is done: "the file"'


@pytest.mark.parametrize("by", ["design", "dynamic"])
async def test_the_conversation_hears_of_work_that_a_child_run_began(by: str) -> None:
    """It is told to the agent whose conversation led to it, for the same person and within the same tags."""
    low = ScriptedPlanner([calling("export"), FinalResult(result="begun")])
    top = ScriptedPlanner([calling("look"), "begun"], [newest])
    agents = having(by, "x.low", low), agent("x.top", top, exported("x.lows", "x.low"))
    async with running(*agents) as (runtime, engine):
        client = agents_of(runtime).client("x.top")
        given: dict[str, Any] = {"requested_by": "ann", "labels": {"tier": "gold"}, "denied_tags": ("no",)}
        (work,) = (await client.run("Go.", session_id="s", **given)).pending
        await runtime.suspensions.progress(work.token, 0.5)
        assert (await runtime.suspensions.answer(work.token, "the file")).status == "ok"
        await engine.result(work.run_id)
        turn = (await agents_of(runtime).sessions.transcript("s"))[-1].turn
        output = await client.handle(turn.run_id, session_id="s").result()
        given_to_it: Any = (await engine.status(turn.run_id)).input
    assert output.text == f'The work of export ({work.tool_call_id} of x.low) is done: "the file"'
    facts = given_to_it["facts"]
    assert (facts["agent"], facts["requested_by"]) == ("x.top", "ann")
    assert (facts["labels"], facts["denied_tags"]) == ({"tier": "gold"}, ["no"])
    assert len(low.inputs) == 2


async def test_an_agent_that_took_over_hears_of_the_work_of_its_child() -> None:
    low = ScriptedPlanner([calling("export"), FinalResult(result="begun")])
    first = ScriptedPlanner([HandOver(agent="x.top", message="Go on.")])
    top = ScriptedPlanner([calling("look"), "begun"], [newest])
    agents = (
        having("design", "x.low", low),
        agent("x.first", first, transfers=("x.top",)),
        agent("x.top", top, exported("x.lows", "x.low")),
    )
    async with running(*agents) as (runtime, engine):
        (work,) = (await agents_of(runtime).client("x.first").run("Go.", session_id="s")).pending
        assert (await runtime.suspensions.answer(work.token, "the file")).status == "ok"
        await engine.result(work.run_id)
        turn = (await agents_of(runtime).sessions.transcript("s"))[-1].turn
        heard = await agents_of(runtime).client("x.top").handle(turn.run_id, session_id="s").result()
    assert (heard.agent, heard.text.partition(" (")[0]) == ("x.top", "The work of export")
    assert (len(first.inputs), len(top.inputs), len(low.inputs)) == (1, 3, 2)


async def test_work_of_a_run_without_a_session_opens_no_turn() -> None:
    low = ScriptedPlanner([calling("export"), FinalResult(result="begun")])
    top = ScriptedPlanner([calling("look"), "begun"])
    agents = having("dynamic", "x.low", low), agent("x.top", top, exported("x.lows", "x.low"))
    async with running(*agents) as (runtime, engine):
        (work,) = (await agents_of(runtime).client("x.top").one_shot("Go.")).pending
        assert (await runtime.suspensions.answer(work.token, "the file")).status == "ok"
        await engine.result(work.run_id)
        assert len(await agents_of(runtime).list_runs()) == 2


# Questions.


async def test_a_wait_for_a_credential_says_which() -> None:
    request: dict[str, Json] = {"scheme": "oauth2", "authorization_url": "https://example.com"}

    async def fetch(ctx: ToolContext) -> str | Unfinished:
        """Fetch."""
        return "fetched" if ctx.answer else ToolOutcome.need_credential(request, "Sign in")

    planner = ScriptedPlanner([calling("fetch"), first_answer])
    async with running(agent("x.agent", planner, function_toolset("x.web", [fetch]))) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        assert (asked.kind, asked.request) == ("credential", request)
        events = await runtime.runs.events(handle.run_id)
        (told,) = [event for event in events if isinstance(event, InputRequested)]
        assert (told.request, told.agent_id) == (request, "x.agent")
        await handle.answer(asked, {"available": True})
        assert (await handle.result()).text == '"fetched"'
