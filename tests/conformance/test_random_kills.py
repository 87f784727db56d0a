"""Runs in a file under random kills of their worker: what clients were told is what became of the runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.engines.processes import PATIENCE_S, Workers
from tests.engines.toys import call, play
from toolgen.runtime.engine import WaitOverError

RUNS = 24
KILLS = 6


@pytest.mark.parametrize("seed", [1])
async def test_what_clients_were_told_is_what_became_of_the_runs(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    workers = Workers(tmp_path)
    await workers.client.start()
    await workers.start()
    told: dict[str, Any] = {}

    async def answer(run_id: str) -> None:
        """Start a run, answer it at some time, and note what was said."""
        steps: list[Any] = [
            {
                "calls": [
                    call(f"{run_id}.{n}", emit=chance.randrange(3)) for n in range(chance.randrange(1, 4))
                ]
            },
            {"publish": {"type": "asked"}},
            {"wait": ["answer:wait:2"], "about": run_id, "timeout_s": chance.choice([0.05, 0.5, 60.0])},
            {"child": [{"wait": ["go"]}, {"calls": [call(f"{run_id}.below")]}]},
        ]
        await play(workers.client, steps, run_id=run_id)
        await asyncio.sleep(chance.random() * 0.6)
        try:
            told[run_id] = await workers.client.answer(run_id, "wait:2", run_id, key="k")
        except WaitOverError:
            told[run_id] = None
        if chance.random() < 0.2:
            await workers.client.cancel(run_id, reason="chance")
            return
        async with asyncio.timeout(PATIENCE_S):
            while not (await workers.client.status(run_id)).children:
                if (await workers.client.status(run_id)).is_over:
                    return
                await asyncio.sleep(0.01)
        await workers.client.signal(f"{run_id}/child:3", "go", 1, signal_id="1")

    async def kill() -> None:
        for _ in range(KILLS):
            await asyncio.sleep(chance.random() * 0.4)
            await workers.kill()
            await asyncio.sleep(chance.random() * 0.1)
            await workers.start()

    async with asyncio.timeout(2 * PATIENCE_S):
        await asyncio.gather(kill(), *(answer(f"r{number}") for number in range(RUNS)))
        for number in range(RUNS):
            await _is_right(workers, f"r{number}", told)
    await workers.kill()
    await workers.client.close()


async def _is_right(workers: Workers, run_id: str, told: dict[str, Any]) -> None:
    status = await workers.client.result(run_id)
    events = [(offset, event["type"]) async for offset, event in workers.client.events(run_id)]
    assert [offset for offset, _ in events] == list(range(1, len(events) + 1))
    assert [kind for _, kind in events].count("asked") <= 1
    assert events[-1][1] == "run_stream_end"
    if status.state == "canceled":
        assert status.error == "chance"
        return
    assert status.state == "completed"
    output: Any = status.output
    assert output[1] == (None if told[run_id] is None else {"answer:wait:2": run_id}), told[run_id]
    assert output[2] == [{"go": 1}, [{"id": f"{run_id}.below", "ok": True}]]
