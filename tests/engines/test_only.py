"""Every engine: `start(only=…)` executes the runs that it names, and what they start."""

from __future__ import annotations

import pytest

from toolgen.engines import Engine

from .toys import Toys, call, play


@pytest.fixture
async def left(engine: Engine, toys: Toys) -> Engine:
    """Return an engine that was closed with two runs in a call and two that wait."""
    for name in ("a", "b"):
        await play(engine, [{"calls": [call(name, gate=name)]}], run_id=f"busy {name}")
        await play(engine, [{"wait": ["go"]}, {"calls": [call(f"after {name}")]}], run_id=f"parked {name}")
        await toys.has("start", name)
        await engine.settled(f"parked {name}")
    await engine.close()
    toys.log.clear()
    for name in ("a", "b"):
        toys.open(name)
    return engine


async def test_no_other_run_is_executed(left: Engine, toys: Toys) -> None:
    await left.start(only={"busy a"})
    assert (await left.result("busy a")).state == "completed"
    await left.signal("parked b", "go", None, signal_id="1")
    await play(left, [{"calls": [call("new")]}], run_id="new")
    assert (await left.result("new")).state == "completed", "what is started here is executed here"
    assert toys.counts("start") == {"a": 1, "new": 1}
    assert (await left.status("busy b")).state == "running"
    assert not (await left.status("parked b")).is_over


async def test_an_answer_that_came_before_is_found(left: Engine, toys: Toys) -> None:
    await left.start(worker=False)
    await left.signal("parked a", "go", None, signal_id="1")
    await left.start(only={"parked a"})
    assert (await left.result("parked a")).state == "completed"
    assert toys.counts("start") == {"after a": 1}


async def test_another_set_may_be_given_later(left: Engine, toys: Toys) -> None:
    await left.start(only=())
    await left.start(only={"parked a"})
    assert (await left.settled("parked a")).state == "waiting"
    assert toys.counts("start") == {}
    await left.start(only={"parked a", "busy b", "nobody's"})
    assert (await left.result("busy b")).state == "completed"
    await left.signal("parked a", "go", None, signal_id="1")
    assert (await left.result("parked a")).state == "completed"
    assert toys.counts("start") == {"b": 1, "after a": 1}


async def test_the_children_of_a_run_go_on_with_it(engine: Engine, toys: Toys) -> None:
    for name in ("a", "b"):
        await play(engine, [{"child": [{"calls": [call(name, gate=name)]}]}], run_id=name)
        await toys.has("start", name)
    await engine.close()
    toys.log.clear()
    toys.open("a")
    toys.open("b")
    await engine.start(only={"a"})
    assert (await engine.result("a")).output == [[[{"id": "a", "ok": True}]]]
    assert toys.counts("start") == {"a": 1}
    assert (await engine.status("b/child:0")).state == "running"


async def test_a_cancellation_before_it_lets_nothing_run(left: Engine, toys: Toys) -> None:
    await left.start(worker=False)
    await left.cancel("busy a", reason="enough")
    await left.start(only={"busy a"})
    status = await left.result("busy a")
    assert (status.state, status.error) == ("canceled", "enough")
    assert toys.counts("start") == {}


async def test_all_runs_go_on_without_a_set(left: Engine, toys: Toys) -> None:
    await left.start(only={"busy a"})
    await left.result("busy a")
    await left.close()
    await left.start()
    assert (await left.result("busy b")).state == "completed"
    assert toys.counts("start") == {"a": 1, "b": 1}
