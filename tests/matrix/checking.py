"""Runs one cell, and checks what holds in all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from toolgen.agents import UserMessage, agents_of
from toolgen.contract.json_value import Json
from toolgen.events.records import Event, ToolEnd, ToolStart
from toolgen.runtime import CallMeta, Runtime, Suspended

from .cells import ASKING, Cell, Outcome
from .doors.door import Door, Opening, Seen
from .doors.host import Restarting
from .ledger import NOTE, QUESTIONS, REQUEST
from .world import FACTS, World

PATIENCE_S: Final = 30.0
FILE: Final = "the file"
"""Result of work that goes on elsewhere."""
ANSWERS: Final[Mapping[Outcome, Json]] = {
    "confirm": {"approved": True},
    "ask": "Kiel",
    "credential": {"available": True},
}
ASKED_AS: Final = {"confirm": "confirmation", "ask": "input", "credential": "credential"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What becomes of an outcome."""

    status: str
    """That the caller sees, after the answer of a person where one is asked."""
    result: Json
    """None where it is not compared."""
    ran: tuple[str, ...]
    """What the executor did."""


RESULTS: Final[Mapping[Outcome, Expected]] = {
    "ok": Expected(status="ok", result="done", ran=("ok",)),
    "error": Expected(status="error", result=None, ran=("error",)),
    "confirm": Expected(status="ok", result="done", ran=("confirm",)),
    "ask": Expected(status="ok", result="to Kiel", ran=("ask asks", "ask")),
    "credential": Expected(status="ok", result="done", ran=("credential asks", "credential")),
    "pending": Expected(status="pending", result="begun", ran=("pending",)),
    "unknown": Expected(status="unknown", result=None, ran=("unknown",)),
}


async def check(world: World, opening: Opening) -> None:
    """Run the cell of a world through a door, and check it."""
    cell, expected = world.cell, expected_of(world.cell)
    async with opening(world) as door:
        seen = await door.call()
        if cell.outcome in ASKING:
            assert seen.status == "suspended"
            assert QUESTIONS[cell.outcome] in seen.question
            await _check_question(world, door)
            if cell.store == "SQLite" and isinstance(door, Restarting):
                await door.restart()  # whoever answers does it in another process
            seen = await door.answer(ANSWERS[cell.outcome])
        assert seen.status == expected.status, seen
        assert expected.result in (None, json.loads(seen.text)), seen
        delivered = await _deliver(world, door)
        if delivered and door.agent:
            await _check_conversation(world, door)
        assert tuple(world.ledger.ran) == expected.ran
        assert world.ledger.notes == [NOTE] * len(expected.ran)
    await _check_facts(world, door)
    await _check_events(world, door, seen, delivered)


def expected_of(cell: Cell) -> Expected:
    """Return what becomes of a cell; an agent hears of its call what others see, and answers with a text."""
    found = RESULTS[cell.outcome]
    if cell.door == "detached work":
        found = Expected(status="pending", result="begun", ran=found.ran)
    if cell.kind != "agent's tool" or found.status in ("ok", "error"):
        return found
    return Expected(status="ok", result=found.result, ran=found.ran)


def tools_of(world: World) -> list[str]:
    """Return the ids of the tools that are called: that of the door, and that of the agent which answers."""
    inner = [f"m.inner.{world.cell.outcome}"] if world.is_agents else []
    return [f"m.tools.{world.tool}", *inner]


async def _check_question(world: World, door: Door) -> None:
    """Check that one call waits, and that it says what it wants and for whom."""
    async with door.process() as runtime:
        (asked,) = await runtime.suspensions.list("s")
    outcome = world.cell.outcome
    assert (asked.kind, asked.tool) == (ASKED_AS[outcome], tools_of(world)[-1])
    assert QUESTIONS[outcome] in asked.question
    assert asked.requested_by == FACTS.requested_by
    assert asked.request == (REQUEST if outcome == "credential" else None)


async def _deliver(world: World, door: Door) -> list[str]:
    """Deliver the result of the work that goes on, or its failure, and return the status that it has.

    There is none where no work goes on.
    """
    async with door.process() as runtime:
        if world.cell.outcome != "pending" and world.cell.door != "detached work":
            assert await runtime.suspensions.list("s") == ()
            return []
        work = await _work(runtime)
        assert (work.kind, work.tool, work.handle) == ("pending", tools_of(world)[-1], "job-1")
        assert work.requested_by == FACTS.requested_by
        given: Json = {"error": "it broke"} if world.cell.outcome == "error" else FILE
        result = await runtime.suspensions.answer(work.token, given, session_id="s", by="the job")
        assert result.status == ("error" if world.cell.outcome == "error" else "ok")
        assert runtime.engine is not None
        await runtime.engine.result(work.run_id)
        for one in await agents_of(runtime).list_runs():  # the turn that it has opened
            await runtime.engine.result(one.run_id)
    return [result.status]


async def _work(runtime: Runtime) -> Suspended:
    """Return the one work that goes on; the run that waits for its result may just begin."""
    async with asyncio.timeout(PATIENCE_S):
        while not (waiting := await runtime.suspensions.list("s")):  # noqa: ASYNC110  # nobody tells of it
            await asyncio.sleep(0.01)
    (work,) = waiting
    return work


async def _check_conversation(world: World, door: Door) -> None:
    """Check that the conversation which led to the work has heard of its result."""
    async with door.process() as runtime:
        turn = (await agents_of(runtime).sessions.transcript("s"))[-1]
    (heard, *_) = turn.messages
    assert isinstance(heard, UserMessage)
    assert heard.text.startswith(f"The work of {tools_of(world)[-1].rpartition('.')[2]} (")


async def _check_facts(world: World, door: Door) -> None:
    """Check the facts that the executor and the policy saw."""
    agent = "m.low" if world.is_agents else door.agent
    assert {_facts(meta) for meta in world.ledger.metas} == {(*_facts(FACTS)[:-1], agent)}
    decided = {call.tool: call.meta for call in world.decided}
    outer, inner = tools_of(world)[0], tools_of(world)[-1]
    assert {_facts(meta)[:-1] for meta in decided.values()} == {_facts(FACTS)[:-1]}
    assert (decided[outer].agent, decided[inner].agent) == (door.agent, agent)


def _facts(meta: CallMeta) -> tuple[str, str, tuple[tuple[str, str], ...], str]:
    return meta.requested_by, meta.session_id, tuple(meta.labels.items()), meta.agent


async def _check_events(world: World, door: Door, seen: Seen, delivered: list[str]) -> None:
    """Check that each call began once and ended once, and whose the events are."""
    events = await world.events()
    outer, inner = tools_of(world)[0], tools_of(world)[-1]
    own = [seen.status, *(delivered if outer == inner else [])]
    assert _ends(events, outer) == own
    begun = "pending" if world.cell.door == "detached work" else RESULTS[world.cell.outcome].status
    assert _ends(events, inner) == [begun, *delivered]
    for tool, agent in ((outer, door.agent), (inner, "m.low" if world.is_agents else door.agent)):
        its = [event for event in events if getattr(event, "tool", "") == tool]
        assert len([event for event in its if isinstance(event, ToolStart)]) == 1
        assert {(event.session_id, event.agent_id) for event in its} == {("s", agent)}


def _ends(events: list[Event], tool: str) -> list[str]:
    """Return how the calls of a tool ended, those that wait excepted."""
    ends = [event for event in events if isinstance(event, ToolEnd) and event.tool == tool]
    return [event.status for event in ends if event.status != "suspended"]
