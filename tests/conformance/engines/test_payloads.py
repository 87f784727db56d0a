"""Payloads about the limit of the engine, and more of them at once than one message to the server holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.api.enums.v1 import WorkflowTaskFailedCause

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys, call, play
from tests.temporal_server import TemporalServer
from toolgen.contract.json_value import Json
from toolgen.engines import (
    ActivityInfo,
    CallOptions,
    Engine,
    EngineError,
    NondeterminismError,
    PayloadTooLargeError,
    RunContext,
)
from toolgen.engines.temporal import TemporalEngine, TemporalLimits

from .processes import ends

LIMIT = 1_000_000
ROOM = 200
"""Bytes for what is around the large text."""
_FINE = (
    WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNSPECIFIED,  # it did not fail
    WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
)
"""The server begins a workflow task again where more than 2 MB came during it."""
Check = Callable[[str], Awaitable[None]]


def text(size: int) -> str:
    return "x" * size


async def giver(ctx: RunContext, given: dict[str, Any]) -> Any:
    """Give and take values of a size, as many at once as asked for."""
    size, count = given["size"], given.get("count", 1)
    match given["what"]:
        case "argument":
            calls = [ctx.start(f"op{number}", "length", text(size)) for number in range(count)]
            return await ctx.gather(*calls)
        case "result":
            options = CallOptions(attempts=2, backoff=0.01)
            calls = [ctx.start(f"op{number}", "large", size, options) for number in range(count)]
            return [_size(got) for got in await ctx.gather(*calls)]
        case "child":
            below = {"what": "output", "size": size}
            children = [ctx.child(f"child{number}", "giver", below) for number in range(count)]
            return [_size(got) for got in await ctx.gather(*children)]
        case "input":
            return _size(await ctx.child("child", "measure", text(size)))
        case "event":
            for number in range(count):
                await ctx.publish(f"event{number}", {"type": "large", "text": text(size), "number": number})
            return count
        case "about":
            waits = [ctx.wait(f"wait{number}", f"go{number}", about=text(size)) for number in range(count)]
            return len(await ctx.gather(*waits))  # type: ignore[arg-type]  # signals
        case "all":
            await ctx.publish("event", {"type": "large", "text": text(1_490_000)})
            started = [ctx.start(f"op{number}", "length", text(size)) for number in range(2)]
            apart = await ctx.detach("apart", "measure", text(490_000))
            assert apart
            waits = [ctx.wait(f"wait{number}", "go", about=text(size), timeout_s=0.01) for number in range(2)]
            await asyncio.gather(*waits)
            return await ctx.gather(*started)
        case "deep event":
            await ctx.publish("event", {"type": "deep", "value": deep(size)})
            return count
        case "deep about":
            await ctx.wait("wait", "go", about=deep(size), timeout_s=0.01)
            return count
        case _:
            return text(size)


def deep(levels: int) -> Json:
    """Return lists within lists."""
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


async def measure(ctx: RunContext, given: str) -> int:
    return len(given)


def _size(got: Any) -> Any:
    return len(got) if isinstance(got, str) else str(got)


async def length(info: ActivityInfo, arg: str) -> int:
    return len(arg)


async def large(info: ActivityInfo, size: int) -> str:
    return text(size)


@pytest.fixture
async def engine(start_engine: StartEngine, toys: Toys) -> Engine:
    engine = with_givers(await start_engine(is_started=False))
    await engine.start()
    return engine


def with_givers(engine: Engine) -> TemporalEngine:
    """Return an engine that has these loops and activities, too."""
    assert isinstance(engine, TemporalEngine)
    registered = engine._require_registered()
    registered.loops.update(giver=giver, measure=measure)  # type: ignore[attr-defined]  # a dictionary
    registered.activities.update(length=length, large=large)  # type: ignore[attr-defined]  # another one
    return engine


@pytest.fixture
def no_failing_task(engine: Engine) -> Check:
    """Return what holds that no workflow task of a run ever failed, and none is failing."""

    async def check(run_id: str) -> None:
        assert isinstance(engine, TemporalEngine)
        client = (await engine._connected()).client
        handle = client.get_workflow_handle(f"{engine._settings.prefix}{run_id}")
        described = await handle.describe()
        pending = described.raw_description.pending_workflow_task
        assert pending.attempt <= 1, run_id
        async for event in handle.fetch_history_events():
            failed = event.workflow_task_failed_event_attributes
            assert failed.cause in _FINE, (run_id, failed)

    return check


async def test_what_is_just_within_the_limit_passes(engine: Engine, no_failing_task: Check) -> None:
    async def one(what: str, wanted: Any) -> None:
        given: dict[str, Json] = {"what": what, "size": LIMIT - ROOM}
        await engine.start_run("giver", given, run_id=what)
        status = await engine.result(what)
        assert (status.state, status.error) == ("completed", ""), what
        assert status.output == wanted, what
        await no_failing_task(what)

    full = LIMIT - ROOM
    await asyncio.gather(
        one("argument", [full]),
        one("result", [full]),
        one("child", [full]),
        one("input", str(full)),
        one("event", 1),
        one("output", text(full)),
    )
    events = [event async for _, event in engine.events("event")]
    assert events[0] == {"type": "large", "text": text(full), "number": 0}


async def test_what_is_over_the_limit_fails_its_run_or_call(engine: Engine, no_failing_task: Check) -> None:
    async def one(what: str) -> tuple[str, str]:
        await engine.start_run("giver", {"what": what, "size": LIMIT + 1}, run_id=f"over {what}")
        status = await engine.result(f"over {what}")
        await no_failing_task(f"over {what}")
        return status.state, str(status.output) if status.output is not None else status.error

    for what in ("argument", "input", "output", "about"):
        state, error = await one(what)
        assert state == "failed", what
        assert "bytes of JSON" in error, what
    for what in ("result", "child"):
        state, error = await one(what)
        assert state == "completed", what
        assert "bytes of JSON" in error, what
    with pytest.raises(PayloadTooLargeError):
        await engine.start_run("measure", text(LIMIT + 1), run_id="over")
    await play(engine, [{"wait": ["go"]}], run_id="r")
    with pytest.raises(PayloadTooLargeError):
        await engine.signal("r", "go", text(LIMIT + 1), signal_id="1")
    with pytest.raises(PayloadTooLargeError):
        await engine.answer("r", "wait:0", text(LIMIT + 1), key="1")


async def test_signals_and_answers_within_the_limit_arrive(engine: Engine, no_failing_task: Check) -> None:
    steps = [{"wait": [name]} for name in ("go", "answer:wait:1", "go", "go")]
    await play(engine, steps, run_id="r")
    full = text(LIMIT - ROOM)
    assert await engine.answer("r", "wait:1", full, key="1") in ("accepted", "recorded")
    for number in range(3):
        await engine.signal("r", "go", full, signal_id=str(number))
    status = await engine.result("r")
    assert "the output of run r has 399" in status.error, "all four came"
    await no_failing_task("r")


@pytest.mark.parametrize(
    ("what", "count"), [("argument", 3), ("result", 12), ("child", 8), ("event", 6), ("about", 5), ("all", 1)]
)
async def test_many_at_once_end_or_fail_their_run(
    engine: Engine, no_failing_task: Check, what: str, count: int
) -> None:
    size = LIMIT - ROOM
    await engine.start_run("giver", {"what": what, "size": size, "count": count}, run_id=what)
    if what == "about":
        for number in range(count):
            await engine.signal(what, f"go{number}", None, signal_id=str(number))
    status = await engine.result(what)
    await no_failing_task(what)
    if what == "argument":
        assert "at once" in status.error
        return
    assert (status.state, status.error) == ("completed", "")
    if what in ("result", "child"):
        assert status.output == [size] * count
    if what == "event":
        events = [event async for _, event in engine.events(what)]
        assert [event.get("number") for event in events[:-1]] == list(range(count))


async def test_an_event_over_the_limit_of_the_log_is_cut_and_says_so(
    engine: Engine, no_failing_task: Check
) -> None:
    await engine.start_run("giver", {"what": "event", "size": 3_000_000}, run_id="r")
    assert (await engine.result("r")).state == "completed"
    events = [event async for _, event in engine.events("r")]
    assert events[0] == {"type": "large", "number": 0, "is_cut": True}
    await no_failing_task("r")


async def test_a_payload_over_the_limit_of_the_server_stalls_its_run(toys: Toys) -> None:
    """The limit of this server is below that of the engine."""
    server = TemporalServer(None, "--dynamic-config-value", "limit.blobSize.error=500000")
    await asyncio.to_thread(server.start)
    engine = TemporalEngine(server.address)
    engine.register(loops=toys.loops(), activities=toys.activities())
    try:
        await with_givers(engine).start()
        await engine.start_run("giver", {"what": "argument", "size": 600_000}, run_id="r")
        with pytest.raises(NondeterminismError, match="exceeded the error limit"):
            await engine.result("r")
        await engine.cancel("r", reason="too large")
        status = await engine.status("r")
        assert (status.state, status.error) == ("canceled", "too large")
        assert [event["type"] for event in await ends(engine, "r")] == ["run_completed", "run_stream_end"]
    finally:
        await engine.close()
        server.kill()


def test_a_limit_that_the_server_does_not_take_is_refused() -> None:
    with pytest.raises(EngineError, match="max_payload_bytes is 2000001") as caught:
        TemporalEngine(limits=TemporalLimits(max_payload_bytes=2_000_001))
    assert "payloads=PostgresPayloads(database)" in caught.value.hint
    with pytest.raises(EngineError, match="offload_bytes is 999; it must be 1000 to"):
        TemporalEngine(limits=TemporalLimits(offload_bytes=999))


async def test_a_run_that_the_server_ends_has_failed(toys: Toys) -> None:
    server = TemporalServer(None, "--dynamic-config-value", "limit.historySize.error=600000")
    await asyncio.to_thread(server.start)
    engine = TemporalEngine(server.address)
    engine.register(loops=toys.loops(), activities=toys.activities())
    try:
        await engine.start()
        steps = [{"calls": [call(str(number), result=text(20_000))]} for number in range(20)]
        await play(engine, [{"publish": {"type": "one"}}, *steps], run_id="r")
        status = await engine.result("r")
        assert (status.state, "the server ended it" in status.error) == ("failed", True), status.error
        kinds = [event["type"] for event in await ends(engine, "r")]
        assert kinds == ["one", "run_completed", "run_stream_end"]
    finally:
        await engine.close()
        server.kill()


@pytest.mark.parametrize("levels", [190, 196, 197, 198])
async def test_what_is_nested_too_deeply_for_the_log_stalls_no_run(
    engine: Engine, no_failing_task: Check, levels: int
) -> None:
    for what in ("deep event", "deep about"):
        await engine.start_run("giver", {"what": what, "size": levels}, run_id=what)
        await no_failing_task(what)
    assert (await engine.result("deep event")).state == "completed"
    assert (await engine.result("deep about")).state == ("completed" if levels < 198 else "failed")
    [event, *_] = [event async for _, event in engine.events("deep event")]
    assert ("is_cut" in event) == (levels >= 197)
