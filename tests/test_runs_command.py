"""`toolgen runs`: what an operator sees and does of runs that are kept in a file."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from .conftest import Done, ProjectFolder, in_a_process
from .forked import run_forked
from .runs_project import MAIN, did, listed_runs, serving, start, write_runs
from .terminal import at_a_terminal


@pytest.fixture
def runs(project: ProjectFolder) -> ProjectFolder:
    write_runs(project)
    return project


def waiting_ids(runs: ProjectFolder) -> list[str]:
    """Return the ids of what waits, as `toolgen runs list` has them, the newest first."""
    lines = runs.run("runs", "list").out.splitlines()
    return [line.split()[3] for line in lines if line.startswith("  waits for ")]


def test_runs_are_listed_with_what_they_wait_for(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a", "run_2:s-2:ask Mira", "run_3:s-3:wipe disk")
    done = listed_runs(runs)
    wipe, ask = waiting_ids(runs)
    assert done == Done(
        0,
        "run_3  waiting  x.agent  session s-3\n"
        f"  waits for confirmation: {wipe}  x.tools.wipe  Wipe disk?\n"
        "run_2  waiting  x.agent  session s-2\n"
        f"  waits for input: {ask}  x.tools.ask  Who is Mira?\n"
        "run_1  running  x.agent  session s-1\n",
        "answer a suspended call with: toolgen approve ID\n"
        "if no worker executes these runs, continue them with: toolgen runs resume RUN\n",
    )
    assert listed_runs(runs, "--status", "running").out == "run_1  running  x.agent  session s-1\n"
    assert runs.run("runs", "list", "--session", "s-2").out.startswith("run_2  waiting")
    assert runs.run("runs", "list", "--limit", "1").out.startswith("run_3  waiting")
    assert runs.run("runs", "list", "--session", "s-9") == Done(0, "", "no run of session s-9 is stored\n")
    refused = runs.run("approve", ask, "--deny")
    assert refused.err.endswith(
        "error: this waits for an answer, not for an approval\n"
        "  hint: add --answer JSON, or cancel the call with --cancel\n"
    )
    assert did(runs) == ["begin a"], "nothing was executed"


def test_a_pipe_gets_the_times_of_runs_too(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a", "run_2:s-2:fail this")
    failed, running = runs.run("runs", "list").out.splitlines()
    when = r"  20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC, [\d.]+ s"
    assert re.fullmatch(f"run_1  running  x.agent  session s-1{when} so far", running)
    assert re.fullmatch(f"run_2  failed  x.agent  session s-2{when}  the planner failed: .*", failed)


def test_runs_and_what_waits_are_listed_for_programs(runs: ProjectFolder) -> None:
    """A line has what `toolgen runs show` prints, except events, and what `toolgen approve` shows."""
    start(runs, "run_1:s-1:work a", "run_2:s-2:wipe disk")
    records = [json.loads(line) for line in runs.run("runs", "list", "--format", "json").out.splitlines()]
    assert [run["run_id"] for run in records] == ["run_2", "run_1"]
    for run in records:
        shown = json.loads(runs.run("runs", "show", run["run_id"]).out)
        del shown["events"], shown["resolved"]
        assert [wait.pop("seal") for wait in run["awaiting"]] == ["sealed"] * len(run["awaiting"])
        assert run == shown
    (waits,) = map(json.loads, runs.run("approve", "--format", "json").out.splitlines())
    (frozen,) = [wait["about"]["frozen"] for wait in records[0]["awaiting"]]
    assert waits.items() >= {"id": frozen["id"], "kind": "confirmation", "tool": "x.tools.wipe"}.items()
    assert (waits["run_id"], waits["arguments"], waits["question"]) == (
        "run_2",
        {"name": "disk"},
        "Wipe disk?",
    )
    assert "token" not in waits
    assert runs.run("runs", "list", "--session", "s-9", "--format", "json").out == ""
    done = runs.run("approve", "nobody", "--format", "json")
    assert (done.code, json.loads(done.out)["code"]) == (2, "environment")


@pytest.mark.exhaustive
def test_a_run_that_failed_by_its_planner_has_failed(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:fail this", "run_2:s-2:ask Mira")
    line = "run_1  failed  x.agent  session s-1  the planner failed: I cannot this\n"
    assert listed_runs(runs).out.endswith(line)
    assert listed_runs(runs, "--status", "failed").out == line
    assert runs.run("runs", "list", "--status", "completed") == Done(0, "", "no run is completed\n")
    unknown = runs.run("runs", "list", "--status", "unknown")
    assert unknown == Done(0, "", "no run has a call of unknown outcome\n")
    assert runs.run("runs", "resume", "run_1") == Done(1, line, "")
    shown = json.loads(runs.run("runs", "show", "run_1").out)
    assert (shown["status"], shown["error"]) == ("failed", "the planner failed: I cannot this")


def test_an_operator_trusts_a_clock_that_is_far_ahead_of_the_runs(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:ask Mira")
    released = "SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'released'"
    done = runs.run("runs", "release-clock")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("the runs follow the wall clock again: 20")
    with closing(sqlite3.connect(runs.path / "runs.db")) as database:
        ((at,),) = database.execute(released).fetchall()
    assert at > 1_700_000_000


def test_a_run_that_is_paused_says_how_it_goes_on(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a")
    run_forked("pause.py", "run_1", "s-1")
    runs.write("a.gate", "")
    paused = (
        "run_1  waiting  x.agent  session s-1\n  is paused; a program resumes it with RunHandle.resume()\n"
    )
    assert runs.run("runs", "resume", "run_1") == Done(0, paused, "")
    assert listed_runs(runs) == Done(0, paused, "")


def test_a_call_that_was_answered_waits_for_nobody(runs: ProjectFolder) -> None:
    start(runs, "run_3:s-3:wipe disk")
    runs.write(
        "answer.py",
        "import asyncio\nfrom toolgen.engines import InProcessEngine\nfrom toolgen.runtime import Runtime\n"
        "async def answer():\n"
        "    async with Runtime(engine=InProcessEngine('runs.db', worker=False)) as desk:\n"
        "        (waiting,) = await desk.suspensions.list()\n"
        "        await desk.suspensions.answer(waiting.token, {'approved': True}, wait_s=0.01)\n"
        "asyncio.run(answer())\n",
    )
    (wipe,) = waiting_ids(runs)
    run_forked("answer.py")
    line, answered = listed_runs(runs).out.splitlines()
    assert line == "run_3  running  x.agent  session s-3"
    assert answered == f"  answered, not executed yet: confirmation: {wipe}  x.tools.wipe  Wipe disk?"


def test_a_call_that_no_agent_made_is_a_run_too(
    runs: ProjectFolder, caplog: pytest.LogCaptureFixture
) -> None:
    assert runs.run("call", "wipe", '{"name": "disk"}').code == 3
    line, waits = listed_runs(runs).out.splitlines()
    assert line.startswith("call_")
    assert line.endswith("  waiting  x.tools.wipe")
    assert waits.endswith("x.tools.wipe  Wipe disk?")
    run_id = line.split()[0]
    assert runs.run("runs", "cancel", run_id, "--reason", "no need").out == (
        f"{run_id}  canceled  x.tools.wipe  no need\n"
    )
    assert runs.run("approve").err == "nothing to approve or answer\n"
    assert not caplog.records


def test_a_run_is_shown_with_its_events(runs: ProjectFolder) -> None:
    start(runs, "run_2:s-2:ask Mira")
    shown = json.loads(runs.run("runs", "show", "run_2").out)
    assert (shown["run_id"], shown["status"], shown["session"]) == ("run_2", "waiting", "s-2")
    assert shown["input"]["message"] == "ask Mira"
    assert [event["type"] for event in shown["events"]][-2:] == ["tool_end", "run_phase"]
    assert [event["seq"] for event in shown["events"]] == list(range(1, len(shown["events"]) + 1))
    (wait,) = shown["awaiting"]
    assert [wait["about"]["frozen"]["id"]] == waiting_ids(runs)


@pytest.mark.exhaustive
def test_a_run_is_a_timeline_at_a_terminal_and_a_document_elsewhere(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:fail this\x1b[2J")
    piped = runs.run("runs", "show", "run_1").out
    assert piped.count("\n") == 1
    timeline = at_a_terminal(runs, ["runs", "show", "run_1"]).splitlines()
    assert timeline[-1].endswith(r"failed the planner failed: I cannot this\u001b[2J")
    seen = at_a_terminal(runs, ["runs", "show", "run_1", "--json"], environment={"NO_COLOR": "1"})
    assert seen.splitlines()[1:4] == [
        '  "run_id": "run_1",',
        '  "status": "failed",',
        r'  "error": "the planner failed: I cannot this\u001b[2J",',
    ]
    assert all(line.isprintable() for line in [*timeline, *seen.splitlines()])
    assert json.loads(seen) == json.loads(piped)


def test_what_models_have_written_cannot_move_the_cursor(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1\x1b[2J:ask Mira\x1b[H\n\u202e")
    for done in (runs.run("runs", "list"), runs.run("runs", "resume", "run_1")):
        assert done.code == 0
        assert all(line.isprintable() for line in done.out.splitlines())
        assert r"Mira\u001b[H" in done.out


def test_a_run_is_resumed_here_and_no_other_is(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a", "run_2:s-2:work b", "run_3:s-3:ask Mira")
    runs.write("a.gate", "")
    runs.write("b.gate", "")
    assert runs.run("runs", "resume", "run_1") == Done(0, "run_1  completed  x.agent  session s-1\n", "")
    assert did(runs) == ["begin a", "begin b", "begin a", "end a"]
    assert runs.run("runs", "resume", "run_1").out.startswith("run_1  completed"), "it is over"
    waiting = runs.run("runs", "resume", "run_3")
    assert waiting.out.startswith("run_3  waiting")
    assert waiting.err == "answer a suspended call with: toolgen approve ID\n"
    assert listed_runs(runs, "--status", "running").out == "run_2  running  x.agent  session s-2\n"


def test_a_worker_elsewhere_is_waited_for(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a")
    runs.write("a.gate", "")
    with serving(runs):
        done = runs.run("runs", "resume", "run_1")
        assert done.out == "run_1  completed  x.agent  session s-1\n"
        assert done.err == "another process executes the runs; waiting at most 30 seconds\n"
    assert did(runs) == ["begin a", "begin a", "end a"]


def test_a_run_that_is_canceled_is_not_executed_before(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a", "run_2:s-2:ask Mira")
    done = runs.run("runs", "cancel", "run_1", "--reason", "enough\x1b[2J")
    assert (done.code, done.out) == (0, "run_1  canceled  x.agent  session s-1  enough\\u001b[2J\n")
    line = "run_2  canceled  x.agent  session s-2\n"
    assert runs.run("runs", "cancel", "run_2") == Done(0, line, "")
    assert runs.run("runs", "cancel", "run_2") == Done(
        0, line, "the run had already ended; nothing was canceled\n"
    )
    assert did(runs) == ["begin a"]
    start(runs, "run_3:s-1:ask Mira", "run_4:s-2:ask Mira")  # the turns of the sessions are free


def test_a_worker_elsewhere_cancels(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a")
    with serving(runs):
        assert runs.run("runs", "cancel", "run_1").out == "run_1  canceled  x.agent  session s-1\n"


def test_a_run_whose_question_was_tampered_with_can_be_canceled(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:wipe disk")
    with sqlite3.connect(runs.path / "runs.db") as database:
        database.execute("""UPDATE wait SET about = CAST('{"frozen":{"id":"x"}}' AS BLOB)""")
    assert listed_runs(runs).out == ("run_1  waiting  x.agent  session s-1\n  tampered: x\n")
    assert runs.run("runs", "cancel", "run_1").out == "run_1  canceled  x.agent  session s-1\n"


def test_a_run_that_stands_still_says_why(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a")
    with sqlite3.connect(runs.path / "runs.db") as database:  # as if another version had begun it
        database.execute("UPDATE op SET digest = x'00'")
    done = runs.run("runs", "resume", "run_1")
    assert (done.code, done.out) == (2, "")
    assert "error: run run_1 is stalled: " in done.err
    assert done.err.endswith("  hint: cancel it, or go back to the version that started it\n")
    assert runs.run("runs", "cancel", "run_1").out == "run_1  canceled  x.agent  session s-1\n"


@pytest.mark.parametrize("command", ["show", "resume", "cancel"])
def test_a_run_that_nobody_knows(runs: ProjectFolder, command: str) -> None:
    done = runs.run("runs", command, "run_9")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: no run has the id 'run_9'\n  hint: it may have been erased, ")
    assert runs.run("runs", "list").err == "no run is stored\n"


@pytest.mark.parametrize("engine", ["None", "InProcessEngine()"])
def test_runs_that_end_with_their_process(runs: ProjectFolder, engine: str) -> None:
    runs.write("app/main.py", MAIN.replace('InProcessEngine("runs.db")', engine))
    for command in (["runs", "list"], ["runs", "cancel", "run_1"], ["approve"], ["approve", "0a"]):
        assert runs.run(*command) == Done(
            2,
            "",
            "error: the configured runtime does not keep runs after its process ends\n"
            '  hint: keep the runs in a file: Runtime(engine=InProcessEngine("runs.db")), '
            'or runs = "runs.db" if [tool.toolgen] has no runtime\n',
        )


def test_a_call_that_nobody_can_answer_says_so(runs: ProjectFolder) -> None:
    runs.write("app/main.py", MAIN.replace('InProcessEngine("runs.db")', "InProcessEngine()"))
    done = runs.run("call", "wipe", '{"name": "disk"}')
    assert done.code == 3
    assert "toolgen approve" not in done.err
    assert (
        "it cannot be answered: the configured runtime does not keep runs after its process ends\n"
        in done.err
    )


@pytest.mark.exhaustive
def test_it_is_a_command_of_its_own_process(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a")
    done = in_a_process(runs.path, "-m", "toolgen", "runs", "list")
    assert done.returncode == 0
    assert done.stdout.startswith("run_1  running  x.agent  session s-1  20")
