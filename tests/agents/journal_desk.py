"""A desk that pays, and wipes what a person approves; a test loses the journal of its runs."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.selection import first
from toolgen.agents import (
    Agents,
    AssistantMessage,
    CallTools,
    FinalResponse,
    PlanInput,
    PlanResult,
    RunHandle,
    ToolMessage,
    UserMessage,
)
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime

from .tools import agent, calling, waiting

YES: dict[str, Any] = {"approved": True}


async def pay_then_wipe(given: PlanInput) -> PlanResult:
    """Pay, wipe what a person approves, and end."""
    made = sum(isinstance(one, AssistantMessage) for one in given.messages)
    if given.messages[-1] == UserMessage(text="Again."):
        return FinalResponse(text="hello again")
    if made < 2:
        return calling((("pay", {"name": "a"}), ("wipe", {"name": "b"}))[made])
    newest = given.messages[-1]
    assert isinstance(newest, ToolMessage)
    return FinalResponse(text=newest.answers[0].text)


class Planner:
    plan_start = plan_resume = staticmethod(pay_then_wipe)


class Model:
    """Gives each call that it plans an id of its own, as models do."""

    def __init__(self) -> None:
        self._numbers = count(1)

    async def plan_start(self, given: PlanInput) -> PlanResult:
        planned = await pay_then_wipe(given)
        if not isinstance(planned, CallTools):
            return planned
        return CallTools(
            calls=tuple(replace(call, id=f"toolu_{next(self._numbers)}") for call in planned.calls), text=""
        )

    plan_resume = plan_start


async def approved(handle: RunHandle) -> str:
    """Approve what waits, and return what the run says at last."""
    await handle.answer(await waiting(handle), YES)
    return (await handle.result()).text


def backup(journal: Path, copy: Path) -> None:
    """Write a journal into another file, by SQLite's own means."""
    with closing(sqlite3.connect(journal)) as source, closing(sqlite3.connect(copy)) as to:
        source.backup(to)


class Desk:
    """The files of a folder, and the processes that have them one after the other."""

    def __init__(self, folder: Path, *, is_apart: bool, planner: Planner | Model | None = None) -> None:
        self.folder, self._is_apart = folder, is_apart
        self._planner = planner or Planner()
        self.done: list[str] = []
        self.wall = 1_800_000_000.0

    @asynccontextmanager
    async def process(self) -> AsyncIterator[tuple[Agents, RunHandle]]:
        async def pay(name: str) -> str:
            """Pay."""
            self.done.append(f"pay {name}")
            return f"{name} is paid"

        async def wipe(name: str) -> str:
            """Wipe."""
            self.done.append(f"wipe {name}")
            return f"{name} is wiped"

        confirmed = func_tool(wipe, toolset="x.tools", confirm=ConfirmSpec(hint="Wipe {name}?"))
        tools = function_toolset("x.tools", [func_tool(pay, toolset="x.tools"), confirmed])
        runtime = Runtime(engine=InProcessEngine(self.folder / "runs.db"))
        sessions = None
        if self._is_apart:
            sessions = SqliteSessionStore(self.folder / "sessions.db", clock=lambda: self.wall)
        agents = Agents(runtime, sessions=sessions)
        agents.register(agent("x.agent", self._planner, tools))
        async with runtime:
            yield agents, agents.client("x.agent").handle("r", session_id="s")
        if sessions is not None:
            sessions.close()

    async def ask(self) -> None:
        """Begin the run, until it asks a person."""
        async with self.process() as (agents, handle):
            await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
            await waiting(handle)

    async def finish(self) -> str:
        """Approve what waits, and return what the run says at last."""
        async with self.process() as (_, handle):
            return await approved(handle)

    def copy(self) -> Path:
        """Return a copy of the journal, as a backup has it."""
        kept = self.folder / "copy.db"
        shutil.copy(self.folder / "runs.db", kept)
        return kept

    def lose(self) -> None:
        """Remove the journal, and leave what stands beside it."""
        for name in ("runs.db", "runs.db-wal", "runs.db-shm"):
            (self.folder / name).unlink(missing_ok=True)

    def restore(self, kept: Path) -> None:
        self.lose()
        shutil.copy(kept, self.folder / "runs.db")


@pytest.fixture(params=first([False, True]), ids=["one file", "sessions apart"])
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    return Desk(tmp_path, is_apart=request.param)
