"""Workers killed at random while runs go on: every run ends, and nothing that must not happens twice."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from tests.engines.toys import call, play
from toolgen.runtime.engine import OUTCOME_UNKNOWN

from .processes import TemporalWorkers, ends

NAMES = ("left", "right")


def steps_of(name: str) -> list[dict[str, Any]]:
    """Return a run of calls, of which some must not happen twice, with children, events and a wait."""
    below = [
        {"calls": [call(f"{name}.below", sleep=0.1), call(f"{name}.below.once", once=True, sleep=0.1)]},
        {"publish": {"type": "below"}},
    ]
    return [
        {"calls": [call(f"{name}.a"), call(f"{name}.once", once=True), call(f"{name}.b", fail_until=2)]},
        {"publish": {"type": "one"}},
        {"child": below},
        {"wait": ["answer:wait:3"], "about": "?"},
        {"publish": {"type": "two"}},
        {"calls": [call(f"{name}.later.once", once=True), call(f"{name}.c")]},
    ]


async def check_kills(workers: TemporalWorkers, *, kills: int, runs: int, seed: int) -> None:
    """Kill one of two workers again and again, until all runs are over."""
    chance, client = random.Random(seed), workers.client
    await workers.start(*NAMES)
    ids = [f"r{number}" for number in range(runs)]

    async def one(run_id: str) -> None:
        await play(client, steps_of(run_id), run_id=run_id)
        assert (await client.settled(run_id)).awaiting, seed
        receipt = await client.answer(run_id, "wait:3", run_id, key="k")
        assert receipt in ("accepted", "recorded"), seed
        other = await client.answer(run_id, "wait:3", "no", key="no")
        # A lost worker may hold a task of the run for some seconds, in which the server shows no answer.
        assert other == "conflict" or (receipt, other) == ("recorded", "recorded"), seed

    async def lead() -> None:
        at_once = asyncio.Semaphore(12)

        async def in_turn(run_id: str) -> None:
            async with at_once:
                await one(run_id)
                await client.result(run_id)

        async with asyncio.TaskGroup() as group:
            for run_id in ids:
                group.create_task(in_turn(run_id))

    async def kill() -> None:
        for _ in range(kills):
            await asyncio.sleep(chance.uniform(0.1, 1.5))
            name = chance.choice(NAMES)
            await workers.kill(name)
            await workers.start(name)

    await asyncio.gather(lead(), kill())
    for run_id in ids:
        status = await client.status(run_id)
        assert (status.state, status.error) == ("completed", ""), (seed, run_id)
        _check_output(status.output, run_id, seed)
        for id_ in (run_id, f"{run_id}/child:2"):
            kinds = [event["type"] for event in await ends(client, id_)]
            wanted = ["below"] if id_ != run_id else ["one", "two"]
            assert kinds == [*wanted, "run_stream_end"], (seed, run_id)
    twice = {id_: times for id_, times in workers.counts("begun").items() if times > 1}
    assert not twice, seed


def _check_output(output: Any, run_id: str, seed: int) -> None:
    first, below, answer, last = output[0], output[1], output[2], output[3]
    assert answer == {"answer:wait:3": run_id}, seed
    for got in (*first, *below[0], *last):
        assert got.get("ok") or got == {"failed": OUTCOME_UNKNOWN}, (seed, run_id, got)
    for place, got in (("a", first[0]), ("b", first[2]), ("below", below[0][0]), ("c", last[1])):
        assert got.get("ok"), (seed, run_id, place, got)
