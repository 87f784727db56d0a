"""Files that a killed worker of an earlier version has left: a worker of now ends all of their runs.

Each folder of `files` has the dumps of one: of the version of 2026-11-22 (94b1ab7c), of the one before calls
were sealed (7f9ddf1), and of the one before journals had a witness (5e8504c3). One run is over, one waits for
an approval and one for an answer, one was killed while it paid, and one while it looked something up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lab.agents import unpaired
from tests.selection import first
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    FinalResponse,
    PlanInput,
    PlannedCall,
    PlanResult,
    ToolMessage,
)
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.toolsets.functions import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, ToolContext, ToolOutcome, Unfinished

from .tools import waiting

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # files of several processes
FILES: Final = Path(__file__).parent / "files"
RUNS: Final = ("done", "approval", "question", "cut", "again")
APPROVED: Final[dict[str, Any]] = {"approved": True}


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


class Obeying:
    """Calls the tool that it is told to, and says what that returns."""

    async def plan_start(self, given: PlanInput) -> PlanResult:
        tool, name = getattr(given.messages[-1], "text", "").split(" ")
        return CallTools(calls=(PlannedCall.of(tool, {"name": name}),))

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        newest = given.messages[-1]
        assert isinstance(newest, ToolMessage)
        return FinalResponse(text=newest.answers[0].text)


class Upgrade:
    """The files, and the workers of now that open them."""

    def __init__(self, name: str, folder: Path) -> None:
        self._kept, self._folder = FILES / name, folder
        self.did: list[str] = []
        self.restore("runs", "sessions")
        key = folder / "runs.db.key"
        key.write_bytes(bytes.fromhex((self._kept / "key").read_text()))
        key.chmod(0o600)

    def restore(self, *names: str) -> None:
        """Put a file there as the earlier version has left it."""
        for name in names:
            dump, path = self._kept / f"{name}.sql", self._folder / f"{name}.db"
            for old in (path, path.with_name(f"{name}.db-wal"), path.with_name(f"{name}.db-shm")):
                old.unlink(missing_ok=True)
            if dump.exists():
                with closing(sqlite3.connect(path)) as database:
                    database.executescript(dump.read_text())

    @asynccontextmanager
    async def process(self, *, is_worker: bool = True) -> AsyncIterator[tuple[Runtime, Agents]]:
        runtime = Runtime(engine=InProcessEngine(self._folder / "runs.db"))
        is_apart = (self._kept / "sessions.sql").exists()
        sessions = SqliteSessionStore(self._folder / "sessions.db") if is_apart else None
        agents = Agents(runtime, sessions=sessions)
        agents.register(self._registration())
        if not is_worker:
            runtime.runs.be_client(checks=True)
        async with runtime:
            yield runtime, agents
        if sessions is not None:
            sessions.close()

    async def adopt(self) -> None:
        """Do what an operator does after an upgrade from a version that has sealed no calls."""
        async with self.process(is_worker=False) as (runtime, _):
            for one in await runtime.waits.check():
                if one.state != "sealed":
                    await runtime.waits.adopt(one.run_id, by="ann")

    def _registration(self) -> AgentRegistration:
        def done(what: str) -> str:
            self.did.append(what)
            return what

        async def look_up(name: str) -> str:
            """Look something up."""
            return done(f"{name} is found")

        async def pay(name: str) -> str:
            """Pay."""
            return done(f"{name} is paid")

        async def wipe(name: str) -> str:
            """Wipe a disk."""
            return done(f"{name} is wiped")

        async def ask(name: str, ctx: ToolContext) -> str | Unfinished:
            """Ask who it is."""
            return done(f"{name} is {ctx.answer}") if ctx.answer else ToolOutcome.ask(f"Who is {name}?")

        bound = [
            func_tool(look_up, toolset="x.tools", annotations={"read_only": True}),
            func_tool(pay, toolset="x.tools"),
            func_tool(wipe, toolset="x.tools", confirm=ConfirmSpec(hint="Wipe {name}?")),
            func_tool(ask, toolset="x.tools"),
        ]
        tools = tuple(AgentTool(id=one.spec.id, name=one.spec.name) for one in bound)
        spec = AgentSpec(id="x.agent", description="The agent.", tools=tools)
        made = function_toolset("x.tools", bound)
        return AgentRegistration(spec=spec, planner=Obeying(), toolsets=(made,))


@pytest.fixture(params=first(sorted(folder.name for folder in FILES.iterdir())))
async def upgrade(request: pytest.FixtureRequest, tmp_path: Path) -> Upgrade:
    made = Upgrade(request.param, tmp_path)
    await made.adopt()
    return made


async def answered(agents: Agents) -> dict[str, str]:
    """Answer what waits, and return what each run says at last."""
    handles = {run: agents.client("x.agent").handle(run, session_id=f"s-{run}") for run in RUNS}
    for run, answer in (("approval", APPROVED), ("question", "Ann")):
        await handles[run].answer(await waiting(handles[run]), answer)
    return {run: (await handle.result()).text for run, handle in handles.items()}


async def test_all_runs_come_to_their_ends(upgrade: Upgrade) -> None:
    async with upgrade.process() as (_, agents):
        said = await answered(agents)
        unknown = said.pop("cut")
        assert said == {
            "done": '"lamp is found"',
            "approval": '"disk is wiped"',
            "question": '"Mira is Ann"',
            "again": '"slow is found"',
        }
        assert "may have run" in unknown
        assert sorted(upgrade.did) == ["Mira is Ann", "disk is wiped", "slow is found"]


async def test_all_conversations_go_on(upgrade: Upgrade) -> None:
    async with upgrade.process() as (_, agents):
        await answered(agents)
        for run in RUNS:
            client = agents.client("x.agent")
            output = await client.run("look_up door", session_id=f"s-{run}")
            assert (output.status, output.text) == ("completed", '"door is found"')
            turns = await agents.sessions.transcript(f"s-{run}")
            assert len(turns) == 2
            assert [*unpaired(message for turn in turns for message in turn.messages)] == []


async def test_their_copy_is_older_than_the_witness_of_now(upgrade: Upgrade) -> None:
    """What was approved after the upgrade is not done again where the file of before comes back."""
    async with upgrade.process() as (_, agents):
        await answered(agents)
    upgrade.restore("runs")
    await upgrade.adopt()
    async with upgrade.process() as (_, agents):
        output = await agents.client("x.agent").handle("approval", session_id="s-approval").result()
    assert "may have run" in output.text
    assert upgrade.did.count("disk is wiped") == 1
