"""The log of a run goes with its activities, so that few are there for the log alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys, call, play
from toolgen.engines.temporal import TemporalEngine
from toolgen.engines.temporal.documents import LOG

from .processes import ends


async def test_a_run_of_ten_calls_one_after_the_other_has_one_activity_of_its_log(
    start_engine: StartEngine, toys: Toys
) -> None:
    told: list[tuple[int, str]] = []

    def hear(run_id: str, loop: str, offset: int, event: Mapping[str, Any]) -> None:
        told.append((offset, event["type"]))

    engine = await start_engine(on_event=hear)
    assert isinstance(engine, TemporalEngine)
    steps: list[Any] = []
    for number in range(10):
        steps += [{"publish": {"type": f"before {number}"}}, {"start": call(str(number))}]
    await play(engine, steps, run_id="r")
    await engine.result("r")
    history = await (await engine._connected()).history("r")
    types = [one.activity_task_scheduled_event_attributes.activity_type.name for one in history.events]
    assert [name for name in types if name].count(LOG) == 1
    expected = [*(f"before {number}" for number in range(10)), "run_stream_end"]
    assert told == list(enumerate(expected, 1)), "each once, in the order of the log"
    assert [event["type"] for event in await ends(engine, "r")] == expected
    assert [item async for item in engine.events("r", follow=False)] == [
        (offset, {"type": type_}) for offset, type_ in told
    ]


async def test_what_an_activity_brings_that_its_own_task_cancels_is_in_the_log(
    start_engine: StartEngine, toys: Toys
) -> None:
    """The server never hears of such an activity."""
    told: list[tuple[int, Any]] = []
    engine = await start_engine(
        on_event=lambda run_id, loop, offset, event: told.append((offset, event["type"]))
    )
    steps: list[Any] = [{"publish": {"type": "one"}}, {"leave": call("a", gate="never")}]
    steps += [
        {"publish": {"type": "two"}},
        {"leave": call("b", gate="never")},
        {"publish": {"type": "three"}},
    ]
    await play(engine, steps, run_id="r")
    assert (await engine.result("r")).state == "completed"
    assert toys.log == []
    expected = ["one", "two", "three", "run_stream_end"]
    assert [event["type"] for event in await ends(engine, "r")] == expected
    assert told == list(enumerate(expected, 1))


async def test_an_activity_that_is_tried_again_tells_its_piece_once(start_engine: StartEngine) -> None:
    told: list[str] = []
    engine = await start_engine(on_event=lambda run_id, loop, offset, event: told.append(str(event["type"])))
    steps = [{"publish": {"type": "before"}}, {"start": call("a", fail_until=3)}]
    await play(engine, steps, run_id="r")
    assert (await engine.result("r")).output == [{"id": "a", "ok": True}]
    assert told == ["before", "run_stream_end"]
