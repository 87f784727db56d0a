"""Workers that are told to end, and activities of canceled runs: what is lost by neither."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.engines.toys import call, play
from toolgen.runtime.engine import OUTCOME_UNKNOWN

from .processes import HEARTBEAT_S, TemporalWorkers, ends


async def test_what_ends_within_the_drain_is_not_executed_again(workers: TemporalWorkers) -> None:
    """What does not is executed again by the next worker, and none of it is a cancellation of its run."""
    client = workers.client
    calls = [call("soon", gate="soon"), call("late", gate="late"), call("once", once=True, gate="soon")]
    calls.append(call("unknown", once=True, gate="late"))
    await play(
        client, [{"calls": calls}, {"publish": {"type": "x"}}, {"wait": ["go"], "about": "?"}], run_id="r"
    )
    await play(
        client, [{"wait": ["answer:wait:0"], "about": "?"}, {"calls": [call("answered")]}], run_id="parked"
    )
    await workers.start("first", drain_s=2.0)
    for id_ in ("soon", "late"):
        await workers.has("start", id_)
    await workers.has("begun", "once")
    await workers.has("begun", "unknown")
    assert (await client.settled("parked")).awaiting
    await workers.start("second")
    stopping = asyncio.ensure_future(workers.stop("first"))
    await workers.has("closing", "first")
    workers.open("soon")
    receipt = await client.answer("parked", "wait:0", "yes", key="yes")
    assert receipt in ("accepted", "recorded")
    assert (await client.result("parked")).state == "completed"
    await stopping
    assert workers.counts("closed")["first"] == 1
    workers.open("late")
    status = await client.settled("r")
    assert (status.state, status.error) == ("waiting", "")
    await client.signal("r", "go", 1, signal_id="1")
    status = await client.result("r")
    done: list[Any] = [{"id": id_, "ok": True} for id_ in ("soon", "late", "once")]
    assert status.output == [[*done, {"failed": OUTCOME_UNKNOWN}], {"go": 1}]
    assert workers.counts("begun") == {"once": 1, "unknown": 1}
    assert (workers.attempts("soon"), workers.counts("start")["once"]) == ([1], 1)
    assert workers.counts("start")["late"] == 2
    assert workers.counts("cancel") == {"late": 1, "unknown": 1}, "in the worker that ended"
    await ends(client, "r")


async def test_a_cancellation_reaches_a_tool_with_a_heartbeat(workers: TemporalWorkers) -> None:
    client = workers.client
    await workers.start("one")
    await play(client, [{"calls": [call("a", gate="never"), call("b", gate="never")]}], run_id="r")
    await play(client, [{"child": [{"calls": [call("c", gate="never")]}]}], run_id="above")
    for id_ in ("a", "b", "c"):
        await workers.has("start", id_)
    async with asyncio.timeout(4 * HEARTBEAT_S):  # of a busy machine; on a quiet one a sixth of a heartbeat
        await client.cancel("r", reason="enough")
        await client.cancel("above", reason="enough")
        for id_ in ("a", "b", "c"):
            await workers.has("cancel", id_)
    assert (await client.status("above/child:0")).state == "canceled"


async def test_a_tool_that_holds_the_event_loop_is_taken_for_lost(workers: TemporalWorkers) -> None:
    """It is executed again by another worker, unless it must not be; its late result is dropped."""
    client = workers.client
    await workers.start("blocked")
    blocking = [call("blocks", blocks=2 * HEARTBEAT_S), call("beside", gate="on")]
    await play(client, [{"calls": blocking}], run_id="r")
    await workers.has("block", "blocks")
    await workers.start("other")
    await workers.until(lambda: workers.counts("end")["blocks"] >= 2)
    workers.open("on")
    status = await client.result("r")
    assert status.output == [[{"id": "blocks", "ok": True}, {"id": "beside", "ok": True}]]
    assert sorted(workers.attempts("blocks")) == [1, 2]
    await ends(client, "r")
