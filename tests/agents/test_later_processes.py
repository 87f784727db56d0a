"""Runs in a file, and the next process that has it: work that is done later, approvals while nobody works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolgen.agents import Agents, Await, ScriptedPlanner, agents_of
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.results import Pending
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import ConfirmSpec, Runtime, StaticToolset, ToolContext, ToolOutcome, Unfinished
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.options import WaitOptions

from .tools import (
    Resetting,
    Users,
    agent,
    calling,
    engine_of,
    everything,
    first_answer,
    parked,
    resetting,
    texts,
    waiting,
)

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # files, and a client beside a worker


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


async def update() -> str | Pending[str]:
    """Update."""
    return ToolOutcome.pending("job-1", "begun")


LATE = LongRunningSpec(ack=func_tool(update, toolset="x.jobs").spec.result)
JOBS = StaticToolset(name="x.jobs", bound=(func_tool(update, toolset="x.jobs", long_running=LATE),))


@asynccontextmanager
async def process(
    folder: Path, planner: ScriptedPlanner, *toolsets: Any, worker: bool = True, **options: Any
) -> AsyncIterator[Runtime]:
    """Give a runtime over the files of the folder, as each process has one; it is closed as if it ended."""
    engine = InProcessEngine(folder / "runs.db", worker=worker)
    runtime = Runtime(engine=engine, interceptors=[Users()], **options)
    sessions = SqliteSessionStore(folder / "sessions.db")
    Agents(runtime, sessions=sessions).register(agent("x.agent", planner, *toolsets))
    async with runtime:
        yield runtime
    sessions.close()


async def test_work_that_is_done_after_a_restart_opens_its_turn(tmp_path: Path) -> None:
    async with process(tmp_path, ScriptedPlanner([calling("update"), first_answer]), JOBS) as runtime:
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        (work,) = output.pending
    async with process(tmp_path, ScriptedPlanner([texts]), JOBS) as runtime:
        assert (await runtime.suspensions.answer(work.token, "2.4.0")).json == b'"2.4.0"'
        await engine_of(runtime).result(work.run_id)
        after = agents_of(runtime).client("x.agent").handle(f"{output.run_id}/done:call_0_0", session_id="s")
        assert (await after.result()).text.endswith('[The work of update (call_0_0) is done: "2.4.0"]')


async def test_work_that_is_done_while_the_session_is_busy_waits_over_a_restart(tmp_path: Path) -> None:
    asks: list[Any] = [Await(kind="clarification", question="When?"), "soon"]
    async with process(tmp_path, ScriptedPlanner([calling("update"), first_answer], asks), JOBS) as runtime:
        client = agents_of(runtime).client("x.agent")
        first = await client.run("Go.", session_id="s")
        second = await client.start("More.", session_id="s")
        await second.settled()
        await runtime.suspensions.answer(first.pending[0].token, "2.4.0")
    async with process(tmp_path, ScriptedPlanner(asks, [texts]), JOBS) as runtime:
        client = agents_of(runtime).client("x.agent")
        again = client.handle(second.run_id, session_id="s")
        (asked,) = (await again.settled()).awaiting
        await again.answer(asked, "now")
        assert (await again.result()).status == "completed"
        await engine_of(runtime).result(first.pending[0].run_id)
        turns = await agents_of(runtime).sessions.transcript("s")
        assert turns[-1].turn.run_id == f"{first.run_id}/done:call_0_0"


async def test_an_approval_while_nobody_works_is_executed_once_by_the_next_worker(tmp_path: Path) -> None:
    executor = Resetting()
    reset = calling(("factory_reset", {"device_id": "d1"}))
    async with process(tmp_path, ScriptedPlanner([reset]), resetting(executor)) as runtime:
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        (asked,) = (await handle.settled()).awaiting
    async with process(tmp_path, ScriptedPlanner(), resetting(executor), worker=False) as client:
        waiting = await client.suspensions.answer(asked.token, {"approved": True}, by="eve", wait_s=0.01)
        assert (waiting.status, executor.asked) == ("running", [])
    async with process(tmp_path, ScriptedPlanner([reset, first_answer]), resetting(executor)) as runtime:
        again = agents_of(runtime).client("x.agent").handle(handle.run_id, session_id="s")
        assert (await again.result()).text == '{"name":"d1","lost":{}}'
        assert (await runtime.suspensions.answer(asked.token, {"approved": True})).status == "ok"
        log = await runtime.runs.events(handle.run_id)
    assert executor.asked == ["d1 for u-secret"]
    assert [event.answered_by for event in log if event.type == "tool_authorization"] == ["eve"]


async def test_calls_that_wait_since_before_a_restart_count_against_the_limit(tmp_path: Path) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def ask(name: str, ctx: ToolContext) -> str | Unfinished:
        """Ask; the second one not before the next process."""
        if name == "b" and not gate.is_set():
            begun.set()
            await gate.wait()
        return ctx.answered(str) or ToolOutcome.ask(f"{name}?")

    tools = function_toolset("x.asks", [func_tool(ask, toolset="x.asks", annotations={"read_only": True})])
    steps: list[Any] = [calling(("ask", {"name": "a"}), ("ask", {"name": "b"})), everything]
    options = WaitOptions(max_per_run=1)
    async with process(tmp_path, ScriptedPlanner(steps), tools, waiting=options) as runtime:
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await parked(handle)
        await begun.wait()
    gate.set()
    async with process(tmp_path, ScriptedPlanner(steps), tools, waiting=options) as runtime:
        handle = agents_of(runtime).client("x.agent").handle(handle.run_id, session_id="s")
        asked = await waiting(handle)
        assert asked.question == "a?"
        await handle.answer(asked, "yes")
        text = (await handle.result()).text
    assert text == '"yes" | {"error":"too many calls of this run are already waiting for an answer"}'


async def test_a_tool_of_an_agent_that_comes_and_goes_is_listed_for_an_answer(tmp_path: Path) -> None:
    class Coming:
        name = "x.coming"

        async def tools(self, context: Any) -> Any:
            return [func_tool(wipe, toolset="x.coming", confirm=ConfirmSpec())]

    async def wipe() -> str:
        """Wipe."""
        return "wiped"

    @asynccontextmanager
    async def serving() -> AsyncIterator[Runtime]:
        runtime = Runtime(engine=InProcessEngine(tmp_path / "runs.db"))
        planner = ScriptedPlanner([calling("wipe"), first_answer])
        agents_of(runtime).register(agent("x.agent", planner, dynamic=(Coming(),)))
        async with runtime:
            yield runtime

    async with serving() as runtime:
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
    async with serving() as runtime:
        assert (await runtime.suspensions.answer(asked.token, {"approved": True})).json == b'"wiped"'


async def test_a_process_that_executed_nothing_of_a_run_tells_and_releases_its_end(tmp_path: Path) -> None:
    asks: list[Any] = [Await(kind="clarification", question="When?")]
    async with process(tmp_path, ScriptedPlanner(asks)) as runtime:
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        output = await handle.settled()
    events = Events()
    told = events.subscribe()
    async with process(tmp_path, ScriptedPlanner(asks), events=events) as runtime:
        await agents_of(runtime).client("x.agent").handle(handle.run_id, session_id="s").cancel("enough")
    events.close()
    ends = [event async for event in told]
    assert [event.type for event in ends] == ["run_completed", "run_stream_end"]
    assert {(event.session_id, event.turn_id) for event in ends} == {("s", output.turn_id)}
    sessions = SqliteSessionStore(tmp_path / "sessions.db")
    assert await sessions.holder("s") is None
    sessions.close()
