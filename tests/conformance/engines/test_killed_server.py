"""A server that is killed and started again on its file, with runs in the middle and runs that wait."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engines.toys import call, play
from tests.temporal_server import TemporalServer

from .processes import TemporalWorkers, ends


@pytest.fixture
def server(tmp_path: Path) -> TemporalServer:
    return TemporalServer(tmp_path / "temporal.db")


@pytest.fixture
async def workers(server: TemporalServer, tmp_path: Path) -> AsyncIterator[TemporalWorkers]:
    await asyncio.to_thread(server.start)
    workers = TemporalWorkers(tmp_path, {"address": server.address})
    yield workers
    await workers.close()
    server.kill()


def test_a_server_whose_port_is_taken_starts_at_another_one() -> None:
    """Another program can take a free port before the server listens; clients do not know it yet."""
    server = TemporalServer()
    with socket.socket() as other:
        other.bind(("127.0.0.1", server.port))
        server.start()
        assert server.port != other.getsockname()[1]
    server.kill()


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"ended with 1: .*--unheard-of"):
        TemporalServer(None, "--unheard-of").start()


async def test_runs_go_on_and_no_accepted_answer_is_lost(
    server: TemporalServer, workers: TemporalWorkers
) -> None:
    client = workers.client
    await workers.start("first")
    for number in range(6):
        steps = [{"wait": ["answer:wait:0"], "about": "?"}, {"calls": [call(f"asks{number}", gate="1")]}]
        await play(client, steps, run_id=f"asks{number}")
    await play(client, [{"calls": [call("busy", gate="1")]}, {"calls": [call("then")]}], run_id="busy")
    await play(client, [{"child": [{"calls": [call("below", gate="1")]}]}], run_id="above")
    await play(client, [{"calls": [call("once", once=True, gate="1")]}], run_id="once")
    await workers.has("start", "busy")
    await workers.has("start", "below")
    await workers.has("begun", "once")
    for number in range(6):
        assert (await client.settled(f"asks{number}")).awaiting
    receipts = [await client.answer(f"asks{number}", "wait:0", number, key="k") for number in range(3)]
    assert receipts == ["accepted"] * 3
    following = asyncio.ensure_future(client.result("asks0"))
    await workers.has("start", "asks0")

    server.kill()
    await asyncio.to_thread(server.start)
    for number in range(3):
        assert await client.answer(f"asks{number}", "wait:0", "other", key="other") == "conflict"
    for number in range(3, 6):
        assert await client.answer(f"asks{number}", "wait:0", number, key="k") in ("accepted", "recorded")

    server.kill()
    await workers.kill("first")
    await asyncio.to_thread(server.start)
    workers.open("1")
    await workers.start("second")
    for number in range(6):
        status = await client.result(f"asks{number}")
        assert status.output == [{"answer:wait:0": number}, [{"id": f"asks{number}", "ok": True}]]
        await ends(client, f"asks{number}")
    assert (await following).output == (await client.status("asks0")).output
    assert (await client.result("busy")).output == [
        [{"id": "busy", "ok": True}],
        [{"id": "then", "ok": True}],
    ]
    assert (await client.result("above")).state == "completed"
    assert (await client.result("once")).output == [[{"failed": "outcome_unknown"}]]
    assert workers.counts("begun")["once"] == 1
