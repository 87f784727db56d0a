"""`toolgen runs resolve`: a person says what became of a call whose outcome is unknown."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolgen.agents import Message, ToolMessage
from toolgen.agents.sessions.sqlite import SqliteSessionStore

from .conftest import Done, ProjectFolder
from .runs_project import MAIN, did, start, write_runs


@pytest.fixture
def lost(project: ProjectFolder) -> ProjectFolder:
    """Return a project with a run that was canceled in a call, after a process was killed in it."""
    write_runs(project)
    start(project, "run_1:s-1:work a")
    assert project.run("runs", "cancel", "run_1").code == 0
    return project


def said(folder: Path) -> tuple[Message, ...]:
    """Return what the session store has of the run."""

    async def read() -> tuple[Message, ...]:
        return await SqliteSessionStore(folder / "sessions.db").run_messages("run_1")

    return asyncio.run(read())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        (["--result", '"a is done"'], "ok", '"a is done"'),
        (["--failed", "the press\u00a0jammed"], "error", '{"error":"the press\u00a0jammed"}'),
        (["--not-run"], "error", '{"error":"work was not run"}'),
    ],
)
def test_the_conversation_has_what_became_of_it(
    lost: ProjectFolder, options: list[str], status: str, text: str
) -> None:
    done = lost.run("runs", "resolve", "run_1", "call_work", *options, "--by", "jo")
    assert done == Done(0, f"{text}\n", "")
    last = said(lost.path)[-1]
    assert isinstance(last, ToolMessage)
    (answer,) = last.answers
    assert (answer.id, answer.name, answer.status) == ("call_work", "work", status)
    assert (answer.text, answer.resolved_by) == (text, "jo")
    again = lost.run("runs", "resolve", "run_1", "call_work", "--not-run")
    assert again == Done(2, "", f"error: the outcome of call 'call_work' is known: {status}, says jo\n")
    assert did(lost) == ["begin a"], "nothing was executed"


def test_the_next_turn_sees_it(lost: ProjectFolder) -> None:
    assert lost.run("runs", "resolve", "run_1", "call_work", "--result", '"a is done"').code == 0
    seeing = 'text=" ".join(a.text for m in given.messages for a in getattr(m, "answers", ()))'
    planner = MAIN.replace("text=given.messages[-1].answers[0].text", seeing)
    lost.write("app/main.py", planner)
    lost.write("b.gate", "")
    start(lost, "run_2:s-1:work b")
    assert lost.run("runs", "resume", "run_2").out == "run_2  completed  x.agent  session s-1\n"
    shown = lost.run("runs", "show", "run_2").out
    assert r"\"a is done\" \"b is done\"" in shown
    assert "it may have run" not in shown


def test_a_result_has_to_fit_the_tool(lost: ProjectFolder) -> None:
    done = lost.run("runs", "resolve", "run_1", "call_work", "--result", "7")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: this is not a result of work: ")
    lost.write(
        "app/main.py", MAIN.replace("toolsets=(tools,)", "toolsets=()").replace("tuple(AgentTool", "()#")
    )
    done = lost.run("runs", "resolve", "run_1", "call_work", "--result", '"a is done"')
    assert done.err.startswith(
        "error: the tool 'work' is not available in this process, so its result cannot be checked\n"
    )
    assert lost.run("runs", "resolve", "run_1", "call_work", "--not-run").code == 0


@pytest.mark.parametrize(
    "options",
    [[], ["--not-run", "--failed", "x"], ["--result", "1", "--not-run"]],
)
def test_it_has_to_be_said_once(lost: ProjectFolder, options: list[str]) -> None:
    done = lost.run("runs", "resolve", "run_1", "call_work", *options)
    assert done == Done(
        2,
        "",
        "error: the outcome of the call is missing\n"
        "  hint: add --result JSON, --failed TEXT or --not-run, one of them\n",
    )
    assert lost.run("runs", "resolve", "run_1", "call_work", "--result", "{").code == 2


@pytest.mark.exhaustive
def test_what_is_no_call_without_an_outcome(lost: ProjectFolder) -> None:
    done = lost.run("runs", "resolve", "run_9", "call_work", "--not-run")
    assert (done.code, done.err.splitlines()[0]) == (2, "error: no run has the id 'run_9'")
    done = lost.run("runs", "resolve", "run_1", "call_9", "--not-run")
    assert done.err == (
        "error: the conversation has no call 'call_9' of run run_1\n  hint: its calls are call_work\n"
    )
    lost.write("b.gate", "")
    start(lost, "run_2:s-2:work b", "run_3:s-3:work c", "run_4:s-4:ask Mira")
    assert lost.run("runs", "resume", "run_2").code == 0
    done = lost.run("runs", "resolve", "run_2", "call_work", "--not-run")
    assert (done.code, done.err) == (2, "error: the outcome of call 'call_work' is known: ok\n")
    for run, call in (("run_3", "call_work"), ("run_4", "call_ask")):
        done = lost.run("runs", "resolve", run, call, "--not-run")
        assert done.err == (
            f"error: run {run} is not over, so the outcome of call {call!r} may still come\n"
            "  hint: resume the run, or cancel it\n"
        )


def test_a_conversation_that_ends_with_its_process(lost: ProjectFolder) -> None:
    in_memory = MAIN.replace('SqliteSessionStore("sessions.db")', "MemorySessionStore()")
    lost.write(
        "app/main.py", in_memory.replace("sessions.sqlite import Sqlite", "sessions.memory import Memory")
    )
    done = lost.run("runs", "resolve", "run_1", "call_work", "--not-run")
    assert done.code == 2
    assert done.err.endswith("  hint: store conversations in the file of the engine\n")
