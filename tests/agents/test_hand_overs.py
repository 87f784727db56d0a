"""Who has the conversation after it was handed over and given back, in the same turn and in later ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import agent, calling, running
from toolgen.agents import HandOver, RunOutput, ScriptedPlanner, SessionStore, agents_of
from toolgen.agents.activities.recording import previous_agent
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sessions import Turn
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.runtime import Runtime


def turns(*runs: tuple[str, str]) -> list[Turn]:
    """Return the turns of these runs, each an id and an agent."""
    return [
        Turn(id="t", session_id="s", run_id=run_id, agent=agent, started_at=0.0) for run_id, agent in runs
    ]


A, B = ("1", "a"), ("1/transfer:0", "b")
C = ("1/transfer:0/transfer:call_0_0", "c")


@pytest.mark.parametrize(
    ("runs", "given_by"),
    [
        ([], None),
        ([A], None),
        ([A, B], "a"),
        ([A, B, C], "b"),
        ([A, B, ("2", "b")], "a"),
        ([A, B, C, ("2", "c")], "b"),
        ([A, B, C, ("2", "c"), ("3", "b")], "a"),
        ([A, B, C, ("2", "c"), ("3", "b"), ("4", "a")], None),
        ([A, B, ("2", "a")], None),
        ([A, B, ("1/transfer:1", "c")], "a"),
        ([A, B, ("2", "b"), ("2/transfer:0", "a")], "b"),
        ([A, B, ("2", "b"), ("2/transfer:0", "a"), ("3", "b")], "a"),
        ([A, B, ("2", "b"), ("2/transfer:0", "a"), ("3", "b"), ("4", "a")], None),
        ([A, B, ("1/done:call_0_0", "b")], "a"),
        ([("1/transfer:0", "b")], None),
    ],
)
def test_the_runs_say_from_whom_an_agent_has_the_conversation(
    runs: list[tuple[str, str]], given_by: str | None
) -> None:
    assert previous_agent(turns(*runs)) == given_by


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return MemorySessionStore() if request.param == "memory" else SqliteSessionStore(tmp_path / "s.db")


async def turn(runtime: Runtime) -> tuple[RunOutput, str]:
    """Return how the next turn ends, and who has the conversation then."""
    output = await agents_of(runtime).client("x.a").run("Go on.", session_id="s")
    return output, (await agents_of(runtime).sessions.get("s")).agent


def over(target: str) -> HandOver:
    return HandOver(agent=target)


async def test_escalation_in_a_later_turn_gives_the_conversation_back(store: SessionStore) -> None:
    low = ScriptedPlanner(["Mine now."], [calling("back")], ["Mine again."])
    top = ScriptedPlanner([over("x.b")], ["Back with me."], [over("x.b")])
    agents = agent("x.a", top, transfers=("x.b",)), agent("x.b", low)
    async with running(*agents, sessions=store) as (runtime, engine):
        said = [await turn(runtime) for _ in range(4)]
        status = await engine.status(said[1][0].run_id)
        assert await engine.replay(status.run_id) == status.output
    shown = [(output.agent, output.stop, output.text, has_it) for output, has_it in said]
    assert shown == [
        ("x.b", "transferred", "Mine now.", "x.b"),
        ("x.b", "escalated", '"giving back"', "x.a"),
        ("x.a", "final", "Back with me.", "x.a"),
        ("x.b", "transferred", "Mine again.", "x.b"),
    ]


async def test_each_agent_gives_back_to_the_one_before(store: SessionStore) -> None:
    planners: dict[str, Any] = {
        "x.a": ScriptedPlanner([over("x.b")], ["a again"]),
        "x.b": ScriptedPlanner([over("x.c")], [calling("back")]),
        "x.c": ScriptedPlanner(["c"], [calling("back")]),
    }
    agents = [
        agent(id_, planner, transfers=tuple(other for other in planners if other != id_))
        for id_, planner in planners.items()
    ]
    async with running(*agents, sessions=store) as (runtime, _):
        assert [(await turn(runtime))[1] for _ in range(4)] == ["x.c", "x.b", "x.a", "x.a"]


async def test_whoever_began_the_conversation_keeps_it() -> None:
    planner = ScriptedPlanner([calling("back")], ["Still here."])
    async with running(agent("x.a", planner)) as (runtime, _):
        output, has_it = await turn(runtime)
        assert (output.stop, has_it) == ("escalated", "x.a")
        assert (await turn(runtime))[0].text == "Still here."


async def test_in_the_turn_of_the_hand_over_the_agent_before_goes_on() -> None:
    top = ScriptedPlanner([over("x.b"), "I go on."])
    agents = agent("x.a", top, transfers=("x.b",)), agent("x.b", ScriptedPlanner([calling("back")]))
    async with running(*agents) as (runtime, _):
        output, has_it = await turn(runtime)
        assert (output.stop, output.text, has_it) == ("final", "I go on.", "x.a")
