"""An end that is kept later: its loop alone hears of it, and all others begin when it is in the file."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from toolgen.engines import ActivityInfo, CallOptions, InProcessEngine, RunContext
from toolgen.stores import StoreReadOnlyError

LATER = CallOptions(is_durable_later=True)
ONCE = CallOptions(attempts=1, once=True)


class Looking:
    """A run that plans, and goes on as a test says; each step notes what the file has when it begins."""

    def __init__(self, path: Path, then: Callable[[RunContext], Awaitable[Any]]) -> None:
        self.engine = InProcessEngine(path)
        self.seen: dict[str, tuple[set[str], set[str]]] = {}
        """The ends that the file had and the calls that had begun there, by what looked."""
        self._path = path
        self._then = then
        self._news = asyncio.Event()

    def look(self, who: str) -> None:
        with closing(sqlite3.connect(self._path)) as database:
            ends = {op for (op,) in database.execute("SELECT op FROM op")}
            self.seen[who] = ends, {op for (op,) in database.execute("SELECT op FROM attempt WHERE begun")}
        self._news.set()

    async def has(self, who: str) -> None:
        """Return once somebody has looked."""
        while who not in self.seen:
            self._news.clear()
            await self._news.wait()

    async def run(self) -> None:
        await self.start()
        assert (await self.engine.result("r")).state == "completed"
        await self.engine.close()

    async def start(self) -> None:
        self.engine.register(
            loops={"plans": self._plans, "below": self._below},
            activities={"plan": self._plan, "tool": self._tool, "other": self._other},
            on_event=lambda run_id, loop, offset, event: self.look(str(event.get("type"))),
        )
        await self.engine.start()
        await self.engine.start_run("plans", {}, run_id="r")

    async def _plans(self, ctx: RunContext, given: Any) -> Any:
        await ctx.start("plan:0", "plan", {}, LATER)
        self.look("loop")
        return await self._then(ctx)

    async def _below(self, ctx: RunContext, given: Any) -> Any:
        await ctx.start("other", "other", "below")
        return given

    async def _plan(self, info: ActivityInfo, given: Any) -> Any:
        return given

    async def _tool(self, info: ActivityInfo, given: Any) -> Any:
        self.look("before")
        await (info.begun() if given == "begun" else info.wait_for_durable_inputs())
        self.look("effect")
        return given

    async def _other(self, info: ActivityInfo, given: Any) -> Any:
        self.look("effect")
        return given


async def test_a_call_begins_with_the_plan_that_has_led_to_it(tmp_path: Path) -> None:
    looking = Looking(tmp_path / "runs.db", lambda ctx: ctx.start("tool:1", "tool", "begun", ONCE))
    await looking.run()
    assert looking.seen["loop"] == looking.seen["before"] == (set(), set())
    assert looking.seen["effect"] == ({"plan:0"}, {"tool:1"})


@pytest.mark.parametrize(
    "then",
    [
        lambda ctx: ctx.start("tool:1", "tool", "durable", ONCE),
        lambda ctx: ctx.start("other:1", "other", "here"),
        lambda ctx: ctx.child("child:1", "below", {}),
    ],
    ids=["a call that may run twice", "another activity", "a child run"],
)
async def test_nothing_else_begins_before_the_plan_is_kept(
    tmp_path: Path, then: Callable[[RunContext], Awaitable[Any]]
) -> None:
    looking = Looking(tmp_path / "runs.db", then)
    await looking.run()
    assert looking.seen["loop"][0] == set()
    assert "plan:0" in looking.seen["effect"][0]


async def test_a_detached_run_begins_after_the_plan_is_kept(tmp_path: Path) -> None:
    async def then(ctx: RunContext) -> None:
        run_id = await ctx.detach("work:1", "below", {})
        await looking.engine.result(run_id)

    looking = Looking(tmp_path / "runs.db", then)
    await looking.run()
    assert "plan:0" in looking.seen["effect"][0]


async def test_listeners_hear_of_nothing_that_a_killed_process_takes_with_it(tmp_path: Path) -> None:
    heard: list[str] = []

    async def then(ctx: RunContext) -> None:
        await ctx.publish("1", {"type": "first"})
        await ctx.publish("2", {"type": "second"})
        heard.append("" if "first" in looking.seen else "not yet")
        await ctx.start("tool:1", "tool", "begun", ONCE)
        await ctx.publish("3", {"type": "third"})
        assert [*looking.seen][-3:] == ["second", "effect", "third"]  # in their order, and at once again

    looking = Looking(tmp_path / "runs.db", then)
    await looking.run()
    assert heard == ["not yet"]
    assert looking.seen["first"] == looking.seen["second"] == ({"plan:0"}, {"tool:1"})


async def test_listeners_hear_of_events_in_their_order_while_a_commit_takes_long(tmp_path: Path) -> None:
    async def then(ctx: RunContext) -> None:
        with closing(sqlite3.connect(tmp_path / "runs.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await ctx.publish("1", {"type": "first"})
            tool = ctx.start("tool:1", "tool", "begun", ONCE)
            await looking.has("before")
            for _ in range(3):  # until the begin is about to be written
                await asyncio.sleep(0)
            await ctx.publish("2", {"type": "second"})
            other.execute("COMMIT")
        await looking.has("first")
        await ctx.publish("3", {"type": "third"})
        await tool

    looking = Looking(tmp_path / "runs.db", then)
    await looking.run()
    assert [who for who in looking.seen if who in ("first", "second", "third")] == [
        "first",
        "second",
        "third",
    ]


@pytest.mark.parametrize(
    "then",
    [
        lambda ctx: ctx.start("tool:1", "tool", "begun", ONCE),
        lambda ctx: ctx.start("tool:1", "tool", "durable", ONCE),
        lambda ctx: ctx.start("other:1", "other", "here", CallOptions(attempts=1, timeout=0.5)),
        lambda ctx: ctx.child("child:1", "below", {}),
        lambda ctx: ctx.detach("work:1", "below", {}),
    ],
    ids=["a call", "a call that may run twice", "another activity", "a child run", "a detached run"],
)
async def test_a_file_that_cannot_be_written_to_for_a_while_fails_nothing(
    tmp_path: Path, then: Callable[[RunContext], Awaitable[Any]]
) -> None:
    """What follows from a plan begins when that is written at last, with all of its time."""
    is_over = asyncio.Event()

    def set_read_only(is_read_only: bool) -> None:
        for database in [each for each in gc.get_objects() if isinstance(each, sqlite3.Connection)]:
            with suppress(sqlite3.ProgrammingError):  # one that is closed
                database.execute(f"PRAGMA query_only = {int(is_read_only)}")

    async def while_read_only(ctx: RunContext) -> None:
        set_read_only(True)
        work = asyncio.ensure_future(then(ctx))
        with pytest.raises(StoreReadOnlyError):
            await looking.engine.start_run("below", {}, run_id="s")
        set_read_only(False)
        try:
            await work
        finally:
            is_over.set()

    looking = Looking(tmp_path / "runs.db", while_read_only)
    await looking.start()
    await is_over.wait()
    assert (await looking.engine.result("r")).state == "completed"
    await looking.engine.close()


async def test_a_run_ends_with_its_last_plan(tmp_path: Path) -> None:
    async def then(ctx: RunContext) -> None:
        pass

    looking = Looking(tmp_path / "runs.db", then)
    await looking.run()
    assert looking.seen["loop"][0] == set()
    assert looking.seen["run_stream_end"][0] == {"plan:0"}


async def test_in_memory_all_is_kept_at_once() -> None:
    async def loop(ctx: RunContext, given: Any) -> Any:
        await ctx.start("plan:0", "plan", {}, LATER)
        await ctx.publish("1", {"type": "first"})
        return [*types]

    async def plan(info: ActivityInfo, given: Any) -> Any:
        await info.wait_for_durable_inputs()
        return given

    types: list[Any] = []
    engine = InProcessEngine()
    engine.register(
        loops={"plans": loop},
        activities={"plan": plan},
        on_event=lambda run_id, loop, offset, event: types.append(event["type"]),
    )
    await engine.start()
    await engine.start_run("plans", {}, run_id="r")
    assert (await engine.result("r")).output == ["first"]
    await engine.close()
