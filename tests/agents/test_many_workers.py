"""Agents on an engine with many workers: what is refused of a host."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.many_workers import SECRET, ManyWorkers
from toolgen.adapters.postgres import Postgres, PostgresSessionStore
from toolgen.agents import Agents, SessionStore, agents_of
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.errors import RegistrationError
from toolgen.runtime import Runtime


def runtime() -> Runtime:
    return Runtime(engine=ManyWorkers(), secret=SECRET)


def refused(sessions: SessionStore | None) -> str:
    with pytest.raises(RegistrationError) as raised:
        Agents(runtime(), sessions=sessions)
    return raised.value.message.splitlines()[-1]


def test_sessions_that_workers_cannot_share_are_refused(tmp_path: Path) -> None:
    hint = "use PostgresSessionStore(database)"
    assert refused(None) == f"  Agents(sessions=…) has a MemorySessionStore; {hint}"
    in_a_file = SqliteSessionStore(tmp_path / "sessions.db")
    assert refused(in_a_file) == f"  Agents(sessions=…) has a SqliteSessionStore; {hint}"


def test_agents_by_default_are_refused_too_and_leave_the_runtime_as_it_was() -> None:
    made = runtime()
    with pytest.raises(RegistrationError, match="MemorySessionStore"):
        agents_of(made)
    Agents(made, sessions=PostgresSessionStore(Postgres("host=nowhere.invalid")))
