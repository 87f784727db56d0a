"""Workers that are killed: what they had begun, and what waited meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from tests.engines.toys import call, play
from toolgen.engines import OUTCOME_UNKNOWN, WaitOverError

from .processes import TemporalWorkers, ends


def ok(id_: str) -> dict[str, object]:
    return {"id": id_, "ok": True}


async def test_what_a_killed_worker_had_in_hand_is_settled_by_the_next(workers: TemporalWorkers) -> None:
    """What had begun and must not happen twice is unknown; all else is executed again, unless it is done."""
    client = workers.client
    await play(
        client, [{"calls": [call("once", once=True, gate="1")]}, {"publish": {"type": "x"}}], run_id="once"
    )
    calls = [call("again", gate="1"), call("done"), call("more", gate="1")]
    await play(client, [{"calls": [call("before")]}, {"calls": calls}], run_id="again")
    below = [{"calls": [call("below.done")]}, {"calls": [call("below", gate="1")]}, {"wait": ["go"]}]
    await play(client, [{"child": below}], run_id="above")
    await play(client, [{"calls": [call("parked")]}, {"wait": ["go"], "about": "?"}], run_id="parked")
    await play(client, [{"wait": ["answer:wait:0"], "about": "?"}, {"calls": [call("after")]}], run_id="asks")
    await workers.start("first")
    for id_ in ("again", "more", "below"):
        await workers.has("start", id_)
    await workers.has("begun", "once")
    await workers.has("end", "done")
    assert (await client.settled("parked")).awaiting
    assert (await client.settled("asks")).awaiting
    await workers.kill("first")

    receipts = await asyncio.gather(
        client.answer("asks", "wait:0", "yes", key="yes"),
        client.signal("parked", "go", 7, signal_id="1"),
    )
    assert receipts[0] == "recorded"
    assert await client.answer("asks", "wait:0", "yes", key="yes") == "same"
    assert await client.answer("asks", "wait:0", "no", key="no") == "conflict"
    workers.open("1")
    await workers.start("second")

    unknown = await client.result("once")
    assert unknown.output == [[{"failed": OUTCOME_UNKNOWN}]]
    assert (workers.counts("begun")["once"], workers.counts("end")["once"]) == (1, 0)
    again = await client.result("again")
    assert again.output == [[ok("before")], [ok("again"), ok("done"), ok("more")]]
    starts = workers.counts("start")
    assert (starts["before"], starts["done"]) == (1, 1)
    assert workers.attempts("again") == workers.attempts("more") == [1, 2]
    assert (await client.settled("above")).state == "waiting"
    await client.signal("above/child:0", "go", 1, signal_id="1")
    assert (await client.result("above")).output == [[[ok("below.done")], [ok("below")], {"go": 1}]]
    assert (workers.counts("start")["below.done"], workers.attempts("below")) == (1, [1, 2])
    assert (await client.result("parked")).output == [[ok("parked")], {"go": 7}]
    assert workers.counts("start")["parked"] == 1
    assert (await client.result("asks")).output == [{"answer:wait:0": "yes"}, [ok("after")]]
    assert await client.answer("asks", "wait:0", "no", key="no") == "conflict"
    with pytest.raises(WaitOverError):
        await client.answer("parked", "wait:0", "yes", key="yes")
    for run_id in ("once", "again", "above", "above/child:0", "parked", "asks"):
        await ends(client, run_id)


async def test_what_had_not_begun_is_executed_again(workers: TemporalWorkers) -> None:
    """`once` holds from the begun record on: a worker killed before it has done nothing."""
    client = workers.client
    await play(client, [{"calls": [call("once", once=True, blocks=30)]}], run_id="r")
    await workers.start("first")
    await workers.has("block", "once")
    await workers.kill("first")
    assert workers.counts("begun")["once"] == 0
    await workers.start("second")
    assert (await client.result("r")).output == [[ok("once")]]
    assert (workers.attempts("once"), workers.counts("begun")["once"]) == ([2], 1)


async def test_what_is_told_before_an_effect_is_in_the_log_once(workers: TemporalWorkers) -> None:
    """Whether the worker is killed in the middle, the run is canceled, or all goes well."""
    client = workers.client
    tells = [{"type": "approved", "by": "jo"}, {"type": "approved", "by": "mira"}]
    for run_id in ("killed", "canceled", "ends"):
        one = call(run_id, once=True, tells=tells, gate=run_id)
        await play(client, [{"calls": [one]}, {"publish": {"type": "after"}}], run_id=run_id)
    await workers.start("first")
    for run_id in ("killed", "canceled", "ends"):
        await workers.has("begun", run_id)
    workers.open("ends")
    assert (await client.result("ends")).output == [[ok("ends")]]
    await client.cancel("canceled", reason="enough")
    await workers.kill("first")
    await workers.start("second")
    assert (await client.result("killed")).output == [[{"failed": OUTCOME_UNKNOWN}]]
    assert (await client.result("canceled")).state == "canceled"
    for run_id, last in (("killed", "after"), ("ends", "after"), ("canceled", "run_completed")):
        events = await ends(client, run_id)
        assert events[:2] == tells, run_id
        assert [event["type"] for event in events[2:]] == [last, "run_stream_end"], run_id
