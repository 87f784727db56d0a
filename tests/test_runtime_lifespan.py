"""`runtime` of the settings may be a context manager: each command leaves it when it has done its work."""

from __future__ import annotations

import pytest

from .conftest import Done, ProjectFolder

MAIN = '''\
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

LOG = Path("log.txt")
is_open = False


def note(line):
    print(line)
    with LOG.open("a") as log:
        log.write(line + "\\n")


async def ask() -> str:
    """Ask the server."""
    return "it answers" if is_open else "the connection is closed"


class Listed:
    """A server that lists its tools once it is connected."""

    name = "x.listed"
    is_connected = False

    async def __aenter__(self):
        note("connect")
        self.is_connected = True
        return self

    async def __aexit__(self, *_):
        note("disconnect")
        self.is_connected = False

    async def tools(self, context):
        async def far(city: str) -> str:
            """Ask a far server."""
            return f"far {city}"

        if not self.is_connected:
            raise RuntimeError("not connected")
        return [func_tool(far, toolset=self.name)]


def made():
    runtime = Runtime(engine=InProcessEngine("runs.db"))
    runtime.tools.register(function_toolset("x.asked", [ask]))
    runtime.tools.add_toolset(Listed())
    return runtime


@MANAGER
DEFINE runtime():
    global is_open
    is_open = True
    note("open")
    try:
        yield made()
    finally:
        is_open = False
        note("close")
'''
ASYNC = MAIN.replace("MANAGER", "asynccontextmanager").replace("DEFINE", "async def")
SYNC = MAIN.replace("MANAGER", "contextmanager").replace("DEFINE", "def")


@pytest.fixture(params=[ASYNC, SYNC], ids=["async", "sync"])
def lifespan(project: ProjectFolder, request: pytest.FixtureRequest) -> ProjectFolder:
    project.write("app/main.py", request.param)
    return project


def log(project: ProjectFolder) -> list[str]:
    """Return what the runtime's function has noted, and forget it."""
    file = project.path / "log.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return lines


def test_a_call_is_made_while_it_is_open_and_prints_its_result_alone(lifespan: ProjectFolder) -> None:
    done = lifespan.run("call", "ask", "{}")
    assert done == Done(0, '"it answers"\n', "open\nclose\n")
    assert log(lifespan) == ["open", "close"]


def test_a_call_finds_a_tool_that_a_toolset_lists(lifespan: ProjectFolder) -> None:
    done = lifespan.run("call", "far", '{"city": "Ulm"}')
    assert (done.code, done.out) == (0, '"far Ulm"\n')
    assert log(lifespan) == ["open", "connect", "disconnect", "close"]
    refused = lifespan.run("call", "x.listed.far", '{"city": 5}')
    assert (refused.code, "$.city" in refused.out) == (1, True)
    unknown = lifespan.run("call", "fra", "{}")
    assert (unknown.code, "far" in unknown.out) == (1, True)


def test_a_server_that_is_away_stops_no_call_of_another_tool(project: ProjectFolder) -> None:
    project.write("app/main.py", ASYNC.replace('note("connect")', 'raise OSError("away")'))
    assert project.run("call", "ask", "{}").out == '"it answers"\n'
    done = project.run("call", "far", "{}")
    assert (done.code, done.out) == (2, "")
    assert "x.listed" in done.err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "command",
    [("tools", "list"), ("runs", "list"), ("approve",), ("mcp", "serve"), ("runs", "check")],
    ids=" ".join,
)
def test_each_command_leaves_it(lifespan: ProjectFolder, command: tuple[str, ...]) -> None:
    assert lifespan.run(*command).code == 0
    assert log(lifespan)[0::3] == ["open", "close"]


def test_it_is_left_where_a_command_fails(lifespan: ProjectFolder) -> None:
    assert lifespan.run("approve", "nothing", "--yes").code == 2
    assert log(lifespan) == ["open", "connect", "disconnect", "close"]


def test_what_fails_as_it_closes_is_told_with_its_place(project: ProjectFolder) -> None:
    project.write("app/main.py", ASYNC.replace('note("close")', "1 / 0"))
    done = project.run("call", "ask", "{}")
    assert (done.code, done.out) == (2, '"it answers"\n')
    assert "'app.main:runtime' failed" in done.err
    assert "app/main.py" in done.err


def test_one_that_is_open_already_is_refused(project: ProjectFolder) -> None:
    opened = ASYNC.replace(
        "        yield made()", "        async with made() as runtime:\n            yield runtime"
    )
    project.write("app/main.py", opened)
    done = project.run("runs", "list")
    assert (done.code, done.out) == (2, "")
    assert "'app.main:runtime' returned a runtime that is already open" in done.err
    assert "return it without opening it" in done.err


def test_a_generator_is_told_what_to_write(project: ProjectFolder) -> None:
    project.write("app/main.py", SYNC.replace("@contextmanager\n", ""))
    assert "@contextmanager" in project.run("call", "ask", "{}").err
