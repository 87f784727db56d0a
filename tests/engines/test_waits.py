"""Every engine: signals, timeouts, and when a run counts as waiting."""

from __future__ import annotations

import asyncio

from tests.virtual_time import VirtualTimeLoop
from toolgen.engines import Engine

from .toys import Toys, abouts, call, play


async def test_a_signal_is_kept_until_somebody_waits_for_it(engine: Engine, toys: Toys) -> None:
    steps = [{"calls": [call("a", gate="a")]}, {"wait": ["go"]}]
    await play(engine, steps, run_id="r")
    await engine.signal("r", "go", {"answer": 42}, signal_id="1")
    await toys.has("start", "a")
    toys.open("a")
    assert (await engine.result("r")).output == [[{"id": "a", "ok": True}], {"go": {"answer": 42}}]


async def test_a_signal_counts_once(engine: Engine) -> None:
    steps = [{"wait": ["go"]}, {"wait": ["go"], "timeout_s": 0.05}, {"wait": ["go"], "timeout_s": 0}]
    await play(engine, steps, run_id="r")
    for payload in (1, 2, 3):
        await engine.signal("r", "go", payload, signal_id="same")
    assert (await engine.result("r")).output == [{"go": 1}, None, None]


async def test_signals_are_taken_in_the_order_in_which_they_came(engine: Engine, toys: Toys) -> None:
    steps = [
        {"calls": [call("a", gate="a")]},
        {"wait": ["y"]},
        {"wait": ["x", "y"]},
        {"wait": ["y", "x"]},
        {"wait": ["x", "y", "z"], "timeout_s": 0},
        {"wait": ["z", "x", "y"], "timeout_s": 0},
    ]
    await play(engine, steps, run_id="r")
    for number, name in enumerate(("x", "y", "y", "x")):
        await engine.signal("r", name, number, signal_id=str(number))
    toys.open("a")
    assert (await engine.result("r")).output == [
        [{"id": "a", "ok": True}],
        {"y": 1},
        {"x": 0},
        {"y": 2},
        {"x": 3},
        None,
    ]


async def test_waits_at_once_get_their_own_signals(engine: Engine) -> None:
    parts = [{"wait": ["x"], "about": "first"}, {"wait": ["x", "y"], "about": "second"}, {"wait": ["z"]}]
    await play(engine, [{"parts": parts}], run_id="r")
    status = await engine.settled("r")
    assert (status.state, abouts(status)) == ("waiting", ("first", "second"))
    await engine.signal("r", "x", 1, signal_id="1")
    status = await engine.settled("r")
    assert (status.state, abouts(status)) == ("waiting", ("second",))
    await engine.signal("r", "z", 2, signal_id="2")
    await engine.signal("r", "x", 3, signal_id="3")
    status = await engine.result("r")
    assert (status.output, status.awaiting) == ([[{"x": 1}, {"x": 3}, {"z": 2}]], ())


async def test_a_wait_ends_after_its_time(engine: Engine) -> None:
    await play(engine, [{"wait": ["go"], "timeout_s": 0.1, "about": [1]}], run_id="r")
    status = await engine.settled("r")
    assert (status.state, abouts(status)) == ("waiting", ([1],))
    assert (await engine.result("r")).output == [None]


async def test_a_wait_for_no_name_sleeps_and_waits_for_nobody(engine: Engine) -> None:
    await play(engine, [{"wait": [], "timeout_s": 0.1}, {"wait": ["go"]}], run_id="r")
    await asyncio.sleep(0.03)
    assert (await engine.status("r")).state == "running"
    assert (await engine.settled("r")).state == "waiting"
    await engine.signal("r", "go", None, signal_id="1")
    assert (await engine.result("r")).output == [None, {"go": None}]


async def test_a_run_with_a_call_in_flight_is_not_settled(engine: Engine, toys: Toys) -> None:
    parts = [{"wait": ["go"], "about": "?"}, {"call": call("a", gate="a")}]
    await play(engine, [{"parts": parts}], run_id="r")
    settled = asyncio.ensure_future(engine.settled("r"))
    await toys.has("start", "a")
    await asyncio.sleep(0.03)
    status = await engine.status("r")
    assert (status.state, abouts(status), settled.done()) == ("running", ("?",), False)
    toys.open("a")
    assert (await settled).state == "waiting"


async def test_a_signal_that_somebody_takes_unsettles_at_once(engine: Engine, toys: Toys) -> None:
    parts = [{"wait": ["x"], "call": call("a", sleep=0.03)}, {"wait": ["y"]}]
    await play(engine, [{"parts": parts}], run_id="r")
    await engine.settled("r")
    await engine.signal("r", "nobody", None, signal_id="0")
    assert (await engine.settled("r")).state == "waiting"
    await engine.signal("r", "x", None, signal_id="1")
    assert (await engine.settled("r")).state == "waiting"
    assert toys.counts("end") == {"a": 1}


async def test_a_run_is_not_settled_while_its_loop_has_yet_to_hear(engine: Engine, toys: Toys) -> None:
    """Between the ends of the calls and the next call nothing of the run is to be seen but its wait."""
    deep = {
        "parts": [{"parts": [{"parts": [{"call": call("a", sleep=0.01)}]}]}],
        "call": call("b", sleep=0.01),
    }
    await play(engine, [{"parts": [{"wait": ["go"]}, deep]}], run_id="r")
    assert (await engine.settled("r")).state == "waiting"
    assert toys.counts("end") == {"a": 1, "b": 1}


async def test_a_signal_in_the_last_moment_is_not_lost(engine: Engine) -> None:
    await play(engine, [{"wait": ["go"], "timeout_s": 0.05}, {"wait": ["go"], "timeout_s": 0}], run_id="r")
    await engine.settled("r")
    if isinstance(loop := asyncio.get_running_loop(), VirtualTimeLoop):
        loop.put_forward(0.1)  # the time is over, and nobody had a turn to say so
    await asyncio.sleep(0)
    await engine.signal("r", "go", 1, signal_id="1")
    assert (await engine.result("r")).output in ([{"go": 1}, None], [None, {"go": 1}])


async def test_a_run_that_is_over_is_settled(engine: Engine) -> None:
    await play(engine, [], run_id="r")
    assert (await engine.settled("r")).state == "completed"
    await engine.signal("r", "go", None, signal_id="1")
    assert (await engine.settled("r")).state == "completed"


async def test_a_run_waits_while_its_child_waits(engine: Engine, toys: Toys) -> None:
    below = [
        {"calls": [call("a", gate="a")]},
        {"wait": ["go"], "about": "below"},
        {"calls": [call("b", sleep=0.03)]},
    ]
    steps = [{"parts": [{"child": below}, {"wait": ["also"]}]}, {"wait": ["end"]}]
    await play(engine, steps, run_id="r")
    settled = asyncio.ensure_future(engine.settled("r"))
    await toys.has("start", "a")
    await asyncio.sleep(0.02)
    assert not settled.done()
    toys.open("a")
    status = await settled
    assert (status.state, status.children, abouts(status)) == ("waiting", ("r/child:0.0",), ())
    child = await engine.status("r/child:0.0")
    assert (child.state, abouts(child)) == ("waiting", ("below",))
    await engine.signal("r/child:0.0", "go", 1, signal_id="1")
    assert (await engine.status("r")).state == "running"
    assert (await engine.settled("r")).state == "waiting"
    assert toys.counts("end") == {"a": 1, "b": 1}
    await engine.signal("r", "also", 2, signal_id="2")
    await engine.settled("r")
    await engine.signal("r", "end", 3, signal_id="3")
    assert (await engine.result("r")).state == "completed"
