"""Stores that are away for a while: the run waits for them as for a planner, and stores each record once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from tests.agents.store_outages import (
    AWAY,
    DAMAGED,
    EVER,
    FULL,
    LOCKED,
    LONGEST,
    UNKNOWN,
    Outage,
    Sessions,
    turn,
)
from tests.agents.test_long_work import long_running
from tests.agents.tools import agent, calling, engine_of, first_answer, keeping, running, texts
from toolgen.agents import HandOver, History, Message, PlanInput, RunPolicy, ScriptedPlanner, agents_of
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.stores import StoreError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (AWAY, "a store of the runtime cannot be reached"),
        (UNKNOWN, "a store of the runtime cannot be reached"),
        (LOCKED, "a store of the runtime is locked by another process"),
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
        (
            FULL,
            10,
            "a store of the runtime is out of space (10 attempts in 243 s)",
        ),
        (DAMAGED, 3, "it raised StoreCorruptError, and the log has the details (3 attempts in 3 s)"),
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
        (FULL, "a store of the runtime is out of space"),
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
        await runtime.suspensions.answer(output.pending[0].token, "2.4.0")
        await engine_of(runtime).result(output.pending[0].run_id)
        after = agents_of(runtime).client("x.agent").handle(f"{output.run_id}/done:call_0_0", session_id="s")
        assert (await after.result()).text.endswith('[The work of update (call_0_0) is done: "2.4.0"]')
