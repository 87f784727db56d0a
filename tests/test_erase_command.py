"""`toolgen runs erase`: nothing of a session is left in the files of its stores."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from tests.selection import first
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.capabilities import Change, SqliteArtifactStore, SqliteStateStore
from toolgen.engines import InProcessEngine

from .conftest import Done, ProjectFolder
from .runs_project import MAIN, listed_runs, serving, start, write_runs

CANARY = "Canary7e1f"
NOTHING = "  hint: check the name; data that was erased before leaves no trace\n"
CAPABILITIES = """\
from toolgen.capabilities import (
    ArtifactsCapability, SqliteArtifactStore, SqliteStateStore, StateCapability,
)
"""
KEPT = """Runtime(
        engine=engine(),
        capabilities=[
            StateCapability(SqliteStateStore("state.db")),
            ArtifactsCapability(SqliteArtifactStore("artifacts.db")),
        ],
    )"""


PLACES = pytest.mark.parametrize("runs", ["runs", "sessions"], indirect=True)
"""The file that has the conversations: that of the runs, or one of their own."""


@pytest.fixture
def runs(project: ProjectFolder, request: pytest.FixtureRequest) -> ProjectFolder:
    write_runs(project)
    main = MAIN.replace("from toolgen.runtime import", f"{CAPABILITIES}from toolgen.runtime import", 1)
    if (place := getattr(request, "param", "sessions")) == "runs":
        main = main.replace(', sessions=SqliteSessionStore("sessions.db")', "")
    project.write("app/main.py", main.replace("Runtime(engine=engine())", KEPT))
    for session in ("s-1", "s-2"):
        asyncio.run(fill(project, session, place))
    start(project, f"run_1:s-1:ask {CANARY}", "run_2:s-2:ask Mira")
    return project


async def fill(project: ProjectFolder, session: str, place: str = "sessions") -> None:
    """Create a session with a label in the file of a name, and leave state and an artifact of it."""
    engine = InProcessEngine(project.path / "runs.db", worker=False)
    file = engine.file if place == "runs" else project.path / "sessions.db"
    assert file is not None
    sessions = SqliteSessionStore(file)
    states = SqliteStateStore(project.path / "state.db")
    artifacts = SqliteArtifactStore(project.path / "artifacts.db")
    await sessions.create(session, "x.agent", {"user": f"user of {session}", "team": "blue"})
    value = CANARY if session == "s-1" else "kept"
    await states.apply("session", session, [Change(key="k", operation="set", value=value)])
    await artifacts.save(f"session/{session}", "a", value.encode(), "text/plain", {}, 1000)
    for store in (sessions, states, artifacts):
        store.close()
    await engine.close()


def places(runs: ProjectFolder) -> list[str]:
    """Return the files of the stores that hold the canary."""
    files = [file for file in runs.path.iterdir() if ".db" in file.name and file.is_file()]
    return sorted(file.name.split(".")[0] for file in files if CANARY.encode() in file.read_bytes())


def rewrites(runs: ProjectFolder) -> dict[str, int]:
    """Return a number of each file that `VACUUM` counts on."""
    found = {}
    for file in sorted(runs.path.glob("*.db")):
        with closing(sqlite3.connect(file)) as database:
            (found[file.name],) = database.execute("PRAGMA schema_version").fetchone()
    return found


@pytest.mark.exhaustive
@PLACES
def test_a_file_is_rewritten_once_for_all_sessions(runs: ProjectFolder) -> None:
    before = rewrites(runs)
    assert runs.run("runs", "erase", "--label", "team=blue", "--cancel").code == 0
    assert rewrites(runs) == {name: number + 1 for name, number in before.items()}


@pytest.mark.exhaustive
@PLACES
@pytest.mark.parametrize(
    "of", first(map(pytest.param, [("--session", "s-1"), ("--label", "user=user of s-1")]))
)
def test_nothing_of_the_session_is_left(runs: ProjectFolder, of: tuple[str, str]) -> None:
    apart = {"sessions"} if (runs.path / "sessions.db").exists() else set()
    assert {*places(runs)} == {"runs", "state", "artifacts"} | apart
    refused = runs.run("runs", "erase", *of)
    assert (refused.code, refused.out) == (2, "")
    assert "run 'run_1' of session 's-1' is not over" in refused.err
    assert "add --cancel" in refused.err
    assert places(runs)
    done = runs.run("runs", "erase", *of, "--cancel")
    assert done.code == 0
    assert done.out.splitlines()[-1] == (
        "session s-1  sessions 1  runs 1  state 1  artifacts 1  events 0  credentials 0  memories 0"
    )
    assert places(runs) == []
    again = runs.run("runs", "erase", "--session", "s-1")
    assert again == Done(2, "", f"error: the session 's-1' has no data\n{NOTHING}")
    shown = runs.run("runs", "show", "run_1")
    assert (shown.code, "it may have been erased" in shown.err) == (2, True)
    assert listed_runs(runs).out.startswith("run_2  waiting  x.agent  session s-2\n")
    other = asyncio.run(SqliteStateStore(runs.path / "state.db").load("session", "s-2"))
    assert other == {"k": "kept"}


@pytest.mark.exhaustive
@PLACES
def test_a_session_is_erased_beside_the_worker_of_its_runs(runs: ProjectFolder) -> None:
    with serving(runs) as server:
        done = runs.run("runs", "erase", "--session", "s-1", "--cancel")
        assert (done.code, server.process.exitcode) == (0, None)
        assert places(runs) == []
        assert runs.run("runs", "list").out.startswith("run_2  waiting")


def test_no_session_of_a_label_is_erased_while_a_run_of_one_is_not_over(runs: ProjectFolder) -> None:
    asyncio.run(fill(runs, "s-0"))
    refused = runs.run("runs", "erase", "--label", "team=blue")
    assert (refused.code, refused.out) == (2, "")
    assert "is not over" in refused.err
    kept = asyncio.run(SqliteStateStore(runs.path / "state.db").load("session", "s-0"))
    assert kept == {"k": "kept"}


def test_a_label_that_no_session_has_erases_nothing(runs: ProjectFolder) -> None:
    done = runs.run("runs", "erase", "--label", "user=nobody")
    assert done == Done(2, "", f"error: no session has the label 'user=nobody'\n{NOTHING}")


def test_a_session_that_nobody_has_is_not_found(runs: ProjectFolder) -> None:
    done = runs.run("runs", "erase", "--session", "nobody")
    assert done == Done(2, "", f"error: the session 'nobody' has no data\n{NOTHING}")


@pytest.mark.parametrize("given", [(), ("--session", "s-1", "--label", "a=b"), ("--label", "user")])
def test_just_one_subject_is_named(runs: ProjectFolder, given: tuple[str, ...]) -> None:
    done = runs.run("runs", "erase", *given)
    assert done.code == 2
    assert done.err.endswith("error: pass either --session ID or --label NAME=VALUE\n")
