"""`toolgen approve --grant` and `toolgen grants`: an approval counts for further calls."""

from __future__ import annotations

import json
from typing import Final

import pytest

from toolgen.cli.timeline import timeline

from .conftest import ProjectFolder

MAIN: Final = '''\
from pathlib import Path

from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import ConfirmSpec, Runtime
from toolgen.runtime.functions import func_tool, function_toolset


async def write(path: str) -> str:
    """Write a file."""
    return f"wrote {path}"


def runtime() -> Runtime:
    made = Runtime(engine=InProcessEngine("runs.db"), events=Events())
    confirm = ConfirmSpec(hint="Write {path}?", grantable=True)
    made.tools.register(function_toolset("x.disk", [func_tool(write, toolset="x.disk", confirm=confirm)]))
    return made
'''
BELOW: Final = json.dumps({"pattern": {"/path": {"path_prefix": "/srv"}}, "uses": 2, "expires_s": 3600})


@pytest.fixture
def disk(project: ProjectFolder) -> ProjectFolder:
    project.write("app/main.py", MAIN)
    return project


def write(disk: ProjectFolder, path: str) -> tuple[int, str]:
    done = disk.run("call", "write", json.dumps({"path": path}), "--session", "s")
    return done.code, done.err


def asked(disk: ProjectFolder) -> str:
    """Make a call that waits, and return its id."""
    code, said = write(disk, "/srv/a")
    assert code == 3
    assert '"grant": {"pattern": object' in said
    return said.rpartition("toolgen approve ")[2].split()[0]


def granted(disk: ProjectFolder) -> str:
    """Grant further calls, and return the id of the grant."""
    done = disk.run("approve", asked(disk), "--grant", BELOW, "--yes", "--by", "mi\x1bra")
    assert (done.code, done.out) == (0, '"wrote /srv/a"\n'), done.err
    grant: str = json.loads(disk.run("grants", "list", "--json").out)["id"]
    return grant


def test_an_approval_counts_for_further_calls_until_it_is_revoked(disk: ProjectFolder) -> None:
    assert disk.run("grants", "list").err == "no active grants\n"
    grant = granted(disk)
    code, said = write(disk, "/srv/b")
    assert code == 0
    assert r"approved by mi\u001bra at " in said
    assert write(disk, "/etc/b")[0] == 3
    (line,) = disk.run("grants", "list", "--session", "s").out.splitlines()
    assert line.startswith(f"{grant}  x.disk.write  session s  1 of 2 uses until ")
    assert r"  approved by mi\u001bra at " in line
    assert line.endswith('  path is "/srv" or a path below it')
    assert disk.run("grants", "list", "--session", "t").out == ""
    assert (disk.run("grants", "revoke", grant).out) == f"revoked {grant}\n"
    assert disk.run("grants", "list").out == ""
    assert write(disk, "/srv/b")[0] == 3


def test_the_timeline_of_a_run_says_who_granted_a_call() -> None:
    facts = {"type": "tool_authorization", "time": 1.0, "tool": "x.disk.write", "answered_by": "mira"}
    reason = "approved by mira at 2026-01-02 03:04:05 UTC"
    event = {**facts, "decision": "approved", "decided_by": "person", "reason": reason, "grant_id": "grant_1"}
    assert timeline([event], is_over=True)[1].endswith(f"  write is {reason}")
    assert timeline([{**event, "grant_id": ""}], is_over=True)[1].endswith("  write is approved by mira")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ('{"uses": 2}', "the answer does not fit"),
        (
            '{"uses": 2, "expires_s": 60, "pattern": {"path": {"equal": 1}}}',
            "write the place as a JSON Pointer",
        ),
        ("{uses: 2}", """quote it for the shell: --grant '{"uses": 5, "expires_s": 3600}'"""),
    ],
)
def test_terms_that_do_not_fit_are_refused_and_nothing_runs(
    disk: ProjectFolder, option: str, said: str
) -> None:
    call = asked(disk)
    done = disk.run("approve", call, "--grant", option, "--yes")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert disk.run("approve", call, "--yes").code == 0


def test_a_grant_is_part_of_an_approval(disk: ProjectFolder) -> None:
    for options in (("--cancel",), ("--answer", '{"approved": true}'), ("--deny",)):
        done = disk.run("approve", "4a9f3a", "--grant", BELOW, *options)
        assert (done.code, done.out) == (2, "")
        assert "combined with" in done.err
    assert disk.run("approve", "--grant", BELOW).code == 2
    done = disk.run("grants", "revoke", "grant_x\x1b[2J")
    assert (done.code, done.out) == (2, "")
    assert "there is no grant 'grant_x\\x1b[2J'" in done.err
