"""The start of a worker: once, however often it is asked for."""

from __future__ import annotations

import asyncio

import pytest

from tests.engines.starting import StartEngine


async def test_a_worker_that_is_started_twice_at_once_starts_once(
    start_engine: StartEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await start_engine(is_started=False)
    with caplog.at_level("INFO", "toolgen.engines"):
        await asyncio.gather(engine.start(), engine.start())
    assert sum("serves runs and activities" in message for message in caplog.messages) == 1
    assert engine.is_worker
