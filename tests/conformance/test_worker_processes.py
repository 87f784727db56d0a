"""`toolgen worker` as a process: it is ready, it drains at SIGTERM, and a second signal or a kill ends it."""

from __future__ import annotations

import signal

import pytest

from tests.conftest import ProjectFolder
from tests.runs_project import MAIN, did, start, wait_until_over, write_runs
from tests.worker_process import working

RUN = "run_1:s-1:work a"


@pytest.fixture
def busy(project: ProjectFolder) -> ProjectFolder:
    """A project with a run whose tool works until its gate is open."""
    write_runs(project)
    start(project, RUN)
    (project.path / "did").write_text("")
    return project


def state(project: ProjectFolder, run_id: str = "run_1") -> str:
    lines = project.run("runs", "list").out.splitlines()
    return next(line.split()[1] for line in lines if line.startswith(run_id))


def test_a_call_ends_after_sigterm_and_its_run_goes_on_with_the_next_worker(busy: ProjectFolder) -> None:
    with working(busy, "--health", "0") as worker:
        worker.has_logged("begin a")
        assert worker.health("/ready") == (200, "ready")
        worker.end()
        worker.has_logged("the worker: draining")
        assert worker.health("/live") == (200, "draining")
        assert worker.health("/ready") == (503, "draining")
        busy.write("a.gate", "")
        assert worker.code() == 0
    assert did(busy) == ["begin a", "end a"]
    assert state(busy) == "running"
    with working(busy) as worker:
        wait_until_over(busy, "run_1")
        assert state(busy) == "completed"
        worker.end(signal.SIGINT)
        assert worker.code() == 0
        assert worker.log.rstrip().endswith("the worker has ended")
    assert did(busy) == ["begin a", "end a"], "the result was kept, and the tool was not executed again"


def test_a_call_that_takes_too_long_is_cut_off_and_made_again(busy: ProjectFolder) -> None:
    with working(busy, "--drain", "0.2") as worker:
        worker.has_logged("begin a")
        worker.end()
        assert worker.code() == 0
        assert "calls that are still running after 0.2 seconds are interrupted" in worker.log
        assert " of x.tools.work did not end before its worker and was cut off; another worker" in worker.log
    assert state(busy) == "running"
    busy.write("a.gate", "")
    with working(busy):
        wait_until_over(busy, "run_1")
        assert state(busy) == "completed"
    assert did(busy) == ["begin a", "begin a", "end a"]


def test_a_tool_that_is_disabled_meanwhile_is_not_executed_by_the_worker(project: ProjectFolder) -> None:
    write_runs(project)
    store = 'DisabledTools(SqliteStateStore("state.db"), read_every_s=0.01)'
    imports = (
        "from toolgen.capabilities import SqliteStateStore\nfrom toolgen.capabilities import DisabledTools\n"
    )
    main = MAIN.replace("from toolgen.calls.toolsets", f"{imports}from toolgen.calls.toolsets", 1)
    project.write("app/main.py", main.replace("engine=engine()", f"engine=engine(), disabled={store}"))
    project.write("a.gate", "")
    project.write("disk.gate", "")
    start(project, RUN, "run_2:s-2:wipe disk")
    with working(project) as worker:  # it reads the store for the first call
        wait_until_over(project, "run_1")
        assert project.run("tools", "disable", "wipe", "--reason", "the disk is full").code == 0
        (id_,) = [line.split()[3] for line in project.run("runs", "list").out.splitlines() if "waits" in line]
        done = project.run("approve", id_, "--yes", "--by", "jo")
        assert (done.code, done.out) == (1, '{"error":"wipe is disabled: the disk is full"}\n')
        wait_until_over(project, "run_2")
        assert "x.tools.wipe is disabled: the disk is full" in worker.log
    assert "wiped disk" not in did(project)


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(busy: ProjectFolder, second: signal.Signals) -> None:
    with working(busy) as worker:
        worker.has_logged("begin a")
        worker.end()
        worker.has_logged("the worker: draining")
        worker.end(second)
        assert worker.code() == -second
    assert state(busy) == "running"


def test_runs_go_on_after_a_kill(busy: ProjectFolder) -> None:
    with working(busy) as worker:
        worker.has_logged("begin a")
        worker.end(signal.SIGKILL)
        assert worker.code() == -signal.SIGKILL
    busy.write("a.gate", "")
    with working(busy):
        wait_until_over(busy, "run_1")
        assert state(busy) == "completed"
    assert did(busy) == ["begin a", "begin a", "end a"]
