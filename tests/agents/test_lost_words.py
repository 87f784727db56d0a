"""A conversation that lost words, as a file of its own does with the power: its run goes on, or says why."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from tests.lab.agents import unpaired
from tests.selection import first
from toolgen.agents import (
    Agents,
    AssistantMessage,
    FinalResponse,
    Message,
    PlanInput,
    PlannedCall,
    PlannerRetry,
    PlanResult,
    RunHandle,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)
from toolgen.agents.activities.conversation import pair_results
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.agents.transcripts import Transcripts
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime

from .tools import agent, calling, waiting

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # files of several processes
LOST = "Part of this conversation was lost. It contained these calls: {}."


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


class Recording:
    """Looks up, wipes what a person approves, and ends; it keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[Sequence[Message]] = []

    async def plan_start(self, given: PlanInput) -> PlanResult:
        self.shown.append(given.messages)
        if given.step > 1 or given.messages[-1] == UserMessage(text="Again."):
            return FinalResponse(text="done")
        return calling((("look_up", "wipe")[given.step], {"name": "b"}))

    plan_resume = plan_start


class Desk:
    """The files of a folder, and the processes that have them one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.planner = Recording()
        self.wiped: list[str] = []

    @asynccontextmanager
    async def process(self) -> AsyncIterator[tuple[Agents, RunHandle]]:
        async def look_up(name: str) -> str:
            """Look up."""
            return f"{name} is found"

        async def wipe(name: str) -> str:
            """Wipe."""
            self.wiped.append(name)
            return f"{name} is wiped"

        confirmed = func_tool(wipe, toolset="x.tools", confirm=ConfirmSpec(hint="Wipe {name}?"))
        tools = function_toolset("x.tools", [func_tool(look_up, toolset="x.tools"), confirmed])
        runtime = Runtime(engine=InProcessEngine(self._folder / "runs.db"))
        sessions = SqliteSessionStore(self._folder / "sessions.db")
        agents = Agents(runtime, sessions=sessions, planner_retry=PlannerRetry(initial_s=0.001))
        agents.register(agent("x.agent", self.planner, tools))
        async with runtime:
            yield agents, agents.client("x.agent").handle("r", session_id="s")
        sessions.close()

    async def ask(self) -> None:
        """Begin the run, until it asks a person."""
        async with self.process() as (agents, handle):
            await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
            await waiting(handle)

    def lose(self, *statements: str) -> None:
        """Delete rows of the conversation, as if they had not been written."""
        with closing(sqlite3.connect(self._folder / "sessions.db")) as database, database:
            for statement in statements:
                database.execute(statement)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    "lost",
    first(
        [
            ["DELETE FROM message WHERE step = 3"],
            ["DELETE FROM message WHERE step > 0", "DELETE FROM answer"],
            ["DELETE FROM message", "DELETE FROM answer", "DELETE FROM active", "DELETE FROM turn"],
        ]
    ),
)
async def test_a_result_without_its_call_is_no_result(desk: Desk, lost: list[str]) -> None:
    """The call of `wipe` is lost, and then the look up too, and the turn: the run has all of it."""
    await desk.ask()
    desk.lose(*lost)
    async with desk.process() as (agents, handle):
        await handle.answer(await waiting(handle), {"approved": True})
        output = await handle.result()
        assert (output.status, desk.wiped) == ("completed", ["b"])
        assert [*unpaired(desk.planner.shown[-1])] == []
        word = UserMessage(text=LOST.format("wipe (ok)"), source="runtime")
        assert word in desk.planner.shown[-1]
        said = await agents.sessions.run_messages("r")
        assert [*unpaired(said)] == []
        assert word in said
        again = await agents.client("x.agent").run("Again.", session_id="s")
        assert (again.status, [*unpaired(desk.planner.shown[-1])]) == ("completed", [])


async def test_a_lost_session_executes_no_approved_call(desk: Desk) -> None:
    await desk.ask()
    desk.lose(*(f"DELETE FROM {table}" for table in ("session", "turn", "message", "answer", "active")))
    async with desk.process() as (_, handle):
        await handle.answer(await waiting(handle), {"approved": True})
        output = await handle.result()
        ends = [event async for event in handle.events() if event.type == "tool_end"]
    assert desk.wiped == []
    assert ends[-1].error is not None
    assert ends[-1].error["message"].startswith("wipe was not run: the session 's' is not in this store")
    assert (output.status, "the session 's' is not in this store" in output.error) == ("failed", True)


def result(*ids: str) -> ToolMessage:
    return ToolMessage(answers=tuple(ToolAnswer(id=one, name=one, status="ok", text="1") for one in ids))


def calls(*ids: str) -> AssistantMessage:
    return AssistantMessage(calls=tuple(PlannedCall(name=one, id=one) for one in ids))


def lost_calls(*ids: str) -> UserMessage:
    told = ", ".join(f"{one} (ok)" for one in ids)
    return UserMessage(text=LOST.format(told), source="runtime")


GO, SO = UserMessage(text="Go."), AssistantMessage(text="So.")
CASES: dict[str, tuple[list[Message], list[Message]]] = {
    "nothing": (
        [GO, calls("a", "b"), result("a", "b"), SO],
        [GO, calls("a", "b"), result("a", "b"), SO],
    ),
    "a call": ([GO, result("a"), SO], [GO, lost_calls("a"), SO]),
    "a batch between two": (
        [GO, calls("a"), result("b"), SO],
        [GO, calls("a"), result("a"), lost_calls("b"), SO],
    ),
    "one call of a batch": (
        [GO, calls("a"), result("a", "b"), SO],
        [GO, calls("a"), result("a"), lost_calls("b"), SO],
    ),
    "all but results": ([result("a"), result("b")], [lost_calls("a"), lost_calls("b")]),
    "a call after its batch was answered": (
        [GO, calls("a"), result("a"), result("b"), SO],
        [GO, calls("a"), result("a"), lost_calls("b"), SO],
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_planners_and_transcripts_are_shown_pairs(case: str) -> None:
    kept, shown = CASES[case]
    sessions = MemorySessionStore()
    await sessions.write("r", 1, kept)
    for batch in (one for one in kept if isinstance(one, AssistantMessage)):
        for call in batch.calls:  # stored when it ended, beside the steps
            await sessions.answer("r", result(call.id).answers[0])
    assert list(await Transcripts(sessions, InProcessEngine()).of_run("r")) == shown
    seen = pair_results(kept)  # by a planner that has the steps alone
    assert [*unpaired(seen)] == []
    assert [one for one in seen if isinstance(one, UserMessage)] == [
        one for one in shown if isinstance(one, UserMessage)
    ]
