"""`toolgen runs release` and `toolgen runs restore`: what an operator does whose journal is lost."""

from __future__ import annotations

import pytest

from .conftest import Done, ProjectFolder
from .runs_project import start, write_runs

FREE = "no session is held by a lost run\n"


@pytest.fixture
def runs(project: ProjectFolder) -> ProjectFolder:
    """The sessions are in a file of their own."""
    write_runs(project)
    return project


def lose(runs: ProjectFolder, *names: str) -> None:
    for name in ("runs.db", "runs.db-wal", "runs.db-shm", *names):
        (runs.path / name).unlink(missing_ok=True)


def test_a_lost_journal_is_accepted_and_its_sessions_are_free(runs: ProjectFolder) -> None:
    assert runs.run("runs", "restore").out.startswith("the journal is the one that its witness records")
    start(runs, "run_1:s-1:ask Mira", "run_2:s-2:ask Mira")
    lose(runs)
    refused = runs.run("worker")
    assert refused.code == 2
    assert "runs.db' cannot be found any more: No such file or directory" in refused.err
    assert not (runs.path / "runs.db").exists()
    assert "if it is lost for good: toolgen runs restore\n" in refused.err
    done = runs.run("runs", "restore")
    first, *rest = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert first.endswith(
        "is lost, with 2 started calls and 0 accepted answers; a run with an id from it does not"
        " repeat such a call"
    )
    assert sorted(rest) == [
        "session s-1  released from run run_1",
        "session s-2  released from run run_2",
    ]
    assert runs.run("runs", "release") == Done(0, "", FREE)
    start(runs, "run_3:s-1:ask Mira")
    assert runs.run("runs", "list", "--session", "s-1").out.startswith("run_3  waiting")


def test_sessions_of_another_engine_are_released_by_name_only(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:ask Mira", "run_2:s-2:ask Mira", "run_3:s-3:ask Mira")
    lose(runs, "runs.db.witness")
    start(runs, "run_4:s-4:ask Mira")
    shown = runs.run("runs", "release")
    assert shown.err == "if that engine is lost, run: toolgen runs release --engine ENGINE\n"
    held = sorted(shown.out.splitlines())
    assert [line.rpartition(" of engine ")[0] for line in held] == [
        f"session s-{number}  held by run run_{number}" for number in (1, 2, 3)
    ]
    one = runs.run("runs", "release", "--session", "s-1")
    assert one == Done(0, "session s-1  released from run run_1\n", "")
    engine = held[0].rpartition(" ")[2]
    assert len(runs.run("runs", "release", "--engine", engine).out.splitlines()) == 2
    busy = runs.run("runs", "release", "--session", "s-4")
    assert (busy.code, "run 'run_4' of session 's-4' is not over" in busy.err) == (2, True)
    assert runs.run("runs", "release", "--session", "s-9").code == 2
