"""Ids of calls are unique within a session: over turns, over children, and whatever a model gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.agents.tools import TOOLS, agent, calling, exported, running
from tests.selection import first
from toolgen.agents import (
    AssistantMessage,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    PlannedCall,
    Planner,
    PlanResult,
    ScriptedPlanner,
    ToolMessage,
    agents_of,
)
from toolgen.agents.activities.planned_calls import PlannedCallIds
from toolgen.contract.policy import History, RunPolicy
from toolgen.events.records import Event
from toolgen.runtime import CallMeta, Runtime

ADD = ("add", {"a": 1, "b": 2})
LOOKS = exported("x.lows", "x.low")
SUMS = PlannedCall.of("add", {"a": 1, "b": 2}, id="call_0")


class Repeating:
    """Plays batches; its model gives every call the id `call_0` and streams its arguments."""

    def __init__(self, *batches: tuple[str, ...], answer: PlanResult | None = None) -> None:
        self._batches = batches
        self._answer = answer or FinalResponse(text="done")
        self.inputs: list[PlanInput] = []

    async def plan_start(self, given: PlanInput) -> PlanResult:
        self.inputs.append(given)
        if given.step >= len(self._batches):
            return self._answer
        calls = []
        for name in self._batches[given.step]:
            arguments = SUMS.arguments if name == "add" else "{}"
            given.reports.arguments("call_0", name, arguments)
            calls.append(PlannedCall(name=name, arguments=arguments, id="call_0"))
        return CallTools(calls=tuple(calls))

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        return await self.plan_start(given)


def scripted(*batches: tuple[str, ...], answer: PlanResult | None = None) -> Planner:
    """Return a planner that gives its calls no ids at all."""
    steps = [calling(*(ADD if name == "add" else name for name in batch)) for batch in batches]
    return ScriptedPlanner([*steps, answer or FinalResponse(text="done")])


SEEN = FinalResult(result="seen")
Makes = Callable[..., Planner]
PLANNERS = pytest.mark.parametrize("makes", [Repeating, scripted], ids=["a model that repeats", "no ids"])


async def logs(runtime: Runtime, *run_ids: str) -> list[tuple[Event, ...]]:
    """Return the logs of these runs, each followed by those of the runs below it."""
    found = []
    for run_id in run_ids:
        log = await runtime.runs.events(run_id)
        below = [event.child_run_id for event in log if event.type == "agent_run_started"]
        found += [log, *await logs(runtime, *below)]
    return found


def check(found: list[tuple[Event, ...]]) -> list[str]:
    """Return the ids of all calls, when each stands once, and no call has the id of the one above it."""
    events = [event for log in found for event in log]
    starts = [event for event in events if event.type == "tool_start"]
    ids = [event.tool_call_id for event in starts]
    assert len(set(ids)) == len(ids)
    for event in starts:
        assert not event.parent_tool_call_id or event.parent_tool_call_id in ids
        assert event.parent_tool_call_id != event.tool_call_id
    assert {event.tool_call_id for event in events if event.type == "tool_args_delta"} <= set(ids)
    ends = {event.tool_call_id for event in events if event.type == "tool_end"}
    assert ends == set(ids)
    return ids


@pytest.mark.exhaustive
@PLANNERS
@pytest.mark.parametrize("history", first([None, History(keep_turns=0), History(keep_turns=1)], 2))
async def test_over_turns_that_a_planner_does_not_see(makes: Makes, history: History | None) -> None:
    policy = RunPolicy(history=history)
    async with running(agent("x.agent", makes(("add", "add"), ("add",)), policy=policy)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        runs = [(await client.run("Go.", session_id="s")).run_id for _ in range(4)]
        ids = check(await logs(runtime, *runs))
        said = await agents_of(runtime).sessions.transcript("s")
    messages = [message for run in said for message in run.messages]
    planned = [call.id for one in messages if isinstance(one, AssistantMessage) for call in one.calls]
    answered = [answer.id for one in messages if isinstance(one, ToolMessage) for answer in one.answers]
    assert planned == answered == ids


@pytest.mark.exhaustive
@PLANNERS
async def test_over_children_and_theirs(makes: Makes) -> None:
    leaf = agent("x.leaf", makes(("add", "add"), answer=SEEN))
    low = agent(
        "x.low", makes(("look", "look"), ("add",), answer=SEEN), exported("x.leaves", "x.leaf"), TOOLS
    )
    top = agent("x.top", makes(("look", "add", "look"), ("look",)), LOOKS, TOOLS)
    async with running(leaf, low, top) as (runtime, engine):
        client = agents_of(runtime).client("x.top")
        runs = [await client.run("Go.", session_id="s") for _ in range(2)]
        assert [run.status for run in runs] == ["completed", "completed"]
        ids = check(await logs(runtime, *(run.run_id for run in runs)))
        for run in runs:
            assert await engine.replay(run.run_id) == (await engine.status(run.run_id)).output
    assert len(ids) == 2 * (4 + 3 * (3 + 2 * 2))


@PLANNERS
async def test_over_transfers_with_a_session_and_without(makes: Makes) -> None:
    for session_id in ("s", ""):
        first = makes(("add",), answer=HandOver(agent="x.b"))
        agents = agent("x.a", first, transfers=("x.b",)), agent("x.b", makes(("add",), ("add",)))
        async with running(*agents) as (runtime, _):
            client = agents_of(runtime).client("x.a")
            output = await (client.run("Go.", session_id="s") if session_id else client.one_shot("Go."))
            assert len(check(await logs(runtime, output.run_id))) == 3


@PLANNERS
async def test_of_direct_calls_of_an_agents_tool(makes: Makes) -> None:
    async with running(agent("x.low", makes(("add",), answer=SEEN))) as (runtime, _):
        runtime.tools.register(LOOKS)
        meta = CallMeta(session_id="s", tool_call_id="call_0")
        results = [await runtime.call("look", {}, meta) for _ in range(2)]
        links = [result.run_link.run_id for result in results if result.run_link]
        found = await logs(runtime, *links)
    ids = [event.tool_call_id for log in found for event in log if event.type == "tool_start"]
    assert len({*ids, "call_0"}) == 3


def test_a_planners_own_id_stays_where_nobody_else_has_it() -> None:
    ids = PlannedCallIds("run_1", 0, is_alone=False)
    ids.reserve({"call_9"})
    assert [ids.assign_id("toolu_01"), ids.assign_id("call_9"), ids.assign_id("toolu_01")] == [
        "toolu_01",
        "call_0_1",
        "toolu_01",
    ]
    assert ids.all(["toolu_01", "call_9", "", "toolu_01"]) == ["toolu_01", "call_0_1", "call_0_2", "call_0_3"]


def test_ids_of_a_run_that_sees_no_other_hold_its_mark() -> None:
    first, again, second = (PlannedCallIds(run, 2, is_alone=True) for run in ("run_1", "run_1", "run_2"))
    ids = first.all(["toolu_01", ""])
    assert ids == again.all(["", "toolu_01"]), "the same planning gives the same"
    assert not set(ids) & set(second.all(["toolu_01", ""]))
    assert all(len(id_) <= 40 for id_ in ids), "every provider takes them back"
