"""Plans are in the file with the calls that begin by them, and before anything else that comes of them."""

from __future__ import annotations

import gc
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import agent, calling, running
from toolgen.agents import FinalResponse, ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import Continue, Hook, ToolCall, ToolContext, ToolResult, Verdict


class Desk:
    """Tools that look into the file of the runs each time that one of them is called."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.seen: list[tuple[int, list[str]]] = []
        """How many plans the file had each time, and which calls had begun."""

    def look(self) -> None:
        with closing(sqlite3.connect(self._path)) as database:
            ((plans,),) = database.execute("SELECT count(*) FROM op WHERE what = 'plan'")
            rows = database.execute("SELECT op FROM attempt WHERE begun ORDER BY op")
            self.seen.append((plans, [op for (op,) in rows]))

    async def write(self, text: str) -> str:
        """Write."""
        self.look()
        return text

    async def read(self, text: str) -> str:
        """Read."""
        self.look()
        return text

    def toolset(self) -> Any:
        read = func_tool(self.read, toolset="x.desk", annotations={"read_only": True})
        return function_toolset("x.desk", [func_tool(self.write, toolset="x.desk"), read])


class Looks(Hook):
    """Looks before and after each call."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        self._desk.look()
        return Continue()


class LooksAfter(Looks):
    before_tool = Hook.before_tool

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        self._desk.look()
        return Continue()


WRITE = calling(("write", {"text": "a"}), ("write", {"text": "b"}))
READ = calling(("read", {"text": "a"}), ("read", {"text": "b"}))
UNFIT = calling(("write", {"text": 1}), ("write", {}))


async def test_calls_begin_in_one_commit_with_their_plan(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    desk, statements = Desk(path), list[str]()
    planner = ScriptedPlanner([WRITE, WRITE, FinalResponse(text="done")])
    one = agent("x.agent", planner, desk.toolset())
    async with running(one, engine=InProcessEngine(path)) as (runtime, _):
        for database in [each for each in gc.get_objects() if isinstance(each, sqlite3.Connection)]:
            with suppress(sqlite3.ProgrammingError):  # one that a test before has closed
                database.set_trace_callback(statements.append)
        output = await agents_of(runtime).client("x.agent").one_shot("go")
    assert output.text == "done"
    first = ["tool:call_0_0", "tool:call_0_1"]
    assert desk.seen[:2] == [(1, first)] * 2
    assert desk.seen[2:] == [(2, [*first, "tool:call_1_0", "tool:call_1_1"])] * 2
    # The run; for each round its plan with the begins, and its results; the last plan with the end.
    assert statements.count("BEGIN IMMEDIATE") == 1 + 2 * 2 + 1
    # The run is read when it begins and when it has ended, and not with each of its events.
    assert sum("FROM run WHERE run_id" in each for each in statements) <= 4


@pytest.mark.parametrize(
    ("step", "hook"), [(READ, None), (WRITE, Looks), (UNFIT, LooksAfter)], ids=["read", "hook", "hook after"]
)
async def test_nobody_else_sees_a_call_before_its_plan_is_kept(
    tmp_path: Path, step: Any, hook: type[Looks] | None
) -> None:
    path = tmp_path / "runs.db"
    desk = Desk(path)
    one = agent("x.agent", ScriptedPlanner([step, FinalResponse(text="done")]), desk.toolset())
    hooks = [hook(desk)] if hook else []
    async with running(one, engine=InProcessEngine(path), hooks=hooks) as (runtime, _):
        await agents_of(runtime).client("x.agent").one_shot("go")
    assert desk.seen[:2] == [(1, [])] * 2
