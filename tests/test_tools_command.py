"""`toolgen tools`: tools are listed, disabled and enabled, and other processes obey."""

from __future__ import annotations

import re

import pytest

from .conftest import Done, ProjectFolder

MAIN = '''\
from toolgen.runtime import Runtime
from toolgen.capabilities import MemoryStateStore, SqliteStateStore
from toolgen.capabilities import DisabledTools
from toolgen.calls.functions.tools import func_tool, function_toolset


async def wipe(name: str) -> str:
    """Wipe a disk."""
    return f"{name} is empty"


async def shine() -> str:
    """Shine."""
    return "it shines"


class Lamps:
    name = "x.lamps"

    async def tools(self, context):
        return [func_tool(shine, toolset=self.name)]


def runtime() -> Runtime:
    made = Runtime(disabled=DisabledTools(SqliteStateStore("state.db")))
    made.tools.register(function_toolset("x.disks", [wipe]))
    made.tools.add_toolset(Lamps())
    return made
'''


@pytest.fixture
def tools(project: ProjectFolder) -> ProjectFolder:
    project.write("app/main.py", MAIN)
    return project


def test_a_tool_is_disabled_and_enabled_again(tools: ProjectFolder) -> None:
    assert tools.run("tools", "disable", "wipe", "--reason", "Not today.", "--by", "jo") == Done(
        0, "disabled x.disks.wipe\n", ""
    )
    called = tools.run("call", "wipe", '{"name": "a"}')
    assert (called.code, called.out) == (1, '{"error":"wipe is disabled: Not today."}\n')
    disabled, lamps = tools.run("tools", "list").out.splitlines()
    assert re.fullmatch(
        r"x\.disks\.wipe  disabled  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC  by jo  Not today\.", disabled
    )
    assert lamps == "x.lamps.shine"
    assert tools.run("tools", "list", "--disabled").out == f"{disabled}\n"
    assert tools.run("tools", "enable", "x.disks.wipe") == Done(0, "enabled x.disks.wipe\n", "")
    assert tools.run("tools", "list") == Done(0, "x.disks.wipe\nx.lamps.shine\n", "")
    assert tools.run("tools", "list", "--disabled") == Done(0, "", "no tool is disabled\n")
    assert tools.run("call", "wipe", '{"name": "a"}').code == 0


def test_a_tool_of_a_dynamic_toolset_is_disabled(tools: ProjectFolder) -> None:
    assert tools.run("tools", "disable", "shine", "--reason", "dark").out == "disabled x.lamps.shine\n"
    assert "x.lamps.shine  disabled" in tools.run("tools", "list").out


def test_an_unknown_tool_is_refused_with_close_names(tools: ProjectFolder) -> None:
    for command in (("disable", "wip", "--reason", "x"), ("enable", "wip")):
        done = tools.run("tools", *command)
        assert done.code == 2
        assert done.err == "error: there is no tool 'wip'; similar names: wipe\n"


def test_a_reason_has_to_be_given(tools: ProjectFolder) -> None:
    assert tools.run("tools", "disable", "wipe").code == 2


@pytest.mark.parametrize("command", [("disable", "wipe", "--reason", "x"), ("list", "--disabled")])
def test_a_runtime_without_a_store_says_what_it_needs(tools: ProjectFolder, command: tuple[str, ...]) -> None:
    tools.write("app/main.py", MAIN.replace('disabled=DisabledTools(SqliteStateStore("state.db"))', ""))
    done = tools.run("tools", *command)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: this runtime has no store for disabled tools\n  hint: ")
    assert "SqliteStateStore" in done.err
    assert "with many workers Runtime(disabled=DisabledTools(PostgresStateStore(database)))" in done.err
    assert tools.run("tools", "list") == Done(0, "x.disks.wipe\nx.lamps.shine\n", "")


def test_a_store_in_memory_is_refused(tools: ProjectFolder) -> None:
    tools.write("app/main.py", MAIN.replace('SqliteStateStore("state.db")', "MemoryStateStore()"))
    done = tools.run("tools", "disable", "wipe", "--reason", "x")
    assert done.code == 2
    assert "keeps disabled tools in memory" in done.err
