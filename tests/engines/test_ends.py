"""Every engine: children, and how runs end that do not end by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Set
from typing import Any

import pytest

from toolgen.contract.json_value import Json
from toolgen.engines import EndedRun, Engine, EngineError, NondeterminismError, RunStatus

from .starting import StartEngine
from .toys import Toys, abouts, call, play

Follow = Callable[..., Awaitable[list[tuple[int, Mapping[str, Json]]]]]


def endings(reason: str, status: str = "canceled") -> list[Mapping[str, Json]]:
    return [{"type": "run_completed", "status": status, "error": reason}, {"type": "run_stream_end"}]


async def test_a_child_run_has_the_id_of_its_operation(engine: Engine) -> None:
    grandchild = [{"calls": [call("a")]}]
    steps = [{"child": [{"child": grandchild}]}, {"child": []}]
    await play(engine, steps, run_id="r")
    status = await engine.result("r")
    assert status.output == [[[[{"id": "a", "ok": True}]]], []]
    assert status.children == ("r/child:0", "r/child:1")
    child = await engine.status("r/child:0")
    assert (child.state, child.children) == ("completed", ("r/child:0/child:0",))
    assert (await engine.status("r/child:0/child:0")).input == grandchild


async def test_a_child_that_fails_is_a_failure_of_the_operation(engine: Engine) -> None:
    steps = [{"child": [{"raise": "?"}]}, {"child": [{"start": call("x", is_fatal=True)}], "is_needed": True}]
    await play(engine, steps, run_id="r")
    status = await engine.result("r")
    assert (status.state, status.output) == ("failed", None)
    assert status.error == "child:1: failed: tool:x: NonRetryableError: no such house"
    assert (await engine.status("r/child:0")).state == "failed"


async def test_a_child_that_is_cancelled_is_a_failure_of_the_operation(engine: Engine, toys: Toys) -> None:
    await play(engine, [{"child": [{"wait": ["go"]}]}, {"calls": [call("a")]}], run_id="r")
    await engine.settled("r")
    await engine.cancel("r/child:0", reason="not needed")
    status = await engine.result("r")
    assert (status.state, status.output) == ("completed", [{"failed": "canceled"}, [{"id": "a", "ok": True}]])


async def test_a_waiting_run_can_be_cancelled(engine: Engine, follow: Follow) -> None:
    await play(engine, [{"publish": {"type": "x"}}, {"wait": ["never"], "about": 1}], run_id="r")
    await engine.settled("r")
    await engine.cancel("r", reason="it is late")
    await engine.cancel("r", reason="once more")
    status = await engine.result("r")
    assert (status.state, status.error, status.output, status.awaiting) == (
        "canceled",
        "it is late",
        None,
        (),
    )
    assert [event for _, event in await follow(engine, "r")] == [{"type": "x"}, *endings("it is late")]
    await engine.signal("r", "never", 1, signal_id="1")
    assert (await engine.status("r")).state == "canceled"


async def test_what_the_log_of_a_canceled_run_lacks_follows_from_its_input(
    start_engine: StartEngine, follow: Follow
) -> None:
    """Canceled at once, in the middle, or not at all."""
    asked: list[Any] = []
    waits: list[Mapping[str, Any]] = []

    def last(ended: EndedRun) -> list[Mapping[str, Json]]:
        asked.append((ended.input, ended.at > 0, [event["type"] for event in ended.log]))
        assert (ended.ending, ended.reason) == ("canceled", "no")
        waits.append(ended.waits)
        return [{"type": "last"}]

    engine = await start_engine(last_events=last)
    steps = [{"publish": {"type": "x"}}, {"wait": ["never"], "about": "it"}]
    await play(engine, steps, run_id="at once")
    await engine.cancel("at once", reason="no")
    await play(engine, steps, run_id="later")
    await engine.settled("later")
    await engine.cancel("later", reason="no")
    await play(engine, steps[:1], run_id="never")
    await engine.result("never")
    assert [one[:2] for one in asked] == [(steps, True)] * 2
    assert asked[0][2] in ([], ["x"]), "a file has its first event, where the start is awaited for long"
    assert asked[1][2] == ["x"]
    assert waits[1] == {"wait:1": "it"}
    at_once = [event for _, event in await follow(engine, "at once")]
    assert at_once[len(asked[0][2]) :] == [{"type": "last"}, *endings("no")]
    assert [event for _, event in await follow(engine, "later")][:2] == [{"type": "x"}, {"type": "last"}]


async def test_last_events_before_one_that_fails_are_appended(
    start_engine: StartEngine, follow: Follow
) -> None:
    def last(ended: EndedRun) -> list[Any]:
        return [{"type": "first"}, {"type": "second", "no JSON": {1}}]

    engine = await start_engine(last_events=last)
    await play(engine, [{"wait": ["never"]}], run_id="r")
    await engine.settled("r")
    await engine.cancel("r", reason="no")
    assert [event for _, event in await follow(engine, "r")] == [{"type": "first"}, *endings("no")]


async def test_a_run_that_is_canceled_knows_what_had_begun(start_engine: StartEngine, toys: Toys) -> None:
    """Of what must not happen twice, also of what has ended; what waits did not begin."""
    asked: list[Set[str]] = []

    def last(ended: EndedRun) -> list[Mapping[str, Json]]:
        asked.append(ended.begun)
        return []

    engine = await start_engine(last_events=last)
    calls = [
        call("over", once=True, tells=[]),
        call("begun", once=True, tells=[], gate="never"),
        call("told", once=True, tells=[{"type": "x"}], gate="never"),
        call("waits", once=True, before="never", tells=[]),
        call("again", tells=[{"type": "y"}], gate="never"),
    ]
    await play(engine, [{"calls": calls}], run_id="r")
    for id_ in ("begun", "told", "again"):
        await toys.has("begun", id_)
    await toys.has("start", "waits")
    await toys.has("end", "over")
    await engine.cancel("r", reason="stop")
    await engine.result("r")
    assert asked[-1] == {"tool:over", "tool:begun", "tool:told"}


async def test_what_had_begun_when_its_time_ended_is_unknown(engine: Engine, toys: Toys) -> None:
    calls = [
        call("begun", once=True, tells=[], gate="never", timeout=0.2),
        call("waits", once=True, before="never", tells=[], timeout=0.2),
        call("again", gate="never", timeout=0.2, attempts=1),
    ]
    await play(engine, [{"calls": calls}], run_id="r")
    kinds = [{"failed": kind} for kind in ("outcome_unknown", "timeout", "timeout")]
    assert (await engine.result("r")).output == [kinds]


async def test_cancelling_reaches_the_tools_of_a_child(engine: Engine, toys: Toys, follow: Follow) -> None:
    calls = [call("long", gate="never", emit=1), call("deaf", gate="never", ignores_cancel=True)]
    steps = [{"child": [{"child": [{"calls": calls}]}]}]
    await play(engine, steps, run_id="r")
    await toys.has("start", "deaf")
    await toys.has("start", "long")
    await engine.cancel("r", reason="stop")
    await toys.has("cancel", "long")
    await toys.has("end", "deaf")
    for run_id in ("r", "r/child:0", "r/child:0/child:0"):
        status = await engine.result(run_id)
        assert (status.state, status.error) == ("canceled", "stop")
        events = [event for _, event in await follow(engine, run_id)]
        assert events[-2:] == endings("stop")
    assert toys.counts("start") == {"long": 1, "deaf": 1}
    assert toys.counts("end") == {"deaf": 1}


async def test_a_cancellation_wins_over_an_end_at_the_same_time(engine: Engine, toys: Toys) -> None:
    await play(engine, [{"calls": [call("a", gate="a")]}], run_id="r")
    await toys.has("start", "a")
    toys.open("a")
    await engine.cancel("r")
    ended = await engine.result("r")
    # A server may have heard of the end of the call, and of the run, before.
    assert ended.state == "canceled" or (engine.caps.has_many_workers and ended.output is not None)
    await asyncio.sleep(0.02)
    status = await engine.status("r")
    assert (status.state, status.output) == (ended.state, ended.output)


async def test_a_run_that_is_over_is_not_cancelled(engine: Engine, follow: Follow) -> None:
    await play(engine, [], run_id="r")
    await engine.result("r")
    await engine.cancel("r", reason="late")
    status = await engine.status("r")
    assert (status.state, status.error) == ("completed", "")
    assert [event["type"] for _, event in await follow(engine, "r")] == ["run_stream_end"]


async def test_a_loop_cannot_go_on_after_its_end(engine: Engine, toys: Toys, follow: Follow) -> None:
    await engine.start_run("stubborn", None, run_id="r")
    await engine.settled("r")
    await engine.cancel("r", reason="stop")
    await asyncio.sleep(0.02)
    status = await engine.result("r")
    assert (status.state, status.output) == ("canceled", None)
    assert [event for _, event in await follow(engine, "r")] == endings("stop")
    assert not toys.log


async def test_a_mistake_in_one_part_ends_the_others(engine: Engine, toys: Toys) -> None:
    child_steps = [{"calls": [call("of the child")]}, {"wait": ["go"]}]
    parts = [{"child": child_steps}, {"wait": ["go"]}, {"call": call("a", gate="never")}]
    await play(engine, [{"parts": [*parts, {"call": call("b", gate="b"), "raise": "?"}]}], run_id="r")
    await toys.has("end", "of the child")
    toys.open("b")
    assert (await engine.result("r")).state == "failed"
    child = await engine.result("r/child:0.0")
    assert (child.state, child.error) == ("canceled", "run r is over")
    await toys.has("cancel", "a")


async def test_what_a_loop_leaves_behind_is_cancelled(engine: Engine, toys: Toys) -> None:
    await play(engine, [{"leave": call("a", gate="never")}, {"calls": [call("b", sleep=0.01)]}], run_id="r")
    assert (await engine.result("r")).state == "completed"
    await toys.has("cancel", "a")


async def test_the_engine_says_that_a_run_failed(engine: Engine, follow: Follow) -> None:
    await play(engine, [{"start": call("x", is_fatal=True)}], run_id="r")
    error = (await engine.result("r")).error
    assert [event for _, event in await follow(engine, "r")] == endings(error, "failed")


async def test_the_loop_says_itself_how_it_ended(engine: Engine, follow: Follow) -> None:
    said = {"type": "run_completed", "status": "failed", "error": "in its own words"}
    steps = [{"publish": said}, {"publish": said, "key": "again"}, {"raise": "?"}]
    await play(engine, steps, run_id="r")
    assert (await engine.result("r")).state == "failed"
    assert [event for _, event in await follow(engine, "r")] == [said, {"type": "run_stream_end"}]


async def test_a_run_can_be_cancelled_before_a_worker_starts(start_engine: StartEngine, toys: Toys) -> None:
    engine = await start_engine(is_started=False)
    await engine.start(worker=False)
    await play(engine, [{"calls": [call("a")]}], run_id="r")
    await engine.cancel("r")
    await engine.start()
    assert (await engine.result("r")).state == "canceled"
    assert not toys.log


async def test_closing_is_not_cancelling(engine: Engine, toys: Toys) -> None:
    """What was done is not done again; what was in flight is."""
    steps = [
        {"calls": [call("a")]},
        {"publish": {"type": "told"}},
        {"child": [{"calls": [call("b"), call("c", gate="c")]}]},
        {"wait": ["go"]},
    ]
    await play(engine, steps, run_id="r")
    await engine.signal("r", "go", 1, signal_id="1")
    await toys.has("start", "c")
    await toys.has("end", "b")
    await asyncio.sleep(0.02)
    waiting = asyncio.ensure_future(engine.result("r"))
    reading = asyncio.ensure_future(_read(engine, "r"))
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await engine.close()
        await engine.close()
        for task in (waiting, reading):
            with pytest.raises(EngineError, match="closed"):
                await task
    assert toys.counts("cancel") == {"c": 1}
    toys.open("c")
    await engine.start()
    status = await engine.result("r")
    assert status.state == "completed"
    assert toys.counts("start") == {"a": 1, "b": 1, "c": 2}
    assert [event["type"] for event in await _read(engine, "r")] == ["told", "run_stream_end"]


async def test_a_waiting_run_waits_on_after_a_restart(engine: Engine, toys: Toys) -> None:
    steps = [{"wait": ["go"]}, {"wait": ["go"], "about": "more"}, {"child": [{"wait": ["on"]}]}]
    await play(engine, steps, run_id="r")
    await engine.settled("r")
    await engine.signal("r", "go", 1, signal_id="1")
    await engine.settled("r")
    await engine.close()
    await engine.start()
    status = await engine.settled("r")
    assert (status.state, abouts(status)) == ("waiting", ("more",))
    await engine.signal("r", "go", 1, signal_id="1")
    await engine.signal("r", "go", 2, signal_id="2")
    assert (await engine.settled("r")).children == ("r/child:2",)
    await engine.close()
    await engine.start()
    assert (await engine.settled("r")).state == "waiting"
    await engine.signal("r/child:2", "on", 3, signal_id="1")
    assert (await engine.result("r")).output == [{"go": 1}, {"go": 2}, [{"on": 3}]]


async def test_a_loop_that_does_something_else_stands_still(
    engine: Engine, toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    """The run is neither lost nor failed: with the old loop it goes on."""
    await engine.start_run("changed", {"timeout_s": None}, run_id="r")
    await engine.settled("r")
    await engine.close()
    toys.is_changed = True
    await engine.start()
    await engine.signal("r", "go", None, signal_id="1")
    for told in (engine.settled("r"), engine.result("r")):
        with pytest.raises(NondeterminismError, match="run r is stalled: run r does 'tool:1' with something"):
            await told
    assert (await engine.status("r")).state == "running"
    assert "NondeterminismError" in caplog.text
    assert "run r does 'tool:1' with something else" in caplog.text
    await engine.close()
    toys.is_changed = False
    await engine.start()
    assert (await _mended(engine, "r")).output == {"id": "same", "ok": True}
    assert toys.counts("start") == {"same": 1}


async def test_a_run_whose_child_is_stalled_says_so(engine: Engine, toys: Toys) -> None:
    await play(engine, [{"child": {"timeout_s": None}, "loop": "changed"}], run_id="r")
    await engine.settled("r")
    await engine.close()
    toys.is_changed = True
    await engine.start()
    await engine.signal("r/child:0", "go", None, signal_id="1")
    with pytest.raises(NondeterminismError, match="run r/child:0 is stalled"):
        await engine.settled("r")


async def _mended(engine: Engine, run_id: str) -> RunStatus:
    """Return the end of a run that was stalled; a server tries it again only after some time."""
    while True:
        try:
            return await engine.result(run_id)
        except NondeterminismError:
            assert engine.caps.has_many_workers
            await asyncio.sleep(0.1)


async def _read(engine: Engine, run_id: str) -> list[Mapping[str, Json]]:
    return [event async for _, event in engine.events(run_id)]
