"""Direct calls of agents' tools whose questions are answered in another process, or in the next one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.agents.asking_agents import ASKING, META, YES, result_of
from tests.agents.tools import agent, calling, exported
from toolgen.agents import Agents, Await, FinalResult, PlanInput, ScriptedPlanner, ScriptStep
from toolgen.agents.planner.planner import Planner
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # files, and a client beside a worker


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


@asynccontextmanager
async def process(
    folder: Path, planner: Planner, *, worker: bool = True, is_client: bool = False
) -> AsyncIterator[Runtime]:
    """Give a runtime over the files of the folder, as each process has one; it is closed as if it ended."""
    runtime = Runtime(engine=InProcessEngine(folder / "runs.db", worker=worker))
    sessions = SqliteSessionStore(folder / "sessions.db")
    Agents(runtime, sessions=sessions).register(agent("x.low", planner, ASKING))
    runtime.tools.register(exported("x.lows", "x.low"))
    if is_client:
        runtime.runs.run_as_client()
    async with runtime:
        yield runtime
    sessions.close()


def heard(given: PlanInput) -> FinalResult:
    return FinalResult(result=getattr(given.messages[-1], "text", ""))


WAYS: dict[str, tuple[list[ScriptStep], Json, str]] = {
    "a tool": ([calling(("burn", {"id": "a"})), result_of], YES, '"a is ash"'),
    "a planner": ([Await(kind="clarification", question="Which?"), heard], "that one", "that one"),
}


@pytest.mark.parametrize("way", WAYS)
async def test_the_next_process_answers_and_has_the_result(tmp_path: Path, way: str) -> None:
    steps, answer, told = WAYS[way]
    async with process(tmp_path, ScriptedPlanner(steps)) as runtime:
        result = await runtime.call("look", {}, META)
        assert result.status == "suspended"
    async with process(tmp_path, ScriptedPlanner(steps)) as runtime:
        (asked,) = await runtime.suspensions.list("s")
        assert asked == result.suspension
        ended = await runtime.suspensions.answer(asked.token, answer)
        assert (ended.status, ended.result) == ("ok", told)
        assert ended.run_link is not None
        assert ended.run_link.run_id == asked.run_id


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_answers_and_the_worker_executes(tmp_path: Path, way: str) -> None:
    steps, answer, told = WAYS[way]
    async with (
        process(tmp_path, ScriptedPlanner(steps)) as worker,
        process(tmp_path, ScriptedPlanner([]), worker=False) as client,
    ):
        result = await worker.call("look", {}, META)
        assert result.suspension is not None
        assert await client.suspensions.show(result.suspension.token) == result.suspension
        ended = await client.suspensions.answer(result.suspension.token, answer)
        again = await client.suspensions.answer(result.suspension.token, answer)
    assert (ended.status, ended.result, json.loads(ended.json)) == ("ok", told, told)
    assert (again.status, again.json, again.run_link) == ("ok", ended.json, ended.run_link)


async def test_a_client_alone_executes_the_whole_call(tmp_path: Path) -> None:
    """As the command line does: the run that it names and what it started, and no other."""
    steps, answer, told = WAYS["a tool"]
    async with process(tmp_path, ScriptedPlanner(steps)) as runtime:
        result = await runtime.call("look", {}, META)
        other = await runtime.call("look", {}, META)
        assert result.suspension is not None
    async with process(tmp_path, ScriptedPlanner(steps), is_client=True) as runtime:
        ended = await runtime.suspensions.answer(result.suspension.token, answer)
        assert await runtime.suspensions.list("s") == other.suspensions
    assert (ended.status, ended.result) == ("ok", told)
