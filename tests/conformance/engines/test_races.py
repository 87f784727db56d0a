"""Clients in different processes that answer, cancel and signal a run at the same moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from typing import Any

import pytest

from tests.engines.toys import call, play
from tests.selection import volume
from tests.temporal_server import TemporalServer
from toolgen.engines import Receipt, WaitOverError

from . import clerk
from .processes import FORKS, TemporalWorkers, ends

pytestmark = pytest.mark.costly

RACES = volume(4, lab=30)
STEPS = [{"wait": ["answer:wait:0"], "about": "?"}, {"calls": [call("after")]}]


class Clerks:
    """Two client processes."""

    def __init__(self, connections: list[Connection[list[Any], str]]) -> None:
        self._connections = connections

    async def at_once(self, *commands: list[Any]) -> list[str]:
        """Return what became of the command of each."""
        for connection, command in zip(self._connections, commands, strict=True):
            connection.send(command)
        return await self.said()

    async def said(self) -> list[str]:
        return [await asyncio.to_thread(connection.recv) for connection in self._connections]


@asynccontextmanager
async def two_clerks(settings: dict[str, Any]) -> AsyncIterator[Clerks]:
    processes, connections = [], []
    for _ in range(2):
        ours, theirs = FORKS.Pipe()
        processes.append(FORKS.Process(target=clerk.run, args=(settings, theirs), daemon=True))
        processes[-1].start()
        theirs.close()
        connections.append(ours)
    try:
        clerks = Clerks(connections)
        assert await clerks.said() == ["ready", "ready"]
        yield clerks
    finally:
        for process, connection in zip(processes, connections, strict=True):
            process.kill()
            await asyncio.to_thread(process.join)
            connection.close()


async def parked(workers: TemporalWorkers, prefix: str, runs: int = RACES) -> list[str]:
    """Return runs that wait for an answer."""
    ids = [f"{prefix}{number}" for number in range(runs)]
    for run_id in ids:
        await play(workers.client, STEPS, run_id=run_id)
    for run_id in ids:
        assert (await workers.client.settled(run_id)).awaiting
    return ids


@pytest.fixture
async def clerks(workers: TemporalWorkers) -> AsyncIterator[Clerks]:
    async with two_clerks(workers.settings) as two:
        yield two


@pytest.mark.volume
async def test_one_of_two_answers_is_accepted_and_the_run_has_it(
    workers: TemporalWorkers, clerks: Clerks
) -> None:
    await workers.start("one")
    for run_id in await parked(workers, "answers"):
        receipts = await clerks.at_once(
            ["answer", run_id, "wait:0", "left"], ["answer", run_id, "wait:0", "right"]
        )
        assert sorted(receipts) == ["accepted", "conflict"], run_id
        kept = ("left", "right")[receipts.index("accepted")]
        output: Any = (await workers.client.result(run_id)).output
        assert output[0] == {"answer:wait:0": kept}
        await ends(workers.client, run_id)


async def test_two_equal_answers_are_one(workers: TemporalWorkers, clerks: Clerks) -> None:
    await workers.start("one")
    [run_id] = await parked(workers, "equal", 1)
    both = ["answer", run_id, "wait:0", "yes"]
    assert sorted(await clerks.at_once(both, both)) == ["accepted", "same"]


@pytest.mark.volume
async def test_an_accepted_answer_is_not_dropped_by_a_cancellation(
    workers: TemporalWorkers, clerks: Clerks
) -> None:
    await workers.start("one")
    for number, run_id in enumerate(await parked(workers, "cancel")):
        answer, cancel = ["answer", run_id, "wait:0", run_id], ["cancel", run_id]
        receipts = await clerks.at_once(*((answer, cancel) if number % 2 else (cancel, answer)))
        receipt = receipts[0 if number % 2 else 1]
        status = await workers.client.result(run_id)
        wait = await workers.client.wait_status(run_id, "wait:0")
        assert wait is not None
        assert not wait.is_open
        assert receipt in ("accepted", "over"), run_id
        assert wait.answer == (run_id if receipt == "accepted" else None), run_id
        if receipt == "over":
            assert status.state == "canceled"
            with pytest.raises(WaitOverError):
                await workers.client.answer(run_id, "wait:0", run_id, key="again")
        if status.state == "completed":
            assert isinstance(status.output, list)
            assert status.output[0] == {"answer:wait:0": run_id}
        await ends(workers.client, run_id)


async def test_signals_while_a_run_ends_do_not_stall_it(
    workers: TemporalWorkers, server: TemporalServer
) -> None:
    """The server refuses the end of a workflow that has news, and its worker does the task again."""
    await workers.start("one")
    client = workers.client

    async def storm(run_id: str, over: asyncio.Event) -> None:
        number = 0
        while not over.is_set():
            number += 1
            await client.signal(run_id, "noise", number, signal_id=str(number))

    async def one(run_id: str) -> None:
        await play(client, [{"calls": [call(run_id)]}], run_id=run_id)
        over = asyncio.Event()
        storms = [asyncio.ensure_future(storm(run_id, over)) for _ in range(3)]
        status = await client.result(run_id)
        over.set()
        await asyncio.gather(*storms)
        assert (status.state, status.error) == ("completed", "")
        await ends(client, run_id)

    for number in range(3):
        await asyncio.gather(*(one(f"noisy{number}.{place}") for place in range(3)))


async def test_many_answers_to_one_run_at_once_are_all_kept(workers: TemporalWorkers) -> None:
    """The server takes ten updates of a workflow at once; there may be more, with a worker and without."""
    client = workers.client
    parts = [{"wait": [f"answer:wait:0.{number}"], "about": number} for number in range(12)]

    async def answered(run_id: str) -> list[Receipt]:
        answers = [client.answer(run_id, f"wait:0.{number}", number, key="k") for number in range(12)]
        return await asyncio.gather(*answers)

    await play(client, [{"parts": parts}], run_id="without")
    assert set(await answered("without")) == {"recorded"}
    await workers.start("one")
    await play(client, [{"parts": parts}], run_id="with")
    assert (await client.settled("with")).awaiting
    receipts = await answered("with")
    assert set(receipts) <= {"accepted", "recorded"}
    for run_id in ("with", "without"):
        wanted = [{f"answer:wait:0.{number}": number} for number in range(12)]
        assert (await client.result(run_id)).output == [wanted]
