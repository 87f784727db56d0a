"""The commands on a runtime whose engine is on Temporal, each once in a process of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import subprocess
import sys

import pytest

from tests.conftest import Done, ProjectFolder, in_a_process, surroundings
from tests.process_output import PATIENCE_S
from tests.runs_project import MAIN, client_of, did, wait_until_over, wait_until_settled
from tests.temporal_server import TemporalServer
from tests.worker_process import working
from toolgen.agents import agents_of

pytestmark = pytest.mark.costly

_NUMBERS = itertools.count(1)
IMPORTS = """\
from toolgen.adapters.postgres import Postgres, PostgresPayloads, PostgresSessionStore, PostgresStateStore
from toolgen.engines.temporal import TemporalEngine, TemporalLimits
from toolgen.capabilities import DisabledTools
"""


@pytest.fixture
def runs(project: ProjectFolder, temporal: TemporalServer, conninfo: str) -> ProjectFolder:
    """Return a project whose runs are on the server, apart from those of other tests."""
    queue = f"test-{next(_NUMBERS)}"
    engine = (
        f"TemporalEngine({temporal.address!r}, queue={queue!r}, queues={{'y.agent': 'other'}}, "
        f"prefix={queue + ':'!r}, payloads=PostgresPayloads(DATABASE), "
        "limits=TemporalLimits(heartbeat_s=3, offload_bytes=1_000))"
    )
    store = "DisabledTools(PostgresStateStore(DATABASE), read_every_s=0.01)"
    changes = {
        "from toolgen.engines import InProcessEngine\n": IMPORTS,
        "def tell(": f"DATABASE = Postgres({conninfo!r})\n\n\ndef tell(",
        "Runtime(engine=engine())": f"Runtime(engine=engine(), secret=b's' * 32, disabled={store})",
        'InProcessEngine("runs.db")': engine,
        'SqliteSessionStore("sessions.db")': "PostgresSessionStore(DATABASE)",
    }
    main = MAIN
    for before, after in changes.items():
        assert main.count(before) == 1, before
        main = main.replace(before, after)
    project.write("app/main.py", main)
    project.write("did", "")
    return project


def start(project: ProjectFolder, *started: str) -> None:
    """Start runs, `run:session:message` each."""

    async def start_all() -> None:
        async with client_of(project) as made:
            for one in started:
                run_id, session, message = one.split(":")
                await agents_of(made).client("x.agent").start(message, run_id=run_id, session_id=session)

    asyncio.run(start_all())


def toolgen(project: ProjectFolder, *args: str) -> Done:
    """Run a command in a process of its own, which does not abort."""
    done = in_a_process(project.path, "-m", "toolgen", *args)
    assert done.returncode in (0, 1, 2, 3), done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def state(project: ProjectFolder, run_id: str) -> str:
    shown = project.run("runs", "show", run_id)
    assert shown.code == 0, shown.err
    return str(json.loads(shown.out)["status"])


def persons(project: ProjectFolder, run_id: str) -> list[str]:
    """Return who approved calls, by the log of a run."""
    events = json.loads(project.run("runs", "show", run_id).out)["events"]
    return [event["answered_by"] for event in events if event["type"] == "tool_authorization"]


def test_workers_of_two_roles_execute_what_commands_answer_cancel_and_erase(
    runs: ProjectFolder,
) -> None:
    main = runs.path.joinpath("app/main.py").read_text()
    queue = ("--queue", main.split("queue='")[1].split("'")[0])
    address = main.split("TemporalEngine('")[1].split("'")[0]
    runs.write("a.gate", "")
    runs.write("disk.gate", "")
    with working(runs, "--role", "runs", *queue) as first, working(runs, "--role", "activities") as second:
        place = f"{address}, namespace default: task queues"
        assert f"serves runs of {place} {queue[1]}\n" in first.log
        assert f"serves activities of {place} other, {queue[1]}\n" in second.log
        start(runs, "r-1:s-1:work a", "r-2:s-2:wipe disk", "r-3:s-3:ask jo", "r-4:s-4:wipe tape")
        wait_until_over(runs, "r-1")
        assert did(runs) == ["begin a", "end a"]
        wait_until_settled(runs, "r-2", "r-3", "r-4")
        waiting = runs.run("approve").out
        assert all(text in waiting for text in ("disk?", "jo?", "tape?")), waiting
        listed = runs.run("runs", "list").out
        assert ("r-2  waiting  x.agent  session s-2" in listed, "Wipe disk?" in listed) == (True, True), (
            listed
        )
        shown = toolgen(runs, "runs", "show", "r-1")
        assert (shown.code, json.loads(shown.out)["status"]) == (0, "completed"), shown.err

        ids = {line.split()[-1]: line.split()[3] for line in listed.splitlines() if "confirmation" in line}
        done = toolgen(runs, "approve", ids["disk?"], "--yes", "--by", "jo")
        assert (done.code, done.out) == (0, '"disk is empty"\n'), done.err
        assert did(runs)[-1] == "wiped disk"
        assert persons(runs, "r-2") == ["jo"]

        assert runs.run("tools", "disable", "wipe", "--reason", "the tape is full").code == 0
        done = runs.run("approve", ids["tape?"], "--yes")
        assert (done.code, done.out) == (1, '{"error":"wipe is disabled: the tape is full"}\n'), done.err
        assert did(runs)[-1] == "wiped disk"

        done = toolgen(runs, "runs", "cancel", "r-3", "--reason", "enough")
        assert (done.code, done.out.split()[:2]) == (0, ["r-3", "canceled"]), done.err
        assert state(runs, "r-3") == "canceled"

        done = toolgen(runs, "call", "work", '{"name": "a"}')
        assert (done.code, done.out) == (0, '"a is done"\n'), done.err

        done = toolgen(runs, "runs", "erase", "--session", "s-1")
        assert (done.code, "session s-1  " in done.out) == (0, True), done.err
        done = runs.run("runs", "show", "r-1")
        assert (done.code, "no run has the id 'r-1'" in done.err) == (2, True)


def test_commands_say_that_no_worker_may_run(runs: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("runs", "approve"):
        monkeypatch.setattr(f"toolgen.cli.{module}.ELSEWHERE_S", 0.1)
    not_over = "it has not ended; check that a worker is running: toolgen worker\n"
    waiting = "workers execute the runs; waiting at most 30 seconds\n"
    start(runs, "r-1:s-1:work a")
    done = runs.run("runs", "cancel", "r-1")
    assert (done.code, done.err) == (3, waiting + not_over)
    done = runs.run("runs", "resume", "r-1")
    assert (done.code, done.err.startswith(waiting + not_over)) == (3, True)
    with working(runs):
        start(runs, "r-2:s-2:wipe disk")
        wait_until_settled(runs, "r-2")
    done = runs.run("approve", runs.run("approve").out.split()[0], "--yes")
    assert (done.code, waiting in done.err, done.err.endswith(not_over)) == (3, True, True), done.err


def test_a_worker_ends_after_its_call_and_the_next_goes_on(runs: ProjectFolder) -> None:
    with working(runs, "--drain", "30") as worker:
        start(runs, "r-1:s-1:work a")
        worker.has_logged("begin a")
        worker.end(signal.SIGTERM)
        worker.has_logged("the worker: draining")
        runs.write("a.gate", "")
        assert worker.code() == 0
    assert "the worker has ended" in worker.log
    assert state(runs, "r-1") == "running"
    with working(runs):
        wait_until_over(runs, "r-1")
        assert state(runs, "r-1") == "completed"
    assert did(runs) == ["begin a", "end a"]


def test_a_worker_names_the_call_that_it_cuts_off(runs: ProjectFolder) -> None:
    with working(runs, "--drain", "0") as worker:
        start(runs, "r-1:s-1:work a")
        worker.has_logged("begin a")
        worker.end(signal.SIGTERM)
        assert worker.code() == 0
    assert "run r-1: " in worker.log
    assert " of x.tools.work did not end before its worker and was cut off; another worker" in worker.log


def test_a_call_of_a_killed_worker_is_settled(runs: ProjectFolder) -> None:
    with working(runs) as worker:
        start(runs, "r-1:s-1:wipe disk")
        wait_until_settled(runs, "r-1")
        id_ = runs.run("approve").out.split()[0]
        with subprocess.Popen(
            [sys.executable, "-m", "toolgen", "approve", id_, "--yes", "--by", "jo"],
            cwd=runs.path,
            env=surroundings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as approving:
            worker.has_logged("begin to wipe disk")
            worker.end(signal.SIGKILL)
            with working(runs) as second:
                assert approving.wait(PATIENCE_S) == 1
                wait_until_over(runs, "r-1")
                assert persons(runs, "r-1") == ["jo"], "once, although its activity gave no result"
                assert "outcome unknown: " in toolgen(runs, "runs", "list", "--status", "unknown").out
                done = toolgen(runs, "runs", "resolve", "r-1", "call_wipe", "--not-run", "--by", "jo")
                assert done.code == 0, done.err
                assert runs.run("runs", "list", "--status", "unknown").out == ""
                assert "outcome_unknown: its process ended while it was executed" in second.log
                assert "Traceback" not in second.log
    assert did(runs) == []
