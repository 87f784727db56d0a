"""Followers of a run that leave before its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from tests.engines.toys import play
from toolgen.contract.json_value import Json
from toolgen.runtime.engine import Engine


def waits_for_reports() -> list[asyncio.Task[object]]:
    """Return the tasks that wait for a report."""
    return [task for task in asyncio.all_tasks() if "ReportQueue.wait" in repr(task.get_coro())]


async def test_a_follower_that_leaves_leaves_no_task(engine: Engine) -> None:
    await play(engine, [{"publish": {"type": "x"}}, {"wait": ["go"]}], run_id="r")
    await engine.settled("r")
    heard: asyncio.Queue[Mapping[str, Json]] = asyncio.Queue()

    async def follow() -> None:
        async for _, event in engine.events("r"):
            heard.put_nowait(event)

    follower = asyncio.create_task(follow())
    assert await heard.get() == {"type": "x"}
    while not waits_for_reports():  # noqa: ASYNC110
        await asyncio.sleep(0)
    follower.cancel()
    with pytest.raises(asyncio.CancelledError):
        await follower
    await asyncio.sleep(0)
    assert not waits_for_reports()
