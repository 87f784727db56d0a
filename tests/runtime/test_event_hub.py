"""Events on their way to those who subscribed."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest
from pydantic import JsonValue

from toolgen.calls.call import CallMeta
from toolgen.calls.functions.tools import function_toolset
from toolgen.contract.secrets import HIDDEN, Secrets, hiding
from toolgen.events.document import Encoded
from toolgen.events.hub import Events
from toolgen.events.records import (
    Event,
    EventsDropped,
    RunStreamEnd,
    ToolEnd,
    ToolOutputDelta,
    ToolStart,
    ToolUpdate,
)
from toolgen.runtime import Runtime

RUN = CallMeta(run_id="r1", session_id="s", turn_id="t", tool_call_id="c")


def piece(text: str = "") -> ToolOutputDelta:
    return ToolOutputDelta(tool="a.b.c", text=text)


def test_a_hub_is_idle_while_nobody_listens() -> None:
    events = Events()
    found = [events.is_idle]
    events.emit(piece(), RUN)
    subscription = events.subscribe()
    found.append(events.is_idle)
    subscription.close()
    assert [*found, events.is_idle] == [True, False, True]


async def test_an_event_gets_the_ids_the_time_and_its_number() -> None:
    events = Events(clock=lambda: 7.5)
    async with events.subscribe() as told:
        events.emit(piece("x"), RUN)
        event = await anext(told)
    assert event == ToolOutputDelta(
        seq=1, time=7.5, run_id="r1", session_id="s", turn_id="t", tool_call_id="c", tool="a.b.c", text="x"
    )


async def test_numbers_have_no_gaps_per_run_and_end_with_it() -> None:
    events = Events()
    async with events.subscribe() as told:
        for run in ("a", "b", "a"):
            events.emit(piece(), CallMeta(run_id=run))
        events.emit(RunStreamEnd(), CallMeta(run_id="a"))
        events.emit(piece(), CallMeta(run_id="a"))
        found = [(event.run_id, event.seq) for event in await told.batch()]
    assert found == [("a", 1), ("b", 1), ("a", 2), ("a", 3), ("a", 1)]


async def test_the_numbers_of_runs_take_bounded_memory() -> None:
    events = Events()
    with_one_place = events.subscribe(size=1)
    for number in range(10_050):
        events.emit(piece(), CallMeta(run_id=str(number)))
    assert len(events._seqs) == 10_000
    with_one_place.close()


async def test_a_slow_reader_loses_the_oldest_and_is_told_where() -> None:
    events = Events()
    async with events.subscribe(size=2) as told:
        for text in "abcde":
            events.emit(piece(text), RUN)
        gap = await anext(told)
        rest = [await anext(told), await anext(told)]
        assert isinstance(gap, EventsDropped)
        assert (gap.count, gap.total, gap.seq) == (3, 3, 0)
        assert [event.seq for event in rest] == [4, 5]
        for text in "fgh":
            events.emit(piece(text), RUN)
        gap, *_ = await told.batch()
        assert isinstance(gap, EventsDropped)
        assert (gap.count, gap.total, told.dropped) == (1, 4, 4)


async def test_a_subscription_gets_what_it_asked_for() -> None:
    events = Events()
    async with events.subscribe(types=["tool_update"]) as updates, events.subscribe(run_id="r2") as second:
        events.emit(piece(), RUN)
        events.emit(ToolUpdate(tool="a.b.c"), RUN)
        events.emit(piece(), CallMeta(run_id="r2"))
        assert [event.type for event in await updates.batch()] == ["tool_update"]
        assert [event.run_id for event in await second.batch()] == ["r2"]


def test_unknown_types_and_no_room_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown event type rain; the types are agent_run_started"):
        Events().subscribe(types=["rain"])
    with pytest.raises(ValueError, match="size is 0"):
        Events().subscribe(size=0)


async def test_a_closed_subscription_is_read_to_its_end() -> None:
    events = Events()
    told = events.subscribe()
    events.emit(piece("a"), RUN)
    events.close()
    events.emit(piece("b"), RUN)
    assert [event.seq async for event in told] == [1]
    assert await told.batch() == []


async def test_closing_wakes_a_waiting_reader() -> None:
    events = Events()
    told = events.subscribe()
    reader = asyncio.ensure_future(told.batch())
    await asyncio.sleep(0)
    told.close()
    assert await reader == []


async def test_a_cancelled_reader_may_read_again_and_a_second_reader_may_not() -> None:
    events = Events()
    async with events.subscribe() as told:
        reader = asyncio.ensure_future(told.batch())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="subscribe once for each reader"):
            await anext(told)
        reader.cancel()
        await asyncio.sleep(0)
        events.emit(piece("a"), RUN)
        assert [event.seq for event in await told.batch()] == [1]


async def test_events_of_threads_keep_their_order_and_wake_the_reader() -> None:
    events = Events()
    async with events.subscribe(size=10_000) as told:

        def speak() -> None:
            for _ in range(1000):
                events.emit(piece(), RUN)

        threads = [threading.Thread(target=speak) for _ in range(3)]
        for thread in threads:
            thread.start()
        found: list[Event] = []
        while len(found) < 3000:
            found += await told.batch()
        for thread in threads:
            thread.join()
    assert [event.seq for event in found] == list(range(1, 3001))


def test_a_subscriber_whose_loop_is_closed_breaks_nothing() -> None:
    events = Events()
    told = events.subscribe()
    loop = asyncio.new_event_loop()
    reader = loop.create_task(told.batch())
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    events.emit(piece(), RUN)
    assert events.is_idle
    reader._log_destroy_pending = False  # type: ignore[attr-defined]  # it is pending on purpose


def test_a_clock_that_fails_reaches_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def clock() -> float:
        raise OSError("no clock")

    events = Events(clock)
    told = events.subscribe()
    events.emit(piece(), RUN)
    assert "an event was lost" in caplog.text
    told.close()


async def test_a_listener_is_called_in_order_and_to_the_end() -> None:
    events, plain, slow = Events(), list[int](), list[int]()

    async def wait(event: Event) -> None:
        await asyncio.sleep(0)
        slow.append(event.seq)

    async with events.on(lambda event: plain.append(event.seq)), events.on(wait):
        for _ in range(3):
            events.emit(piece(), RUN)
        assert not plain  # nothing runs while an event is emitted
    assert plain == slow == [1, 2, 3]
    assert events.is_idle


async def test_a_listener_that_raises_is_logged_once_and_called_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events, seen = Events(), list[int]()

    def callback(event: Event) -> None:
        seen.append(event.seq)
        raise asyncio.CancelledError if event.seq == 2 else KeyError("broken")

    with caplog.at_level(logging.WARNING):
        async with events.on(callback) as listener:
            for _ in range(3):
                events.emit(piece(), RUN)
    assert (seen, listener.failed, len(caplog.records)) == ([1, 2, 3], 3, 1)


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_a_listener_that_hangs_is_cancelled() -> None:
    events = Events()

    async def hang(event: Event) -> None:
        await asyncio.Event().wait()

    listener = events.on(hang, size=1)
    for _ in range(3):
        events.emit(piece(), RUN)
        await asyncio.sleep(0)
    await listener.aclose(timeout_s=60)
    assert listener.dropped == 1
    assert events.is_idle


async def plain() -> str:
    """Return a text."""
    return "a secret of the caller"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b'["\xc3\xbc"]', ["ü"]),
        (b"[" * 230 + b"]" * 230, "[" * 230 + "]" * 230),
        (b'["\\ud83d"]', '["\\ud83d"]'),
    ],
    ids=["a value", "more levels than a journal keeps", "half of an escaped character"],
)
async def test_what_a_call_returned_is_the_same_for_each_reader(document: bytes, expected: JsonValue) -> None:
    """What no journal keeps as a value is its text."""
    events = Events()
    first, second = events.subscribe(), events.subscribe(types=["tool_end"])
    events.emit(ToolEnd(tool="a.b.c", status="ok", result=Encoded(document)), RUN)
    one, (other,) = await anext(first), await second.batch()
    assert isinstance(one, ToolEnd)
    assert one is other
    assert one.result == expected


async def echo(text: str) -> str:
    """Return the text."""
    return text


async def test_arguments_are_values_for_each_reader() -> None:
    events = Events()
    runtime = Runtime(events=events)
    runtime.tools.register(function_toolset("a.b", [echo]))
    first, second = events.subscribe(types=["tool_start"]), events.subscribe(types=["tool_start"])
    await runtime.call("echo", {"text": "ü"}, RUN)
    with hiding(secrets := Secrets()):
        secrets.add(["a secret of the caller"])
        await runtime.call("echo", {"text": "a secret of the caller"}, RUN)
    for told in (await first.batch(), await second.batch()):
        assert [event.arguments for event in told if isinstance(event, ToolStart)] == [
            {"text": "ü"},
            {"text": HIDDEN},
        ]


async def test_a_call_within_one_that_has_secrets_is_told_without_them() -> None:
    events = Events()
    runtime = Runtime(events=events)
    runtime.tools.register(function_toolset("a.b", [plain]))
    async with events.subscribe(types=["tool_end"]) as told:
        secrets = Secrets()
        secrets.add(["a secret of the caller"])
        with hiding(secrets):
            await runtime.call("plain", b"{}")
        event = await anext(told)
    assert isinstance(event, ToolEnd)
    assert event.result == HIDDEN


def count() -> JsonValue:
    """Return a number that Python does not read."""
    return 10**5_000


async def test_a_result_that_python_does_not_read_ends_no_reader() -> None:
    events = Events()
    runtime = Runtime(events=events)
    runtime.tools.register(function_toolset("a.b", [count]))
    async with events.subscribe(types=["tool_end"]) as told:
        result = await runtime.call("count", b"{}")
        event = await anext(told)
    assert isinstance(event, ToolEnd)
    assert event.result == result.json.decode() == f"1{'0' * 5_000}"
