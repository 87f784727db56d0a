"""`toolgen approve` of calls in runs that other processes have begun, or execute."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.cli.terminal import typed_json

from .conftest import Done, ProjectFolder
from .runs_project import did, listed_runs, serving, start, write_runs

LISTED = "answer one with: toolgen approve ID\n"


@pytest.fixture
def runs(project: ProjectFolder) -> ProjectFolder:
    write_runs(project)
    project.write("disk.gate", "")
    return project


def waiting_id(runs: ProjectFolder, tool: str) -> str:
    """Return the id of the one call of a tool that waits, as it is listed."""
    lines = runs.run("approve").out.splitlines()
    (found,) = [line.split()[0] for line in lines if f"  x.tools.{tool}  " in line]
    return found


def events(runs: ProjectFolder, run_id: str, type_: str) -> list[dict[str, object]]:
    shown = json.loads(runs.run("runs", "show", run_id).out)
    return [event for event in shown["events"] if event["type"] == type_]


def wiper(runs: ProjectFolder) -> int:
    """Return the id of the process that has executed `wipe`."""
    return int((runs.path / "wiper").read_text("utf-8"))


@pytest.mark.exhaustive
def test_it_is_executed_here_with_its_run_and_no_other_is(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a", "run_2:s-2:ask Mira", "run_3:s-3:wipe disk")
    runs.write("a.gate", "")
    done = runs.run("approve", waiting_id(runs, "wipe"), "--yes", "--by", "jo")
    assert (done.code, done.out) == (0, '"disk is empty"\n')
    assert wiper(runs) == os.getpid()
    assert did(runs) == ["begin a", "wiped disk"], "the call that another run was in is left alone"
    assert listed_runs(runs).out.splitlines()[0] == "run_3  completed  x.agent  session s-3"
    assert listed_runs(runs, "--status", "running").out == "run_1  running  x.agent  session s-1\n"
    assert [event["answered_by"] for event in events(runs, "run_3", "tool_authorization")] == ["jo"]
    assert runs.run("approve").err == LISTED, "another call waits still"
    done = runs.run("approve", waiting_id(runs, "ask"), "--answer", '"a friend"')
    assert (done.code, done.out) == (0, '"Mira is a friend"\n')


def test_what_an_agent_asks_for_a_call_of_its_tool(runs: ProjectFolder) -> None:
    done = runs.run("call", "obey", '{"order": "wipe disk"}')
    id_ = waiting_id(runs, "wipe")
    assert (done.code, done.out) == (3, "")
    assert "Wipe disk?" in done.err
    assert done.err.endswith(f"answer it with: toolgen approve {id_}\n")
    lines = [line.split() for line in runs.run("runs", "list").out.splitlines() if line[0] != " "]
    assert [words[1:3] for words in lines] == [["waiting", "x.agent"], ["waiting", "x.desk.obey"]]
    done = runs.run("approve", id_, "--yes", "--by", "jo")
    assert (done.code, done.out) == (0, '"disk is empty"\n')
    lines = [line.split() for line in runs.run("runs", "list").out.splitlines()]
    assert [words[1] for words in lines] == ["completed", "completed"]


def test_the_worker_executes_it_where_there_is_one(runs: ProjectFolder) -> None:
    start(runs, "run_3:s-3:wipe disk")
    with serving(runs) as server:
        listed = runs.run("approve")
        assert listed.err == LISTED
        assert "  x.tools.wipe  " in listed.out
        done = runs.run("approve", waiting_id(runs, "wipe"), "--yes")
        assert (done.code, done.out) == (0, '"disk is empty"\n')
        assert wiper(runs) == server.process.pid
        assert runs.run("runs", "resume", "run_3").out.startswith("run_3  completed")
        assert runs.run("approve").err == "nothing to approve or answer\n"


def test_a_call_that_takes_its_time_elsewhere(runs: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolgen.cli.approve.ELSEWHERE_S", 0.1)
    start(runs, "run_3:s-3:wipe disk")
    (runs.path / "disk.gate").unlink()
    token = json.loads(runs.run("runs", "show", "run_3").out)["awaiting"][0]["about"]["frozen"]["id"]
    with serving(runs) as server:
        done = runs.run("approve", token, "--yes")
        assert (done.code, done.out) == (3, "")
        assert "\nrun: run_3\n" in done.err
        assert done.err.endswith(
            "another process executes the runs; waiting at most 30 seconds\n"
            "the answer is stored; the result is not known yet\nwait for it with: toolgen runs resume run_3\n"
            "it is still running there\n"
        )
        assert runs.run("approve", token, "--yes").err == (
            f"error: {token!r} was already answered, or can no longer be answered\n"
            "  hint: see its run: toolgen runs show run_3\n"
        )
        server.output.has("begin to wipe disk")
        runs.write("disk.gate", "")
        assert runs.run("runs", "resume", "run_3").out == "run_3  completed  x.agent  session s-3\n"
    assert did(runs) == ["wiped disk"]


def test_a_question_is_taken_back(runs: ProjectFolder) -> None:
    start(runs, "run_2:s-2:ask Mira", "run_3:s-3:wipe disk")
    done = runs.run("approve", waiting_id(runs, "wipe"), "--cancel", "--message", "not today", "--by", "jo")
    assert (done.code, done.out) == (0, '{"error":"not today","code":"canceled"}\n')
    done = runs.run("approve", waiting_id(runs, "ask"), "--cancel")
    assert (done.code, json.loads(done.out)["code"]) == (0, "canceled")
    assert did(runs) == []
    assert runs.run("approve").err == "nothing to approve or answer\n"
    done = runs.run("approve", "0a", "--cancel", "--deny")
    assert done.err.splitlines() == [
        "error: --cancel cannot be combined with an answer",
        "  hint: leave out --deny, --payload, --answer",
    ]


@pytest.mark.parametrize("refusal", ["--deny", "--cancel"])
def test_a_refusal_does_not_approve(runs: ProjectFolder, refusal: str) -> None:
    start(runs, "run_3:s-3:wipe disk")
    id_ = waiting_id(runs, "wipe")
    done = runs.run("approve", id_, "--yes", refusal)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        f"error: --yes cannot be combined with {refusal}",
        "  hint: leave out --yes, which approves the call",
    ]
    assert waiting_id(runs, "wipe") == id_


def test_a_session_and_an_id_that_nothing_has(runs: ProjectFolder) -> None:
    start(runs, "run_3:s-3:wipe disk")
    id_ = waiting_id(runs, "wipe")
    unknown = "  hint: list the suspended calls with `toolgen approve`, or write the whole token\n"
    done = runs.run("approve", id_, "--yes", "--session", "s-1")
    assert done == Done(2, "", f"error: no suspended call has the token or id {id_!r}\n{unknown}")
    assert runs.run("approve", "--session", "s-1").err == "nothing to approve or answer\n"
    assert not Path(runs.path / "wiper").exists()
    assert runs.run("approve", id_, "--deny", "--session", "s-3").code == 0
    assert not Path(runs.path / "wiper").exists()


def test_after_the_end_of_its_session_no_call_is_approved(runs: ProjectFolder) -> None:
    """Whoever ended it was killed before the run was canceled."""
    start(runs, "run_3:s-3:wipe disk")
    id_ = waiting_id(runs, "wipe")
    asyncio.run(SqliteSessionStore(runs.path / "sessions.db").end("s-3"))
    done = runs.run("approve", id_, "--yes")
    assert (done.code, done.out) == (2, "")
    assert "\nerror: the session 's-3' has ended, and the answer was not stored\n" in done.err
    assert did(runs) == []
    done = runs.run("approve", id_, "--cancel", "--message", "it is over")
    assert (done.code, done.out) == (0, '{"error":"it is over","code":"canceled"}\n')


def test_an_approval_that_is_asked_again_stops_a_script(runs: ProjectFolder) -> None:
    start(runs, "run_3:s-3:wipe disk")
    main = (runs.path / "app/main.py").read_text("utf-8")
    runs.write(
        "app/main.py", main.replace("async def wipe(name: str)", "async def wipe(name: str, n: int = 1)")
    )
    done = runs.run("approve", waiting_id(runs, "wipe"), "--yes")
    assert (done.code, done.out) == (3, "")
    assert "\nasked again: the tool has changed since the question was asked\n" in done.err
    assert (
        "(asked again: the tool has changed since the question was asked)\n" in runs.run("runs", "list").out
    )
    assert did(runs) == []


def test_an_answer_to_a_run_that_was_canceled(runs: ProjectFolder) -> None:
    start(runs, "run_3:s-3:wipe disk")
    id_ = waiting_id(runs, "wipe")
    assert runs.run("runs", "cancel", "run_3", "--reason", "no need").code == 0
    assert "toolgen runs show run_3" in runs.run("approve", id_, "--yes").err


def test_a_text_that_is_no_json_is_quoted(runs: ProjectFolder) -> None:
    done = runs.run("approve", "0a", "--answer", "DHL's")
    assert done.code == 2
    assert done.err.endswith("""a JSON string keeps its own quotes: --answer '"DHL'"'"'s"'\n""")


@pytest.mark.parametrize("text", ['{"to": "ACC-1", "to": "ACC-2"}', "0.10000000000000000555", "1e400", "NaN"])
def test_json_that_would_be_sent_as_another_value_is_refused(runs: ProjectFolder, text: str) -> None:
    for command in (
        ("approve", "0a", "--answer"),
        ("approve", "0a", "--payload"),
        ("runs", "resolve", "run_1", "call", "--result"),
    ):
        done = runs.run(*command, text)
        assert (done.code, f"{command[-1]} is not JSON" in done.err) == (2, True), done.err


def test_json_is_sent_as_it_was_typed() -> None:
    for text in ('{"a": [1.50, 1e3, 12345678901234567890, -0.0, 5e-324]}', '"\\ud800"', "null"):
        assert typed_json(text) == json.loads(text)


def test_runs_that_nobody_waits_for_are_pointed_to(runs: ProjectFolder) -> None:
    start(runs, "run_1:s-1:work a")
    assert runs.run("approve").err == (
        "nothing to approve or answer\n"
        "see running or interrupted runs with: toolgen runs list --status running\n"
    )
