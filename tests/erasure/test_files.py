"""Nothing of a session is left in the files of its stores, whoever else has kept what in them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.agents.tools import until
from toolgen.agents import agents_of
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.capabilities import (
    ArtifactsCapability,
    ArtifactStore,
    FileArtifactStore,
    SqliteArtifactStore,
    SqliteStateStore,
    StateCapability,
)
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.sinks import JsonLinesSink
from toolgen.runtime import Runtime

from .session import OF_USER, PLACES, lead, own, register
from .walks import Found, anywhere, known_files, marks_in_files, marks_in_tables

RUNS: Final = {"run", "op", "event", "wait", "signal"}
SESSIONS: Final = {"session", "turn", "message", "answer", "spoken"}
OTHERS: Final = {
    "meta": "the id of the engine, and its clock",
    "attempt": "the attempts of operations that go on",
    "engine": "which engines have sessions",
    "active": "which run has the turn of a session",
}
"""The tables that hold nothing of a session whose runs are over."""
ARTIFACTS: Final = {"artifact", "artifact_owner"}
FILES: Final = re.compile(
    r"(runs|sessions|state|artifacts)\.db(-wal|-shm)?|runs\.db(\.key|\.lock|\.witness|.*\.bell)"
)
EVENTS: Final = "events.jsonl"
"""The file of the sink of the host, which no erasure reaches."""


class Place:
    """The files of a project."""

    def __init__(self, folder: Path, *, is_one_file: bool) -> None:
        self.folder = folder
        self._is_one_file = is_one_file
        self.tables = {"runs.db": RUNS | SESSIONS, "state.db": {"state"}}
        """By file, those that may hold something of a session."""
        self.tables |= {"artifacts.db": ARTIFACTS} if is_one_file else {"sessions.db": SESSIONS}
        self.used = {f"{file} {table}" for file, tables in self.tables.items() for table in tables}
        """Those that hold something of every session."""
        if not is_one_file:
            self.used -= {f"runs.db {table}" for table in SESSIONS}

    @asynccontextmanager
    async def opened(self, keep_s: float | None = None, **keep: Any) -> AsyncIterator[Runtime]:
        """Yield a runtime over the files."""
        folder, events = self.folder, Events()
        closing = AsyncExitStack()

        def kept(store: Any) -> Any:
            closing.callback(store.close)
            return store

        sessions = None if self._is_one_file else kept(SqliteSessionStore(folder / "sessions.db"))
        artifacts: ArtifactStore = FileArtifactStore(folder / "artifacts")
        if self._is_one_file:
            artifacts = kept(SqliteArtifactStore(folder / "artifacts.db"))
        state = kept(SqliteStateStore(folder / "state.db"))
        runtime = Runtime(
            engine=InProcessEngine(folder / "runs.db", keep_s=keep_s),
            capabilities=[StateCapability(state), ArtifactsCapability(artifacts)],
            events=events,
        )
        register(runtime, sessions, **keep)
        async with closing, JsonLinesSink(events, folder / EVENTS), runtime:
            yield runtime

    def in_tables(self, session: str) -> Found:
        """Return what the tables hold of a session; each is one that the tests were told of."""
        found: Found = {}
        for file, tables in self.tables.items():
            held = marks_in_tables(self.folder / file, session)
            assert held.keys() - OTHERS.keys() == tables, f"say what a new table of {file} holds"
            found |= {f"{file} {table}": places for table, places in held.items()}
        return found

    def in_files(self, session: str) -> Found:
        """Return what the files hold of a session; each is one that the tests were told of."""
        known_files(
            self.folder, lambda name: FILES.fullmatch(name) or name.startswith(("artifacts/", EVENTS))
        )
        found = anywhere(marks_in_files(self.folder, session))
        assert found.pop(EVENTS), "the sink is the host's"
        return found


@pytest.fixture(params=["one file", pytest.param("files", marks=pytest.mark.exhaustive)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path, is_one_file=request.param == "one file")


def held(found: Found) -> set[str]:
    return set().union(*found.values())


@pytest.mark.exhaustive
async def test_an_erased_session_is_in_no_table_and_no_byte(place: Place) -> None:
    async with place.opened() as runtime:
        for session in ("alpha", "beta"):
            await lead(runtime, session)
        assert anywhere(place.in_tables("alpha")).keys() == place.used
        assert held(place.in_files("alpha")) == PLACES
        of_others = place.in_tables("beta")

        (session,) = await agents_of(runtime).labelled("user", own("alpha")("label"))
        await agents_of(runtime).erase(session)

        assert held(place.in_tables("alpha")) | held(place.in_files("alpha")) == OF_USER
        assert place.in_tables("beta") == of_others
    assert held(place.in_tables("alpha")) | held(place.in_files("alpha")) == OF_USER
    assert place.in_tables("beta") == of_others
    assert held(place.in_files("beta")) == PLACES


@pytest.mark.exhaustive
async def test_what_is_not_kept_any_longer_is_in_no_table_and_no_byte(place: Place) -> None:
    async with place.opened() as runtime:
        await lead(runtime, "alpha")
    async with place.opened(keep_s=0.0, keep_sessions=0):
        await until(lambda: held(place.in_tables("alpha")) <= OF_USER, 60)
    assert held(place.in_files("alpha")) == OF_USER
