"""What only the engine in memory does: it forgets, it replays, and it survives what shares its event loop."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.work import work_of
from toolgen.engines import InProcessEngine
from toolgen.runtime.engine import (
    ActivityInfo,
    Engine,
    EngineError,
    NondeterminismError,
    RunContext,
    UnknownRunError,
)

from .clock import ManualClock
from .starting import StartEngine
from .toys import Toys, call, play


@pytest.fixture
async def memory(engine: Engine) -> InProcessEngine:
    assert isinstance(engine, InProcessEngine)
    return engine


def test_it_says_what_it_can() -> None:
    engine: Engine = InProcessEngine(max_payload_bytes=9)
    assert (engine.name, engine.caps.is_durable, engine.caps.has_many_workers) == ("in-process", False, False)


async def test_it_forgets_the_oldest_runs_with_their_children(toys: Toys) -> None:
    engine = InProcessEngine(keep_runs=2)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await play(engine, [{"wait": ["go"]}], run_id="waits")
    for id_ in "abc":
        await play(engine, [{"child": []}], run_id=id_)
        assert (await engine.result(id_)).state == "completed"
    for forgotten in ("a", "a/child:0"):
        with pytest.raises(UnknownRunError):
            await engine.status(forgotten)
    kept = [run.run_id for run in await engine.list_runs()]
    assert kept == ["c/child:0", "c", "b/child:0", "b", "waits"]
    await engine.close()


async def test_whoever_waits_for_a_run_gets_it_although_it_is_forgotten(toys: Toys) -> None:
    engine = InProcessEngine(keep_runs=0)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await play(engine, [{"publish": {"type": "x"}}], run_id="r")
    events = engine.events("r")
    assert (await engine.result("r")).state == "completed"
    assert [event["type"] async for _, event in events] == ["x", "run_stream_end"]
    with pytest.raises(UnknownRunError):
        await engine.status("r")
    await engine.close()


async def test_a_replay_gives_the_same_and_does_nothing(memory: InProcessEngine, toys: Toys) -> None:
    steps = [
        {"calls": [call("a", emit=2), call("b", fail_until=2), call("c", is_fatal=True)]},
        {"publish": {"type": "told"}},
        {"parts": [{"wait": ["x"], "call": call("d")}, {"call": call("e")}]},
        {"wait": ["y"], "timeout_s": 0.01},
        {"child": [{"calls": [call("f")]}]},
        {"child": [{"raise": "?"}]},
        {"publish": {"type": "run_completed"}},
    ]
    await play(memory, steps, run_id="r")
    await memory.settled("r")
    await memory.signal("r", "x", 1, signal_id="1")
    before = await memory.result("r")
    done, events = list(toys.log), [event async for event in memory.events("r")]
    assert await memory.replay("r") == before.output
    assert toys.log == done
    assert [event async for event in memory.events("r")] == events
    assert await memory.status("r") == before


async def test_the_clock_of_a_loop_is_what_it_has_seen(memory: InProcessEngine, toys: Toys) -> None:
    await memory.start_run("clock", None, run_id="r")
    output = (await memory.result("r")).output
    assert isinstance(output, dict)
    assert await memory.replay("r") == output  # though its parts hear of their results in another order
    assert output["times"] == sorted(set(output["times"]))  # type: ignore[arg-type, type-var]  # they are numbers


async def test_a_sleep_ends_when_it_was_to_end(toys: Toys) -> None:
    engine = InProcessEngine(clock=lambda: 1000.0)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await engine.start_run("clock", None, run_id="r")
    output = (await engine.result("r")).output
    assert output == {"times": [1000.0, 1000.0, 1000.05], "parts": [[1000.0] * 2] * 2}
    await engine.close()


async def test_nothing_is_left_of_a_run_that_is_over(memory: InProcessEngine) -> None:
    parts = [{"wait": ["go"]}, {"wait": [], "timeout_s": 60}, {"call": call("a", gate="never")}]
    for number, last in enumerate(({"raise": "?"}, {"wait": ["cancel"]})):
        await play(memory, [{"parts": [*parts, {"parts": [last]}]}], run_id=f"r{number}")
        await asyncio.sleep(0.02)
        await memory.cancel(f"r{number}")
        await asyncio.sleep(0.02)
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_runs_that_are_over_cost_nothing_when_waits_are_listed(memory: InProcessEngine) -> None:
    await play(memory, [{"wait": ["go"], "about": "x"}], run_id="waits")
    await memory.settled("waits")
    few = await work_of(memory.open_waits)
    for number in range(50):
        await play(memory, [], run_id=f"r{number}")
        await memory.result(f"r{number}")
    many = await work_of(memory.open_waits)
    assert many.total < 1.5 * few.total  # SQLite may read its schema again


async def test_a_reader_ends_with_its_run_although_its_log_ended_before(
    memory: InProcessEngine, follow: Callable[..., Awaitable[list[object]]]
) -> None:
    await play(memory, [{"publish": {"type": "run_stream_end"}}, {"wait": ["go"]}], run_id="r")
    reading = asyncio.ensure_future(follow(memory, "r"))
    await memory.settled("r")
    await asyncio.sleep(0.02)
    assert not reading.done()
    await memory.signal("r", "go", 1, signal_id="1")
    assert await asyncio.wait_for(reading, 60) == [(1, {"type": "run_stream_end"})]


async def test_a_replay_finds_what_is_different(memory: InProcessEngine, toys: Toys) -> None:
    await memory.start_run("changed", {}, run_id="r")
    await memory.result("r")
    toys.is_changed = True
    with pytest.raises(
        NondeterminismError,
        match="run r does 'tool:1' with something else, but its journal has something else",
    ):
        await memory.replay("r")
    assert (await memory.status("r")).state == "completed"
    await play(memory, [{"wait": ["go"]}], run_id="waits")
    with pytest.raises(EngineError, match="not completed"):
        await memory.replay("waits")


async def test_a_replay_finds_another_kind_of_operation(toys: Toys) -> None:
    waits = False

    async def turns(ctx: RunContext, arg: object) -> None:
        if waits:
            await ctx.wait("one", timeout_s=0)
        else:
            await ctx.start("one", "tool", call("a"))

    engine = InProcessEngine()
    engine.register(loops={"turns": turns}, activities=toys.activities())
    await engine.start()
    await engine.start_run("turns", None, run_id="r")
    await engine.result("r")
    waits = True
    with pytest.raises(NondeterminismError, match="run r does 'one' as wait, not as tool"):
        await engine.replay("r")
    await engine.close()


async def test_a_replay_finds_what_is_new(toys: Toys) -> None:
    steps = 1

    async def grows(ctx: RunContext, arg: object) -> int:
        for step in range(steps):
            await ctx.wait(f"wait:{step}", timeout_s=0)
            await ctx.publish(f"event:{step}", {"type": "x"})
        return 1 if steps < 3 else 2

    async def tells(ctx: RunContext, arg: object) -> int:
        for step in range(steps):
            await ctx.publish(f"event:{step}", {"type": "x"})
        return 1

    async def counts(ctx: RunContext, arg: object) -> int:
        return steps

    engine = InProcessEngine()
    engine.register(loops={"grows": grows, "tells": tells, "counts": counts}, activities={})
    await engine.start()
    for loop in ("grows", "tells", "counts"):
        await engine.start_run(loop, None, run_id=loop)
        await engine.result(loop)
    steps = 2
    with pytest.raises(NondeterminismError, match="run grows never did 'wait:1'"):
        await engine.replay("grows")
    with pytest.raises(NondeterminismError, match="run tells never published 'event:1'"):
        await engine.replay("tells")
    with pytest.raises(NondeterminismError, match="run counts returned another result than before"):
        await engine.replay("counts")
    await engine.close()


async def test_an_activity_may_break_off_by_itself(toys: Toys) -> None:
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

    engine = InProcessEngine()
    engine.register(
        loops={"both": both},
        activities={"leaves": leaves, "cancels": cancels, "speechless": speechless},
    )
    await engine.start()
    await engine.start_run("both", None, run_id="r")
    assert (await engine.result("r")).output == [
        "leaves: CancelledError: ",
        "cancels: CancelledError: ",
        "speechless: MuteError: it cannot say why",
    ]
    await engine.close()


async def test_a_tool_that_ignores_its_end_does_not_hold_up_the_engine(
    memory: InProcessEngine, toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    async def deaf(info: ActivityInfo, arg: object) -> None:
        while not toys.is_changed:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    engine = InProcessEngine()
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
    memory: InProcessEngine, caplog: pytest.LogCaptureFixture
) -> None:
    await play(memory, [{"calls": [call("a", is_fatal=True)]}], run_id="r")
    await memory.result("r")
    (told,) = [record for record in caplog.records if record.name == "toolgen.engines"]
    assert told.getMessage() == "run r: tool:a failed: NonRetryableError: no such house"
    assert told.exc_info is None, "nobody looks for a mistake in a program"


async def test_an_activity_that_is_not_registered_ends_the_run() -> None:
    """There is no other worker that may have it."""

    async def loop(ctx: RunContext, arg: object) -> object:
        return await ctx.start("tool:1", "hammer", None)

    engine = InProcessEngine()
    engine.register(loops={"loop": loop}, activities={})
    await engine.start()
    await engine.start_run("loop", None, run_id="r")
    status = await engine.result("r")
    assert (status.state, "no activity is registered as 'hammer'" in status.error) == ("failed", True)
    await engine.close()
