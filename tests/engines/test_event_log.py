"""Every engine: the log of a run is gapless, everything stands in it once, and it can be read at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from toolgen.contract.json_value import Json
from toolgen.engines import Engine

from .starting import StartEngine
from .toys import Toys, call, play

Read = list[tuple[int, Mapping[str, Json]]]
Follow = Callable[..., Awaitable[Read]]

STEPS: list[Any] = [
    {"publish": {"type": "began"}, "key": "began"},
    {"publish": {"type": "began again"}, "key": "began"},
    {"calls": [call("a", emit=3, fail_until=2)]},
    {"publish": {"type": "told", "n": [1]}},
    {"wait": ["go"]},
    {"publish": {"type": "run_completed", "status": "ok"}},
]
EVENTS = ["began", "told", "run_completed", "run_stream_end"]


async def test_every_reader_gets_every_event_once_and_in_order(engine: Engine, follow: Follow) -> None:
    await play(engine, STEPS, run_id="r")
    early = asyncio.ensure_future(follow(engine, "r"))
    await engine.settled("r")
    late = asyncio.ensure_future(follow(engine, "r"))
    part = asyncio.ensure_future(follow(engine, "r", after=1))
    future = asyncio.ensure_future(follow(engine, "r", after=3))
    await asyncio.sleep(0.02)
    assert not early.done()
    await engine.signal("r", "go", 1, signal_id="1")
    heard = await early
    assert [offset for offset, _ in heard] == [1, *[0] * 6, 2, 3, 4], (
        "reports of both attempts, in their place"
    )
    assert all(event["type"] == "tool_update" for offset, event in heard if not offset)
    events = [(offset, event) for offset, event in heard if offset]
    assert [event["type"] for _, event in events] == EVENTS
    assert await late == heard, "the newest reports of a run that goes on are kept"
    assert await part == heard[1:]
    assert await future == events[3:]
    assert await follow(engine, "r") == events
    assert await follow(engine, "r", after=3) == events[3:]
    assert await follow(engine, "r", after=4) == []


async def test_a_reader_that_does_not_follow_gets_what_is_there(engine: Engine, follow: Follow) -> None:
    await play(engine, STEPS, run_id="r")
    await engine.settled("r")
    assert [event["type"] for _, event in await follow(engine, "r", follow=False)] == EVENTS[:2]
    assert [offset for offset, _ in await follow(engine, "r", after=1, follow=False)] == [2]


async def test_a_reader_may_leave(engine: Engine, follow: Follow) -> None:
    await play(engine, STEPS, run_id="r")
    async for offset, _ in engine.events("r"):
        if offset == 0:
            break
    gone = asyncio.ensure_future(follow(engine, "r"))
    stays = asyncio.ensure_future(follow(engine, "r"))
    await engine.settled("r")
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    await engine.signal("r", "go", 1, signal_id="1")
    assert len([offset for offset, _ in await stays if offset]) == 4


async def test_whoever_listens_hears_of_every_event(start_engine: StartEngine, follow: Follow) -> None:
    heard: list[tuple[str, str, int, Mapping[str, Json]]] = []
    engine = await start_engine(on_event=lambda *event: heard.append(event))
    await play(engine, [*STEPS[:4], {"child": STEPS[:1]}], run_id="r")
    await engine.result("r")
    assert [event[2:] for event in heard if event[0] == "r" and event[2]] == await follow(engine, "r")
    offsets = [event[2] for event in heard if event[0] == "r"]
    if engine.caps.has_many_workers:  # reports go past the log, which may be told elsewhere
        offsets = [1, *(one for one in offsets if one != 1)]
    assert offsets == [1, *[0] * 6, 2, 3]
    assert [event[2] for event in heard if event[0] == "r/child:4"] == [1, 2]
    assert {event[1] for event in heard} == {"script"}


@pytest.mark.parametrize("error", [LookupError("?"), SystemExit(3), asyncio.CancelledError()], ids=repr)
async def test_a_listener_that_fails_breaks_nothing(
    start_engine: StartEngine, follow: Follow, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    def listen(run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
        event["n"].append(2) if "n" in event else None  # type: ignore[union-attr]  # it is a list
        raise error

    engine = await start_engine(on_event=listen)
    await play(engine, STEPS[:4], run_id="r")
    assert (await engine.result("r")).state == "completed"
    events = [event for _, event in await follow(engine, "r")]
    assert [event["type"] for event in events] == [*EVENTS[:2], "run_stream_end"]
    assert events[1] == {"type": "told", "n": [1]}
    assert type(error).__name__ in caplog.text


async def test_progress_comes_from_any_thread_and_never_fails(
    start_engine: StartEngine, toys: Toys, follow: Follow
) -> None:
    kept: list[Any] = []

    async def tool(info: Any, arg: object) -> int:
        kept.append(info)

        def work() -> int:
            for number in range(20):
                info.emit({"type": "tool_update", "number": number})
            info.emit({"type": "bad", "value": {1, 2}})
            info.emit(None)
            return 7

        return await asyncio.to_thread(work)

    toys.tool = tool  # type: ignore[method-assign]  # another activity under the name
    engine = await start_engine()
    await play(engine, [{"calls": [call("a")]}, {"wait": ["go"]}], run_id="r")
    following = asyncio.ensure_future(follow(engine, "r"))
    await engine.settled("r")
    kept[0].emit({"type": "late"})
    await engine.signal("r", "go", 1, signal_id="1")
    assert (await engine.result("r")).output == [[7], {"go": 1}]
    kept[0].emit({"type": "late"})
    events = await following
    assert [event.get("number") for _, event in events] == [*range(20), None]
    assert [offset for offset, _ in events] == [*[0] * 20, 1]
    assert [offset for offset, _ in await follow(engine, "r")] == [1]


async def test_a_follower_that_is_slow_loses_the_oldest_reports(engine: Engine) -> None:
    steps = [{"publish": {"type": "began"}, "key": "b"}, {"calls": [call("a", emit=1200)]}]
    await play(engine, steps, run_id="r")
    numbers: list[Any] = []
    async for offset, event in engine.events("r"):
        if offset == 1:
            await engine.result("r")
        numbers.append(event.get("number", event["type"]))
    assert numbers == ["began", *range(200, 1200), "run_stream_end"]


@pytest.mark.parametrize("once", [True, False])
async def test_what_an_activity_tells_when_it_begins_is_in_the_log_before_it_ends(
    engine: Engine, toys: Toys, follow: Follow, once: bool
) -> None:
    tells = [{"type": "approved", "by": "jo"}, {"type": "approved", "by": "mira"}]
    steps = [
        {"calls": [call("a", tells=tells, gate="a", once=once)]},
        {"calls": [call("b", tells=tells, fail_until=3)]},
    ]
    await play(engine, steps, run_id="r")
    told: list[Any] = []
    async for _, event in engine.events("r"):
        told.append(event)
        if len(told) == len(tells):
            assert toys.counts("end")["a"] == 0
            toys.open("a")
    assert told == [*tells, *tells, {"type": "run_stream_end"}]
    assert [event for _, event in await follow(engine, "r")] == told
