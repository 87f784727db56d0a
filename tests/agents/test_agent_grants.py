"""Grants in the runs of agents, and what becomes of them with their session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.virtual_time import now
from toolgen.agents import ScriptedPlanner, SqliteSessionStore, agents_of
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime
from toolgen.runtime.functions import func_tool, function_toolset

from .tools import agent, calling, first_answer, keeping, running, waiting

WRITTEN: list[str] = []


async def write(path: str) -> str:
    """Write a file."""
    WRITTEN.append(path)
    return path


GRANTABLE = ConfirmSpec(hint="Write {path}?", grantable=True)
TOOLS = function_toolset(
    "x.disk", [func_tool(write, toolset="x.disk", annotations={"destructive": False}, confirm=GRANTABLE)]
)
ANSWER: dict[str, Any] = {"approved": True, "grant": {"expires_s": 60, "uses": 3}}


def writing(path: str) -> Any:
    return calling(("write", {"path": path}))


async def grants(runtime: Runtime) -> list[tuple[str, int]]:
    return [(grant.agent, grant.used) for grant in await runtime.suspensions.grants("s")]


async def test_the_runs_of_a_session_share_a_grant_and_no_direct_call_uses_it() -> None:
    WRITTEN.clear()
    planner = ScriptedPlanner([writing("a"), writing("b"), first_answer])
    async with running(agent("x.agent", planner, TOOLS), **keeping()) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s", requested_by="mira")
        await handle.answer(await waiting(handle), ANSWER, by="jo")
        assert (await handle.result()).text == '"b"'
        assert await grants(runtime) == [("x.agent", 1)]
        direct = CallMeta(session_id="s", requested_by="mira")
        assert (await runtime.call("write", {"path": "d"}, direct)).status == "suspended"
        again = await client.start("Go.", session_id="s", requested_by="mira")
        assert (await again.result()).text == '"b"'
        assert await grants(runtime) == [("x.agent", 3)]
        events = list(await runtime.runs.events(again.run_id))
    assert WRITTEN == ["a", "b", "a", "b"]
    used = [event for event in events if event.type == "tool_authorization"]
    assert [event.grant_id.startswith("grant_") for event in used] == [True, True]
    assert used[0].reason.startswith("approved by jo at ")


async def test_an_open_grant_does_not_keep_a_session_from_being_erased() -> None:
    planner = ScriptedPlanner([writing("a"), first_answer])
    async with running(agent("x.agent", planner, TOOLS), **keeping()) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        await handle.answer(await waiting(handle), ANSWER, by="jo")
        await handle.result()
        assert await grants(runtime) == [("x.agent", 0)]
        assert (await agents_of(runtime).erase("s")).runs == 2
        assert await grants(runtime) == []


async def test_a_call_that_its_run_executes_again_has_its_use(tmp_path: Path) -> None:
    begun, read = asyncio.Event(), list[str]()

    async def look(path: str) -> str:
        """Read a file."""
        read.append(path)
        if read == ["a", "b"]:  # its process ends
            begun.set()
            await asyncio.Event().wait()
        return path

    tool = func_tool(look, toolset="x.disk", annotations={"read_only": True}, confirm=GRANTABLE)
    steps = [calling(("look", {"path": path})) for path in "ab"]

    def host() -> Any:
        stores: Any = {
            "engine": InProcessEngine(tmp_path / "runs.db", clock=now),
            "sessions": SqliteSessionStore(tmp_path / "sessions.db"),
        }
        planner = ScriptedPlanner([*steps, first_answer])
        return running(agent("x.agent", planner, function_toolset("x.disk", [tool])), **stores)

    async with host() as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await handle.answer(await waiting(handle), {**ANSWER, "grant": {"expires_s": 60, "uses": 1}}, by="jo")
        await begun.wait()
    async with host() as (runtime, _):
        handle = agents_of(runtime).client("x.agent").handle(handle.run_id, session_id="s")
        assert (await handle.settled()).text == '"b"'
        assert await grants(runtime) == [("x.agent", 1)]
    assert read == ["a", "b", "b"]
