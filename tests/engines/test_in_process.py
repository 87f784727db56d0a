"""Engines in this process: they survive what shares their event loop, in memory and in a file."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.work import work_of
from toolgen.engines import OUTCOME_UNKNOWN, ActivityInfo, CallOptions, InProcessEngine, RunContext
from toolgen.engines.in_process.store import PAGE

from .clock import ManualClock
from .conftest import Make
from .starting import StartEngine
from .toys import Toys, abouts, call, play


def test_it_says_what_it_can(make_engine: Make) -> None:
    engine = make_engine(max_payload_bytes=9)
    assert (engine.name, engine.caps.has_many_workers, engine.caps.max_payload_bytes) == (
        "in-process",
        False,
        9,
    )
    assert engine.caps.is_durable == (engine.file is not None)


async def test_whoever_waits_for_a_run_gets_it_although_it_is_forgotten(
    toys: Toys, follow: Callable[..., Awaitable[list[tuple[int, object]]]], make_engine: Make
) -> None:
    engine = make_engine(keep_runs=0)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await play(engine, [{"publish": {"type": "x"}}], run_id="r")
    reading = asyncio.ensure_future(follow(engine, "r"))
    assert (await engine.result("r")).state == "completed"
    assert [event for _, event in await reading] == [{"type": "x"}, {"type": "run_stream_end"}]
    await engine.close()


async def test_a_sleep_ends_when_it_was_to_end(toys: Toys, make_engine: Make) -> None:
    engine = make_engine(clock=lambda: 1000.0)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await engine.start_run("clock", None, run_id="r")
    output = (await engine.result("r")).output
    assert output == {"times": [1000.0, 1000.0, 1000.05], "parts": [[1000.0] * 2] * 2}
    await engine.close()


async def test_nothing_is_left_of_a_run_that_is_over(in_process: InProcessEngine) -> None:
    parts = [{"wait": ["go"]}, {"wait": [], "timeout_s": 60}, {"call": call("a", gate="never")}]
    for number, last in enumerate(({"raise": "?"}, {"wait": ["cancel"]})):
        await play(in_process, [{"parts": [*parts, {"parts": [last]}]}], run_id=f"r{number}")
        await asyncio.sleep(0.02)
        await in_process.cancel(f"r{number}")
        await asyncio.sleep(0.02)
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_runs_that_are_over_cost_nothing_when_waits_are_listed(in_process: InProcessEngine) -> None:
    await play(in_process, [{"wait": ["go"], "about": "x"}], run_id="waits")
    await in_process.settled("waits")
    await work_of(
        in_process.open_waits
    )  # Python 3.12.1 counts no instructions of a code that was not traced before
    few = await work_of(in_process.open_waits)
    for number in range(50):
        await play(in_process, [], run_id=f"r{number}")
        await in_process.result(f"r{number}")
    many = await work_of(in_process.open_waits)
    assert many.total < 1.5 * few.total  # SQLite may read its schema again


async def test_others_go_on_while_many_waits_are_listed(in_process: InProcessEngine) -> None:
    waits = [{"wait": [f"go:{number}"], "about": number} for number in range(3 * PAGE)]
    await play(in_process, [{"parts": waits}], run_id="r")
    await in_process.settled("r")
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.ensure_future(others())
    listed = await in_process.open_waits(limit=2 * PAGE + 50)
    task.cancel()
    assert [wait.about for wait in listed] == [*range(2 * PAGE + 50)]
    assert turns >= 2
    assert len(await in_process.open_waits(limit=1000)) == 3 * PAGE


async def test_a_reader_ends_with_its_run_although_its_log_ended_before(
    in_process: InProcessEngine, follow: Callable[..., Awaitable[list[object]]]
) -> None:
    await play(in_process, [{"publish": {"type": "run_stream_end"}}, {"wait": ["go"]}], run_id="r")
    reading = asyncio.ensure_future(follow(in_process, "r"))
    await in_process.settled("r")
    await asyncio.sleep(0.02)
    assert not reading.done()
    await in_process.signal("r", "go", 1, signal_id="1")
    assert await asyncio.wait_for(reading, 60) == [(1, {"type": "run_stream_end"})]


async def test_a_run_waits_while_nobody_executes_it_and_hears_of_a_signal_once(
    in_process: InProcessEngine,
) -> None:
    await play(in_process, [{"wait": ["go"], "about": "x"}, {"wait": ["go"], "timeout_s": 5.0}], run_id="r")
    await in_process.settled("r")
    await in_process.close()
    await in_process.start(worker=False)
    status = await in_process.status("r")
    assert (status.state, abouts(status)) == ("waiting", ("x",))
    await in_process.signal("r", "go", 1, signal_id="1")
    await in_process.close()
    await in_process.start()
    assert (await in_process.result("r")).output == [{"go": 1}, None]


async def test_an_activity_may_break_off_by_itself(toys: Toys, make_engine: Make) -> None:
    """Its own cancellation is a failure like others; the engine's is not."""

    async def leaves(info: ActivityInfo, arg: object) -> None:
        raise asyncio.CancelledError

    async def cancels(info: ActivityInfo, arg: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    async def speechless(info: ActivityInfo, arg: object) -> None:
        class MuteError(Exception):
            def __str__(self) -> str:
                raise TypeError

        raise MuteError

    async def both(ctx: RunContext, arg: object) -> list[str]:
        names = ["leaves", "cancels", "speechless"]
        got = await ctx.gather(*(ctx.start(name, name, None) for name in names))
        return [str(one) for one in got]

    engine = make_engine()
    engine.register(
        loops={"both": both},
        activities={"leaves": leaves, "cancels": cancels, "speechless": speechless},
    )
    await engine.start()
    await engine.start_run("both", None, run_id="r")
    assert (await engine.result("r")).output == [
        "leaves: CancelledError: ",
        "cancels: CancelledError: ",
        "speechless: MuteError: its text cannot be read",
    ]
    await engine.close()


async def test_a_tool_that_ignores_its_end_does_not_hold_up_the_engine(
    toys: Toys, caplog: pytest.LogCaptureFixture, make_engine: Make
) -> None:
    async def deaf(info: ActivityInfo, arg: object) -> None:
        while not toys.is_changed:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    engine = make_engine()
    engine.register(loops=toys.loops(), activities={"tool": deaf})
    await engine.start()
    await play(engine, [{"calls": [call("a")]}], run_id="r")
    await asyncio.sleep(0.01)
    async with asyncio.timeout(60):
        await engine.close()
    assert "r/tool:a ignores its cancellation" in caplog.text
    toys.is_changed = True
    await asyncio.sleep(0.1)


@pytest.mark.parametrize("name", [None, "runs.db"])
def test_it_goes_on_in_another_event_loop(toys: Toys, tmp_path: Path, name: str | None) -> None:
    """An event loop that ends takes its tasks with it; the runs are still there."""
    engine = InProcessEngine(None if name is None else tmp_path / name)
    engine.register(loops=toys.loops(), activities=toys.activities())

    names = [f"b{number}" for number in range(20)]

    async def first() -> None:
        await engine.start()
        calls = [call("a"), *(call(id_, gate="b") for id_ in names)]
        await play(engine, [{"calls": calls}], run_id="r")
        await toys.until(lambda: len(toys.counts("start")) == 21)

    async def second() -> object:
        toys.open("b")
        await engine.start()
        output = (await engine.result("r")).output
        await engine.close()
        return output

    asyncio.run(first())
    assert toys.counts("cancel") == dict.fromkeys(names, 1)
    toys._gates.clear()  # they belong to the first
    assert asyncio.run(second()) == [[{"id": id_, "ok": True} for id_ in ("a", *names)]]
    assert toys.counts("start") == {"a": 1, **dict.fromkeys(names, 2)}


async def test_runs_know_nothing_of_the_context_of_their_client(
    start_engine: StartEngine, toys: Toys
) -> None:
    """As with an engine in another process: only JSON crosses the seam."""
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")

    async def tool(info: object, arg: object) -> str:
        return who.get()

    toys.tool = tool  # type: ignore[method-assign]  # another activity under the name
    engine = await start_engine(is_started=False)
    who.set("the application")
    await engine.start()
    who.set("a client")
    await play(engine, [{"calls": [call("a")]}], run_id="r")
    assert (await engine.result("r")).output == [["the application"]]


async def test_time_passes_as_its_owner_says(toys: Toys) -> None:
    """In memory, for a file is looked at each second too."""
    clock = ManualClock(1000.0)
    engine = InProcessEngine(clock=clock.time, call_later=clock.call_later)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    steps = [{"calls": [call("a", fail_until=3)]}, {"wait": [], "timeout_s": 3600.0}]
    await play(engine, steps, run_id="r")
    assert [await clock.advance() for _ in range(3)] == pytest.approx([0.01, 0.02, 3600.0])
    assert (await engine.result("r")).output == [[{"id": "a", "ok": True}], None]
    assert clock.time() == pytest.approx(4600.03)
    await engine.close()


async def test_a_failure_that_says_why_is_one_line_of_the_log(
    in_process: InProcessEngine, caplog: pytest.LogCaptureFixture
) -> None:
    await play(in_process, [{"calls": [call("a", is_fatal=True)]}], run_id="r")
    await in_process.result("r")
    (told,) = [record for record in caplog.records if record.name == "toolgen.engines"]
    assert told.getMessage() == "run r: tool:a failed: NonRetryableError: no such house"
    assert told.exc_info is None, "nobody looks for a mistake in a program"


async def test_an_activity_that_is_not_registered_ends_the_run(make_engine: Make) -> None:
    """There is no other worker that may have it."""

    async def loop(ctx: RunContext, arg: object) -> object:
        return await ctx.start("tool:1", "hammer", None)

    engine = make_engine()
    engine.register(loops={"loop": loop}, activities={})
    await engine.start()
    await engine.start_run("loop", None, run_id="r")
    status = await engine.result("r")
    assert (status.state, "no activity is registered as 'hammer'" in status.error) == ("failed", True)
    await engine.close()


async def test_what_has_begun_is_not_tried_again(make_engine: Make) -> None:
    tried: list[int] = []

    async def effect(info: ActivityInfo, arg: Any) -> None:
        tried.append(info.attempt)
        if info.attempt == 2:
            await info.begun()
        raise ConnectionError("no line")

    async def loop(ctx: RunContext, arg: Any) -> Any:
        return str((await ctx.gather(ctx.start("x", "effect", {}, CallOptions(once=True, backoff=0.001))))[0])

    engine = make_engine()
    engine.register(loops={"loop": loop}, activities={"effect": effect})
    await engine.start()
    await engine.start_run("loop", None, run_id="r")
    assert (await engine.result("r")).output == f"x: {OUTCOME_UNKNOWN}: no line"
    await engine.close()
    assert tried == [1, 2]
