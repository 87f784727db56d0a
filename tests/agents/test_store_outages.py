"""Stores that are away for a while: the run waits for them as for a planner, and stores each record once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.agents.test_artifacts import PAINTER, painting
from tests.agents.test_long_work import long_running
from tests.agents.tools import agent, calling, first_answer, keeping, running, texts
from toolgen.agents import (
    HandOver,
    History,
    Message,
    PlanInput,
    PlannerRetry,
    RunOutput,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.agents.activities.batches import Batches
from toolgen.agents.planner.messages import ToolAnswer
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sessions import RunMessages, Summary, Turn
from toolgen.contract.json_value import Json
from toolgen.runtime import CallMeta, Runtime, StaticToolset, ToolContext, Values
from toolgen.runtime.call.dispatch import dispatch
from toolgen.runtime.call.frame import Frame
from toolgen.runtime.capabilities import (
    ArtifactsCapability,
    Change,
    MemoryArtifactStore,
    MemoryStateStore,
    StateCapability,
)
from toolgen.runtime.capabilities.state import Scope
from toolgen.runtime.events.records import Event, PlanRetry
from toolgen.runtime.stores import StoreConnectionError, StoreError, StoreFullError, StoreLockedError
from toolgen.runtime.stores.outages import StoreRetry
from toolgen.runtime.toolsets.functions import func_tool

from .tools import engine_of

SERVER = "postgresql://bob@db.internal:5432/agents"
AWAY = StoreConnectionError("cannot be reached: connection refused", server=SERVER, hint="start it")
UNKNOWN = StoreConnectionError("closed the connection", server=SERVER, hint="read it", is_unknown=True)
LOCKED = StoreLockedError("was locked for 10 s", server=SERVER, hint="look for long transactions")
FULL = StoreFullError("has no room", server=SERVER, hint="free space")
EVER = 10**6
LONGEST = PlannerRetry(random=lambda: 1.0)
"""Every pause is as long as it may be."""


class Outage:
    """Fails the first steps of some kinds."""

    def __init__(self, error: StoreError = AWAY, **left: int) -> None:
        """Construct an outage of so many steps, by the name of the method."""
        self.error = error
        self.left = Counter(left)

    def step(self, name: str) -> None:
        """Raise where the step fails."""
        if self.left[name] > 0:
            self.left[name] -= 1
            raise self.error


class Sessions(MemorySessionStore):
    """Sessions in memory, with an outage."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self.outage = outage

    async def transcript(self, session_id: str, **given: Any) -> tuple[RunMessages, ...]:
        self.outage.step("transcript")
        return await super().transcript(session_id, **given)

    async def turns(self, session_id: str) -> tuple[Turn, ...]:
        self.outage.step("turns")
        return await super().turns(session_id)

    async def summarize(self, session_id: str, summary: Summary) -> None:
        self.outage.step("summarize")
        await super().summarize(session_id, summary)

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Any:
        self.outage.step("create")
        return await super().create(session_id, agent, labels)

    async def hand_over(self, session_id: str, agent: str) -> None:
        self.outage.step("hand_over")
        await super().hand_over(session_id, agent)

    async def write(self, run_id: str, step: int, messages: Sequence[Message], **given: Any) -> None:
        """Fail before the messages are stored; where that is not known, after it."""
        if self.outage.error is UNKNOWN:
            await super().write(run_id, step, messages, **given)
        self.outage.step("write")
        await super().write(run_id, step, messages, **given)


class States(MemoryStateStore):
    """State in memory, with an outage."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self.outage = outage

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        self.outage.step("load")
        return await super().load(scope, owner)

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        if self.outage.error is UNKNOWN and self.outage.left["apply"]:
            await super().apply(scope, owner, changes)
        self.outage.step("apply")
        await super().apply(scope, owner, changes)


class Artifacts(MemoryArtifactStore):
    """Artifacts in memory, with an outage."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self.outage = outage

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        if self.outage.error is UNKNOWN and self.outage.left["save"]:
            await super().save(owner, name, data, media_type, metadata, most)
        self.outage.step("save")
        return await super().save(owner, name, data, media_type, metadata, most)


class Turned:
    """A turn of one agent, and what it left."""

    def __init__(self, output: RunOutput, events: Sequence[Event], messages: Sequence[Message]) -> None:
        self.output = output
        self.messages = messages
        self.retries = [event for event in events if isinstance(event, PlanRetry)]
        self.text = f"{output} {events} {messages}"
        """All that clients and models get of it."""


async def turn(
    planner: ScriptedPlanner,
    sessions: MemorySessionStore,
    *toolsets: StaticToolset,
    retry: PlannerRetry = LONGEST,
    policy: RunPolicy | None = None,
    **options: Any,
) -> Turned:
    """Run a turn, and replay it."""
    registration = agent("x.agent", planner, *toolsets, policy=policy)
    given = {"sessions": sessions, "planner_retry": retry, **options}
    async with running(registration, **given) as (runtime, engine):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        events = await agents_of(runtime).events(output.run_id)
        status = await engine.status(output.run_id)
        if status.state == "completed":
            assert await engine.replay(output.run_id) == status.output
    found = Turned(output, events, await sessions.run_messages(output.run_id))
    assert "db.internal" not in found.text
    assert "Traceback" not in found.text
    return found


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (AWAY, "a store of the runtime cannot be reached"),
        (UNKNOWN, "a store of the runtime cannot be reached"),
        (LOCKED, "a store of the runtime is locked by others"),
    ],
)
async def test_a_planning_waits_for_what_it_reads_as_for_a_planner(error: StoreError, reason: str) -> None:
    planner = ScriptedPlanner(["done"])
    found = await turn(planner, Sessions(Outage(error, transcript=7)))
    assert (found.output.text, len(planner.inputs)) == ("done", 1)
    assert [(one.attempt, one.delay_s, one.reason) for one in found.retries] == [
        (number, delay, reason) for number, delay in enumerate([1, 2, 4, 8, 16, 32, 60], 1)
    ]


@pytest.mark.parametrize("error", [AWAY, UNKNOWN, LOCKED])
async def test_a_planning_that_is_not_stored_is_made_again_and_stored_once(error: StoreError) -> None:
    planner = ScriptedPlanner([calling(("add", {"a": 1, "b": 1})), texts])
    found = await turn(planner, Sessions(Outage(error, write=1)))
    assert (found.output.text, len(planner.inputs)) == ("[Go.] [] [results]", 3)
    assert [type(message).__name__ for message in found.messages] == [
        "UserMessage",
        "AssistantMessage",
        "ToolMessage",
        "AssistantMessage",
    ]


async def test_no_planner_is_asked_while_the_store_is_away() -> None:
    sessions = Sessions(Outage())

    def answer(given: Any) -> str:
        if len(planner.inputs) == 1:
            sessions.outage.left.update(write=1, transcript=6)
        return "done"

    planner = ScriptedPlanner([answer, answer])
    found = await turn(planner, sessions)
    assert (found.output.text, len(found.retries), len(planner.inputs)) == ("done", 7, 2)


@pytest.mark.parametrize("step", [0, 1])
async def test_no_planner_is_asked_again_while_the_store_can_be_read_alone(step: int) -> None:
    """As where others hold a lock against writers."""
    sessions = Sessions(Outage(LOCKED))

    def plan(given: Any) -> Any:
        if [one.step for one in planner.inputs].count(step) == 1 and given.step == step:
            sessions.outage.left.update(write=7)
        return texts(given) if given.step else calling(("add", {"a": 1, "b": 1}))

    planner = ScriptedPlanner([plan] * 3)
    found = await turn(planner, sessions)
    assert (found.output.text, len(found.retries)) == ("[Go.] [] [results]", 7)
    assert [one.step for one in planner.inputs] == sorted([0, 1, step])
    assert len(found.messages) == 4


class Short(ScriptedPlanner):
    """Summarizes, and counts how often."""

    summaries = 0

    async def summarize(self, messages: tuple[Message, ...], given: PlanInput, history: History) -> str:
        self.summaries += 1
        return "short"


async def test_no_summary_is_made_again_in_a_turn_for_a_store_that_is_away() -> None:
    sessions, planner = Sessions(Outage(LOCKED)), Short(["done"])
    policy = RunPolicy(history=History(keep_turns=1, summarize_after=1))
    for _ in range(2):
        await turn(planner, sessions, policy=policy)
    sessions.outage.left.update(summarize=7)
    found = await turn(planner, sessions, policy=policy)
    assert (found.output.text, planner.summaries) == ("done", 1)


@pytest.mark.parametrize(
    ("error", "attempts", "message"),
    [
        (AWAY, 10, "a store of the runtime cannot be reached (10 attempts in 243 s)"),
        (FULL, 3, "it raised StoreFullError, and the log has the details (3 attempts in 3 s)"),
    ],
)
async def test_a_run_fails_by_its_store_when_the_time_is_over(
    error: StoreError, attempts: int, message: str
) -> None:
    found = await turn(ScriptedPlanner([]), Sessions(Outage(error, transcript=EVER)))
    assert (found.output.status, found.output.error) == ("failed", message)
    assert len(found.retries) == attempts - 1


class AtTheEnd(Sessions):
    """Sessions whose outage is for `record` alone, which writes between the positions of plannings."""

    async def write(self, run_id: str, step: int, messages: Sequence[Message], **given: Any) -> None:
        is_record = step > 0 and step % 2 == 0
        write = super().write if is_record else partial(MemorySessionStore.write, self)
        await write(run_id, step, messages, **given)


@pytest.mark.parametrize("error", [AWAY, UNKNOWN, LOCKED])
async def test_the_record_of_a_turn_waits(error: StoreError) -> None:
    planner = ScriptedPlanner([calling(("finish", {"text": "12"}))])
    found = await turn(planner, AtTheEnd(Outage(error, write=8)))
    assert (found.output.stop, found.output.text) == ("terminal_tool", "It is 12.")
    assert [type(message).__name__ for message in found.messages] == [
        "UserMessage",
        "AssistantMessage",
        "ToolMessage",
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (AWAY, "a store of the runtime cannot be reached"),
        (FULL, "a store of the runtime cannot be used, and the log has the details"),
    ],
)
async def test_a_record_that_is_never_stored_fails_the_run(error: StoreError, message: str) -> None:
    planner = ScriptedPlanner([calling(("finish", {"text": "12"}))])
    found = await turn(planner, AtTheEnd(Outage(error, write=EVER)))
    assert found.output.status == "failed"
    assert found.output.error == f"record:1: StoreUnavailableError: {message}"


async def test_a_conversation_is_given_back_when_the_store_is_there_again() -> None:
    sessions = Sessions(Outage())
    low = ScriptedPlanner(["Mine now."], [calling("back")])
    top = ScriptedPlanner([HandOver(agent="x.b")], ["Back with me."])
    agents = agent("x.a", top, transfers=("x.b",)), agent("x.b", low)
    async with running(*agents, sessions=sessions, planner_retry=LONGEST) as (runtime, _):
        client = agents_of(runtime).client("x.a")
        await client.run("Go.", session_id="s")
        sessions.outage.left.update(turns=5, hand_over=3)
        output = await client.run("Go on.", session_id="s")
        assert (output.status, (await sessions.get("s")).agent) == ("completed", "x.a")


async def test_the_result_of_work_elsewhere_opens_its_turn_when_the_store_is_there_again() -> None:
    sessions = Sessions(Outage())
    planner = ScriptedPlanner([calling("update"), first_answer], [texts])
    registration = agent("x.agent", planner, long_running(ack=True))
    given = keeping(sessions=sessions, planner_retry=LONGEST)
    async with running(registration, **given) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        sessions.outage.left.update(create=8)
        await runtime.deliver(output.pending[0].token, "2.4.0")
        await engine_of(runtime).result(output.pending[0].run_id)
        after = agents_of(runtime).client("x.agent").handle(f"{output.run_id}/done:call_0_0", session_id="s")
        assert (await after.result()).text.endswith('[The work of update (call_0_0) is done: "2.4.0"]')


# Calls.


class Tools:
    """Tools that use the state, and how often they were executed."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    @property
    def toolset(self) -> StaticToolset:
        bound = tuple(func_tool(one, toolset="x.state") for one in (self.count, self.look))
        return StaticToolset(name="x.state", bound=bound)

    async def count(self, ctx: ToolContext) -> str:
        """Count a visit."""
        self.calls["count"] += 1
        state: Any = ctx.state
        state.add("visits", 1)
        return "counted"

    async def look(self, ctx: ToolContext) -> str:
        """Look how many visits there were."""
        self.calls["look"] += 1
        state: Any = ctx.state
        return str(await state.get("visits"))


@pytest.mark.parametrize("error", [AWAY, LOCKED, UNKNOWN])
async def test_a_change_of_state_is_stored_once(error: StoreError) -> None:
    tools, states = Tools(), States(Outage(error, apply=6))
    planner = ScriptedPlanner([calling("count"), first_answer])
    found = await turn(planner, MemorySessionStore(), tools.toolset, capabilities=[StateCapability(states)])
    assert (found.output.text, tools.calls["count"]) == ('"counted"', 1)
    assert await states.load("session", "s") == {"visits": 1}


async def test_a_tool_whose_own_read_fails_has_failed_and_is_not_executed_again() -> None:
    tools, states = Tools(), States(Outage(load=1))
    planner = ScriptedPlanner([calling("look"), first_answer])
    found = await turn(planner, MemorySessionStore(), tools.toolset, capabilities=[StateCapability(states)])
    assert json.loads(found.output.text)["error"].startswith("look failed with an internal error")
    assert tools.calls["look"] == 1


@pytest.mark.parametrize("error", [AWAY, LOCKED, UNKNOWN])
async def test_an_artifact_of_a_result_is_stored_once(error: StoreError) -> None:
    store = Artifacts(Outage(error, save=6))
    planner = ScriptedPlanner([calling(painting("x", 20_000)), first_answer])
    found = await turn(planner, MemorySessionStore(), PAINTER, capabilities=[ArtifactsCapability(store)])
    (artifact,) = found.output.artifacts
    assert (artifact.not_kept, artifact.uri.endswith("?version=1")) == ("", True)


async def test_a_result_that_is_too_large_is_stored_when_the_store_is_there_again() -> None:
    async def write_much() -> str:
        """Write much."""
        return "x" * 2_000

    tool = func_tool(write_much)
    tool = replace(tool, spec=replace(tool.spec, max_result_bytes=500))
    toolset = StaticToolset(name="local.functions", bound=(tool,))
    store = Artifacts(Outage(save=6))
    planner = ScriptedPlanner([calling("write_much"), first_answer])
    await turn(planner, MemorySessionStore(), toolset, capabilities=[ArtifactsCapability(store)])
    assert [one.name for one in await store.listed("session/s")] == ["write_much call_0_0.json"]


async def test_the_result_of_a_call_comes_within_the_time_of_its_run() -> None:
    tools, states = Tools(), States(Outage(apply=EVER))
    planner = ScriptedPlanner([calling("count"), first_answer])
    found = await turn(
        planner,
        MemorySessionStore(),
        tools.toolset,
        policy=RunPolicy(time_budget=32.0),
        capabilities=[StateCapability(states)],
    )
    assert (found.output.text, found.output.stop) == ('"counted"', "final")


class Suspending(MemoryStateStore):
    """State in memory, which suspends before it is stored, as every server does."""

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        await asyncio.sleep(0)
        await super().apply(scope, owner, changes)


async def test_a_change_is_stored_in_the_time_of_its_own_call() -> None:
    """Another call of its batch began earlier, and its time is over."""
    states, batches = Suspending(), Batches()
    runtime = Runtime(capabilities=[StateCapability(states)])
    runtime.register(Tools().toolset)
    tool = (await runtime.snapshot()).directory.find("count")
    assert tool is not None
    services = runtime._services
    late = replace(services, store_retry=StoreRetry(ends_at=asyncio.get_running_loop().time() - 1))
    with batches.enter("r 0", 1, late, Values()) as batch, batches.enter("r 0", 0, services, Values()):
        frame = Frame(tool, b"{}", CallMeta(session_id="s"), batch.batch, services)
        result = await dispatch(frame)
        batch.leave(1)
        assert (await batch.result(frame.context, result)).status == "ok"
    assert await states.load("session", "s") == {"visits": 1}


class Silent(MemorySessionStore):
    """Sessions whose server never says that it has the result of a call."""

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        await asyncio.Event().wait()


async def test_a_session_that_never_takes_a_result_keeps_it_from_no_run() -> None:
    tools = Tools()
    found = await turn(
        ScriptedPlanner([calling("count"), first_answer]),
        Silent(),
        tools.toolset,
        policy=RunPolicy(time_budget=32.0),
        capabilities=[StateCapability(MemoryStateStore())],
    )
    assert (found.output.text, tools.calls["count"]) == ('"counted"', 1)
