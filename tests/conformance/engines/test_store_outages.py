"""The store of large values is away for a while: runs are late, and none fails or makes a call again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from examples.servers.postgres import Server
from tests.engines.toys import Toys, call

from .test_offloading import Start
from .test_offloading import payloads as payloads
from .test_offloading import start as start

LARGE = "x" * 200_000


@pytest.fixture
def database(postgres: Server, conninfo: str) -> Iterator[Server]:
    """The server of the store, which runs again after the test."""
    yield postgres
    if not postgres.is_running:
        postgres.start()


async def until(caplog: pytest.LogCaptureFixture, text: str, times: int = 1) -> None:
    """Return when a text was logged as often."""
    async with asyncio.timeout(60):
        while caplog.text.count(text) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("once", [True, False])
async def test_the_result_of_a_call_waits_for_the_store_and_the_call_is_made_once(
    start: Start, toys: Toys, database: Server, caplog: pytest.LogCaptureFixture, once: bool
) -> None:
    engine = await start()
    held: dict[str, Any] = {"once": once, "tells": [], "gate": "done", "attempts": 1, "result": LARGE}
    await engine.start_run("script", [{"calls": [call("a", **held)]}, {"calls": [call("b")]}], run_id="r")
    await toys.has("begun", "a")
    await asyncio.to_thread(database.stop)
    toys.open("done")
    await until(caplog, "waits to be stored: the store of large values cannot be used", 3)
    await asyncio.to_thread(database.start)
    status = await engine.result("r")
    assert (status.state, status.output) == ("completed", [[LARGE], [{"id": "b", "ok": True}]])
    assert toys.counts("start") == {"a": 1, "b": 1}


async def test_what_a_run_reads_and_writes_itself_waits_for_the_store(
    start: Start, toys: Toys, database: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Its workflow tasks fail meanwhile, and the server has them done again; so are attempts at its calls."""
    engine = await start()
    steps: Any = [{"calls": [call("a", tells=[], gate="done")]}, {"calls": [call("b", note=LARGE)]}]
    await engine.start_run("script", steps, run_id="r")
    await toys.has("begun", "a")
    await asyncio.to_thread(database.stop)
    toys.open("done")
    await until(caplog, "the store of large values cannot be used", 3)
    await asyncio.to_thread(database.start)
    status = await engine.result("r")
    assert (status.state, status.output) == ("completed", [[{"id": n, "ok": True}] for n in "ab"])
    assert toys.counts("start") == {"a": 1, "b": 1}
