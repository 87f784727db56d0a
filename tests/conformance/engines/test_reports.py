"""Pieces of text and progress of a worker in another process, by a database; no run waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.engines.toys import Toys, call, play, script
from tests.temporal_server import TemporalServer
from toolgen.engines import Engine
from toolgen.engines.temporal import TemporalEngine

from .processes import TemporalWorkers
from .worker import channel

STEPS: list[dict[str, Any]] = [
    {"publish": {"type": "began"}},
    {"wait": ["go"]},
    {"calls": [call("a", emit=5, gate="open")]},
]


async def followed(engine: Engine, stages: asyncio.Queue[str]) -> list[Any]:
    """Return what comes, and say when the log has begun, and when the last report is there."""
    seen = []
    async for offset, event in engine.events("r"):
        seen.append(event.get("number", event["type"]))
        if offset == 1:
            stages.put_nowait("began")
        if seen[-1] == 4:
            stages.put_nowait("heard")
    return seen


@pytest.mark.parametrize("key", [None, "hidden"])
async def test_followers_get_the_reports_of_a_worker_in_another_process(
    workers: TemporalWorkers, conninfo: str, key: str | None
) -> None:
    how = {"reports": conninfo, "key": key}
    await workers.start("one", **how)
    clients = [workers.new_client(**how), workers.new_client(**how)]
    stages: asyncio.Queue[str] = asyncio.Queue()
    await play(clients[0], STEPS, run_id="r")
    following = [asyncio.ensure_future(followed(client, stages)) for client in (*clients, clients[0])]
    assert [await stages.get() for _ in following] == ["began"] * 3
    await clients[0].signal("r", "go", 1, signal_id="1")
    assert [await stages.get() for _ in following] == ["heard"] * 3
    (workers.folder / "open").touch()
    assert await asyncio.gather(*following) == [["began", *range(5), "run_stream_end"]] * 3
    for client in clients:
        await client.close()


async def test_a_worker_gives_its_own_followers_each_report_once(
    server: TemporalServer, conninfo: str
) -> None:
    own = channel(conninfo)
    assert own is not None
    engine = TemporalEngine(server.address, queue="own", prefix="own:", reports=own)
    toys, stages = Toys(), asyncio.Queue[str]()
    engine.register(loops={"script": script}, activities=toys.activities())
    await engine.start()
    await play(engine, STEPS, run_id="r")
    async with own.listen(f"{engine.id}:r", lambda message: stages.put_nowait("notified")):
        following = asyncio.ensure_future(followed(engine, stages))
        assert await stages.get() == "began"
        await engine.signal("r", "go", 1, signal_id="1")
        assert sorted([await stages.get() for _ in range(6)]) == ["heard", *["notified"] * 5]
    toys.open("open")
    assert await following == ["began", *range(5), "run_stream_end"]
    await engine.close()


class Unreachable:
    """A channel that takes no message within the time of a test, or fails, and never listens."""

    def __init__(self, *, fails: bool) -> None:
        self.sent = 0
        self._fails = fails

    async def send(self, messages: Sequence[tuple[str, bytes]]) -> None:
        self.sent += 1
        if self._fails:
            raise OSError("nobody is there")
        await asyncio.Event().wait()

    @asynccontextmanager
    async def listen(self, topic: str, take: Callable[[bytes], None]) -> AsyncIterator[None]:
        await self.send([])
        yield


@pytest.mark.parametrize("fails", [True, False])
async def test_no_run_and_no_follower_waits_for_a_channel(
    server: TemporalServer, fails: bool, caplog: pytest.LogCaptureFixture
) -> None:
    unreachable = Unreachable(fails=fails)
    prefix = f"unreachable {fails}:"
    engine = TemporalEngine(server.address, queue=prefix, prefix=prefix, reports=unreachable)
    engine.register(loops={"script": script}, activities=Toys().activities())
    await engine.start()
    with caplog.at_level(logging.WARNING, "toolgen.engines"):
        await play(engine, [{"calls": [call("a", emit=3000)]}, {"wait": ["go"]}], run_id="r")
        await engine.settled("r")
        following = asyncio.ensure_future(followed(engine, asyncio.Queue()))
        await engine.signal("r", "go", 1, signal_id="1")
        assert (await engine.result("r")).state == "completed"
    assert (await following)[-1] == "run_stream_end"
    assert unreachable.sent > 1
    assert caplog.text.count("reports do not reach other processes") == fails
    await engine.close()
