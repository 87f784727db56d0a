"""Commands and calls whose outcome is unknown: they are found, and settled."""

from __future__ import annotations

import json

import pytest

from tests.selection import first

from .conftest import ProjectFolder
from .forked import run_forked
from .runs_project import MAIN, start, write_runs

WAITS = 'while not Path(f"{name}.gate")'
FAILING = MAIN.replace(WAITS, f"os._exit(9)\n    {WAITS}")
"""Whose `wipe` ends its process in the middle."""
APPROVE = """\
import asyncio
from app.main import runtime


async def approve() -> None:
    async with runtime() as made:
        (asked,) = await made.suspensions.list()
        await made.suspensions.answer(asked.token, {"approved": True}, by="jo")


asyncio.run(approve())
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_of_agent", first([True, False]))
def test_an_unknown_outcome_is_found_and_settled(project: ProjectFolder, is_of_agent: bool) -> None:
    write_runs(project)
    if is_of_agent:
        start(project, "run_1:s-1:wipe disk")
    else:
        assert project.run("call", "wipe", '{"name": "disk"}').code == 3
    project.write("app/main.py", FAILING)
    project.write("approve.py", APPROVE)
    run = project.run("runs", "list").out.split()[0]
    call = ["call_wipe"] if is_of_agent else []
    run_forked("approve.py", ends_with=9)
    project.write("app/main.py", MAIN)
    resumed = project.run("runs", "resume", run)
    command = " ".join(["toolgen runs resolve", run, *call])
    options = "(--result JSON | --failed TEXT | --not-run)"
    settle = f"  outcome unknown: x.tools.wipe; record it with: {command} {options}"
    assert (resumed.code, resumed.out.splitlines()[1]) == (1, settle)
    assert settle in project.run("runs", "list", "--status", "unknown").out
    shown = json.loads(project.run("runs", "show", run).out)
    assert (len(shown["unknown_calls"]), shown["resolved"]) == (1, [])
    assert [event["answered_by"] for event in shown["events"] if event["type"] == "tool_authorization"] == [
        "jo"
    ]
    done = project.run("runs", "resolve", run, *call, "--not-run", "--by", "mira")
    assert (done.code, done.out) == (0, '{"error":"wipe was not run"}\n')
    shown = json.loads(project.run("runs", "show", run).out)
    assert shown["unknown_calls"] == []
    assert [(end["status"], end["resolved_by"]) for end in shown["resolved"]] == [("error", "mira")]
    assert shown["resolved"][0]["time"] >= max(event.get("time", 0.0) for event in shown["events"]) > 0
    assert project.run("runs", "list", "--status", "unknown").out == ""
    again = project.run("runs", "resolve", run, *call, "--failed", "no", "--by", "jo")
    assert again.code == 2
    known = f"the outcome of {f'call {call[0]!r}' if call else 'the call'} is known: error, says mira"
    assert known in again.err
