"""Replays of runs: they do the same again and execute nothing, or say what is different."""

from __future__ import annotations

import pytest

from toolgen.engines import EngineError, InProcessEngine, NondeterminismError, RunContext

from .conftest import Make
from .toys import Toys, call, play


async def test_a_replay_gives_the_same_and_does_nothing(in_process: InProcessEngine, toys: Toys) -> None:
    steps = [
        {"calls": [call("a", emit=2), call("b", fail_until=2), call("c", is_fatal=True)]},
        {"publish": {"type": "told"}},
        {"parts": [{"wait": ["x"], "call": call("d")}, {"call": call("e")}]},
        {"wait": ["y"], "timeout_s": 0.01},
        {"child": [{"calls": [call("f")]}]},
        {"child": [{"raise": "?"}]},
        {"publish": {"type": "run_completed"}},
    ]
    await play(in_process, steps, run_id="r")
    await in_process.settled("r")
    await in_process.signal("r", "x", 1, signal_id="1")
    before = await in_process.result("r")
    done, events = list(toys.log), [event async for event in in_process.events("r")]
    assert await in_process.replay("r") == before.output
    assert toys.log == done
    assert [event async for event in in_process.events("r")] == events
    assert await in_process.status("r") == before


async def test_the_clock_of_a_loop_is_what_it_has_seen(in_process: InProcessEngine, toys: Toys) -> None:
    await in_process.start_run("clock", None, run_id="r")
    output = (await in_process.result("r")).output
    assert isinstance(output, dict)
    assert await in_process.replay("r") == output  # though its parts hear of their results in another order
    assert output["times"] == sorted(set(output["times"]))  # type: ignore[arg-type, type-var]  # they are numbers


async def test_a_replay_finds_what_is_different(in_process: InProcessEngine, toys: Toys) -> None:
    await in_process.start_run("changed", {}, run_id="r")
    await in_process.result("r")
    toys.is_changed = True
    with pytest.raises(
        NondeterminismError,
        match="run r does 'tool:1' with something else, but its journal has something else",
    ):
        await in_process.replay("r")
    assert (await in_process.status("r")).state == "completed"
    await play(in_process, [{"wait": ["go"]}], run_id="waits")
    with pytest.raises(EngineError, match="not completed"):
        await in_process.replay("waits")


async def test_a_replay_finds_another_kind_of_operation(toys: Toys, make_engine: Make) -> None:
    waits = False

    async def turns(ctx: RunContext, arg: object) -> None:
        if waits:
            await ctx.wait("one", timeout_s=0)
        else:
            await ctx.start("one", "tool", call("a"))

    engine = make_engine()
    engine.register(loops={"turns": turns}, activities=toys.activities())
    await engine.start()
    await engine.start_run("turns", None, run_id="r")
    await engine.result("r")
    waits = True
    with pytest.raises(NondeterminismError, match="run r does 'one' as wait, not as tool"):
        await engine.replay("r")
    await engine.close()


async def test_a_replay_finds_what_is_new(toys: Toys, make_engine: Make) -> None:
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

    engine = make_engine()
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
