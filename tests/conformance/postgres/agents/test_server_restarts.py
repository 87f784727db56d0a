"""A PostgreSQL server that stops in the middle of a conversation, and starts again while the run waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from examples.servers.postgres import Server
from tests.agents.tools import TOOLS, agent, calling, first_answer, running, texts
from toolgen.agents import PlannerRetry, ScriptedPlanner, agents_of
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.calls.functions.tools import func_tool
from toolgen.capabilities import MemoryStateStore, StateCapability
from toolgen.events.records import PlanRetry
from toolgen.runtime import StaticToolset, ToolContext, ToolOutcome

ATTEMPTS = 3
"""That find no server, before it starts again."""


class Restarts:
    """Stops the server, and starts it again when a step of a run has failed some times."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._left = 0
        self.executed = 0
        """Calls of the tools."""

    def stop(self) -> None:
        if not self._left:
            self._left = ATTEMPTS
            self._server.stop()

    def start(self) -> None:
        if self._left:
            self._left = 0
            self._server.start()

    def part(self) -> float:
        """Return the part of a pause, as the source of jitter that a step asks before each pause."""
        if self._left == 1:
            self.start()
        self._left = max(0, self._left - 1)
        return 0.5

    @property
    def retry(self) -> PlannerRetry:
        return PlannerRetry(initial_s=0.01, random=self.part)

    @property
    def toolset(self) -> StaticToolset:
        bound = tuple(func_tool(one, toolset="x.stops") for one in (self.visit, self.leave))
        return StaticToolset(name="x.stops", bound=bound)

    async def visit(self, ctx: ToolContext) -> str:
        """Count a visit, and stop the server."""
        self.executed += 1
        state: Any = ctx.state
        state.add("visits", 1)
        self.stop()
        return "visited"

    async def leave(self, text: str) -> ToolOutcome[str]:
        """End the turn, and stop the server."""
        self.executed += 1
        self.stop()
        return ToolOutcome.final(text)


@pytest.fixture
def restarts(postgres: Server) -> Iterator[Restarts]:
    made = Restarts(postgres)
    yield made
    made.start()


def stored(conninfo: str, run_id: str) -> list[tuple[int, int]]:
    """Return the places of the messages of a run, and how many are at each."""
    with psycopg.connect(conninfo) as connection:
        query = "SELECT step, json_array_length(messages::json) FROM toolgen.message WHERE run_id = %s"
        return sorted(connection.execute(query, (run_id,)).fetchall())


@pytest.mark.parametrize("stops_at", [1, 2])
async def test_it_stops_while_the_planner_is_asked(restarts: Restarts, conninfo: str, stops_at: int) -> None:
    def answer(step: Any) -> Callable[[Any], Any]:
        def plan(given: Any) -> Any:
            if len(planner.inputs) == stops_at:
                restarts.stop()
            return step(given) if callable(step) else step

        return plan

    planner = ScriptedPlanner([answer(calling(("add", {"a": 1, "b": 1}))), answer(texts)], [texts])
    registration = agent("x.agent", planner, TOOLS)
    async with running(registration, sessions=MemorySessionStore(), planner_retry=restarts.retry) as (
        runtime,
        engine,
    ):
        client = agents_of(runtime).client("x.agent")
        output = await client.run("Go.", session_id="s")
        events = await runtime.runs.events(output.run_id)
        after = await client.run("Again.", session_id="s")
        status = await engine.status(output.run_id)
        assert await engine.replay(output.run_id) == status.output
    assert (output.status, output.text) == ("completed", "[Go.] [] [results]")
    assert after.text == "[Go.] [] [results] [[Go.] [] [results]] [Again.]"
    retries = [event for event in events if isinstance(event, PlanRetry)]
    assert [one.reason for one in retries] == ["a store of the runtime cannot be reached"] * ATTEMPTS
    assert len(planner.inputs) == 4, "two steps and the next turn, and the step that was not stored"
    assert stored(conninfo, output.run_id) == [(0, 1), (1, 1), (3, 2)]


async def test_it_stops_before_the_record_of_the_turn(restarts: Restarts, conninfo: str) -> None:
    planner = ScriptedPlanner([calling(("leave", {"text": "12"}))], [texts])
    registration = agent("x.agent", planner, restarts.toolset)
    async with running(registration, sessions=MemorySessionStore(), planner_retry=restarts.retry) as (
        runtime,
        _,
    ):
        client = agents_of(runtime).client("x.agent")
        output = await client.run("Go.", session_id="s")
        after = await client.run("Again.", session_id="s")
    assert (output.status, output.text, restarts.executed) == ("completed", '"12"', 1)
    assert after.text == "[Go.] [] [results] [Again.]"
    assert stored(conninfo, output.run_id) == [(0, 1), (1, 1), (2, 1)]


async def test_it_stops_before_a_change_of_state_is_stored(restarts: Restarts) -> None:
    states = MemoryStateStore()
    planner = ScriptedPlanner([calling("visit"), first_answer])
    registration = agent("x.agent", planner, restarts.toolset)
    given: dict[str, Any] = {"capabilities": [StateCapability(states)], "planner_retry": restarts.retry}
    async with running(registration, sessions=MemorySessionStore(), **given) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
    assert (output.status, output.text, restarts.executed) == ("completed", '"visited"', 1)
    assert await states.load("session", "s") == {"visits": 1}
