"""Erasure of a session by a program, with runs in memory and in a file."""

from __future__ import annotations

import pytest

from toolgen.agents import (
    Erased,
    ScriptedPlanner,
    SessionBusyError,
    UnknownRunError,
    UnknownSessionError,
    agents_of,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.capabilities import Change, MemoryStateStore, StateCapability

from .tools import agent, calling, running


async def test_a_session_is_erased_when_its_runs_are_over() -> None:
    states = MemoryStateStore()
    await states.apply("session", "s", [Change(key="k", operation="set", value=1)])
    sessions = MemorySessionStore()
    await sessions.create("s", "x.agent", {"user": "ann"})
    await sessions.create("t", "x.agent", {"user": "bob"})
    one, capability = agent("x.agent", ScriptedPlanner([calling("ask")])), StateCapability(states)
    async with running(one, sessions=sessions, capabilities=[capability]) as (runtime, _):
        agents = agents_of(runtime)
        handle = await agents.client("x.agent").start("Go.", session_id="s")
        await handle.settled()
        with pytest.raises(SessionBusyError):
            await agents.erase("s")
        await handle.cancel()
        await handle.result()
        assert await agents.labelled("user", "ann") == ("s",)
        assert await agents.erase("s") == Erased(sessions=1, runs=1, state=1)
        assert await agents.erase("s") == Erased()
        assert await states.load("session", "s") == {}
        with pytest.raises(UnknownRunError):
            await runtime.runs.events(handle.run_id)
        with pytest.raises(UnknownSessionError):
            await sessions.get("s")
        assert await agents.labelled("user", "ann") == ()
        assert await agents.labelled("user", "bob") == ("t",)
