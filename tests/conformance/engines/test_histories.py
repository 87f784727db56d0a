"""One stored history of each scenario: a worker replays it, and refuses it with another version.

`UPDATE=1` stores those of now in their place.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from temporalio.client import WorkflowHistory

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys, call, play
from toolgen.engines import EndedRun
from toolgen.engines.temporal import TemporalEngine

from .recorder import Histories, StoredHistory, name_of, replay

HISTORIES: Final = Histories(Path(__file__).parent / "histories")
Scenario = Callable[[TemporalEngine, Toys], Awaitable[list[str]]]
SCENARIOS: Final[list[Scenario]] = []
"""Each makes runs, and returns their ids."""


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function


@scenario
async def calls_and_retries(engine: TemporalEngine, toys: Toys) -> list[str]:
    calls = [call("a"), call("b", fail_until=3), call("c", is_fatal=True), call("d", once=True)]
    steps = [
        {"calls": calls},
        {"publish": {"type": "one"}},
        {"calls": [call("late", sleep=0.5, timeout=0.05, attempts=2)]},
        {"publish": {"type": "two"}},
        {"leave": call("left", gate="never")},
    ]
    await play(engine, steps, run_id="calls")
    await play(engine, [{"publish": {"type": "one"}}, {"raise": "no such thing"}], run_id="raises")
    await engine.result("calls")
    await engine.result("raises")
    return ["calls", "raises"]


@scenario
async def waits(engine: TemporalEngine, toys: Toys) -> list[str]:
    steps = [
        {"wait": ["go", "stop"]},
        {"wait": ["answer:wait:1"], "about": {"question": "?"}},
        {"wait": ["never"], "timeout_s": 0.05, "about": "short"},
        {"wait": ["never"], "timeout_s": 0},
        {"wait": [], "timeout_s": 0.05},
        {"wait": ["answer:wait:5"], "timeout_s": 3600.0, "about": "last"},
        {"calls": [call("after")]},
    ]
    await play(engine, steps, run_id="waits")
    await engine.settled("waits")
    await engine.signal("waits", "stop", 1, signal_id="1")
    await engine.signal("waits", "stop", 1, signal_id="1")
    await engine.answer("waits", "wait:1", "yes", key="yes")
    await engine.answer("waits", "wait:5", "no", key="no")
    await engine.result("waits")
    await play(engine, steps, run_id="parked")
    await engine.settled("parked")
    return ["waits", "parked"]


@scenario
async def children(engine: TemporalEngine, toys: Toys) -> list[str]:
    below = [{"calls": [call("below")]}, {"wait": ["go"], "about": "below"}]
    steps = [
        {"detach": [{"calls": [call("apart")]}, {"wait": ["go"]}]},
        {"parts": [{"child": below}, {"call": call("beside")}]},
        {"child": [{"raise": "no"}]},
    ]
    await play(engine, steps, run_id="above")
    await engine.settled("above")
    await engine.signal("above/child:1.0", "go", 1, signal_id="1")
    await engine.result("above")
    await engine.signal("above/work:0", "go", 1, signal_id="1")
    await engine.result("above/work:0")
    return ["above", "above/child:1.0", "above/child:2", "above/work:0"]


@scenario
async def cancellations(engine: TemporalEngine, toys: Toys) -> list[str]:
    steps = [
        {"publish": {"type": "one"}},
        {"detach": [{"wait": ["go"]}]},
        {"parts": [{"child": [{"wait": ["go"]}]}, {"call": call("canceled", gate="never")}]},
    ]
    await play(engine, steps, run_id="canceled")
    await toys.has("start", "canceled")
    await engine.start_run("stubborn", None, run_id="stubborn")
    await engine.settled("stubborn")
    ids = ["canceled", "stubborn", "canceled/work:1", "canceled/child:2.0"]
    await asyncio.gather(*(engine.cancel(run_id, reason="enough") for run_id in ids[:2]))
    for run_id in ids:
        assert (await engine.result(run_id)).state == "canceled"
    return ids


@scenario
async def cut_off(engine: TemporalEngine, toys: Toys) -> list[str]:
    """A run that is canceled while a call goes on that must not happen twice, and has begun."""
    await play(engine, [{"parts": [{"call": call("cut", once=True, gate="never")}]}], run_id="cut")
    await toys.has("start", "cut")
    await engine.cancel("cut", reason="enough")
    assert (await engine.result("cut")).state == "canceled"
    return ["cut"]


@scenario
async def times(engine: TemporalEngine, toys: Toys) -> list[str]:
    await engine.start_run("clock", None, run_id="clock")
    await engine.result("clock")
    return ["clock"]


def last_events(ended: EndedRun) -> list[Mapping[str, Any]]:
    return [{"type": "last", "number": len(ended.log)}]


async def failure(history: StoredHistory, toys: Toys) -> str:
    """Return for what a replay of a history stands still; "" where it does not."""
    found = await replay(history, toys.loops(), last_events=last_events)
    return "" if found.replay_failure is None else str(found.replay_failure)


@pytest.mark.parametrize("make", SCENARIOS, ids=lambda make: make.__name__)
async def test_what_runs_do_now_can_be_replayed(
    make: Scenario, start_engine: StartEngine, toys: Toys, tmp_path: Path
) -> None:
    engine = await start_engine(last_events=last_events)
    assert isinstance(engine, TemporalEngine)
    ids = await make(engine, toys)
    if os.environ.get("UPDATE"):
        await HISTORIES.store(engine, ids[0])
    assert name_of(ids[0]) in HISTORIES.names(), "it is not stored: UPDATE=1"
    histories = Histories(tmp_path / "histories")
    await histories.store(engine, *ids)
    for run_id in ids:
        assert await failure(histories.read(name_of(run_id)), toys) == ""


@pytest.mark.parametrize("name", HISTORIES.names())
async def test_a_stored_history_can_be_replayed(name: str, toys: Toys) -> None:
    assert await failure(HISTORIES.read(name), toys) == ""


@pytest.mark.parametrize("number", [0, 1, 2, 4])
async def test_a_run_of_another_version_stands_still(number: int, toys: Toys) -> None:
    stored = HISTORIES.read("calls")
    (given,) = stored.history.events[0].workflow_execution_started_event_attributes.input.payloads
    given.data = json.dumps({**json.loads(given.data), "version": number}).encode()
    says = f"it has version {number} of a run; this toolgen executes version 3"
    assert says in await failure(stored, toys)


async def test_a_run_that_began_without_the_newest_patch_stands_still(toys: Toys) -> None:
    """As its first workflow task left it, without the record of the patch."""
    stored = HISTORIES.read("calls")
    history = WorkflowHistory(stored.history.workflow_id, stored.history.events[:4])
    says = "it has version 3 of a run without the patch 'projected'; this toolgen executes version 3"
    assert says in await failure(StoredHistory(stored.prefix, history), toys)


async def test_a_loop_that_does_something_else_stands_still(toys: Toys) -> None:
    async def other(ctx: Any, steps: Any) -> Any:
        return [await ctx.start("tool:other", "tool", call("other"))]

    found = await replay(HISTORIES.read("calls"), {"script": other})
    assert "tool:other" in str(found.replay_failure)


async def test_a_loop_that_asks_for_something_else_stands_still(toys: Toys) -> None:
    """The server compares the ids of activities; that their arguments are the same is ours to see."""

    async def other(ctx: Any, steps: Any) -> Any:
        return await ctx.gather(*(ctx.start(f"tool:{id_}", "tool", call(id_, extra=1)) for id_ in "abcd"))

    found = await replay(HISTORIES.read("calls"), {"script": other})
    assert "with something else" in str(found.replay_failure)
