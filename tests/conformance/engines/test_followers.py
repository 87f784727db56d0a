"""Followers of a run that leave before its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from temporalio.client import Client

from tests.engines.toys import play
from tests.temporal_server import TemporalServer
from toolgen.contract.json_value import Json
from toolgen.engines import Engine
from toolgen.engines.temporal.reader import HistoryReader

from .processes import TemporalWorkers


def reading() -> list[asyncio.Task[object]]:
    """Return the tasks that read a history as it grows."""
    return [task for task in asyncio.all_tasks() if "_read_on" in repr(task.get_coro())]


async def test_a_follower_that_leaves_leaves_no_task(engine: Engine) -> None:
    await play(engine, [{"publish": {"type": "x"}}, {"wait": ["go"]}], run_id="r")
    await engine.settled("r")
    heard: asyncio.Queue[Mapping[str, Json]] = asyncio.Queue()

    async def follow() -> None:
        async for _, event in engine.events("r"):
            heard.put_nowait(event)

    follower = asyncio.create_task(follow())
    assert await heard.get() == {"type": "x"}
    assert reading()
    follower.cancel()
    with pytest.raises(asyncio.CancelledError):
        await follower
    await asyncio.sleep(0)
    assert not reading()


async def test_a_reader_goes_on_where_the_server_does_not_take_its_token(
    server: TemporalServer, workers: TemporalWorkers
) -> None:
    """A token has a count of changes of the run, and a server that loads the run again counts anew."""
    await play(workers.client, [{"publish": {"type": "x"}}], run_id="r")
    client = await Client.connect(server.address)
    workflow_id = f"{workers.settings['prefix']}r"
    reader = HistoryReader(client, workers.settings["prefix"], "r")
    assert await reader.grow()
    started = reader.view.start
    token = reader._pages._next_page_token
    assert token is not None
    assert started is not None
    reader._pages._next_page_token = token[:-1] + bytes([token[-1] + 1])
    assert await reader.grow()
    assert reader.view.start is started  # an event that was read is not read again
    await client.get_workflow_handle(workflow_id).terminate()
    while await reader.grow():
        pass
    assert reader.view.ending is not None
