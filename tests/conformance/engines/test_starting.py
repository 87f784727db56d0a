"""The start of a worker: once, however often it is asked for; where it fails, what the server says."""

from __future__ import annotations

import asyncio

import pytest

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys
from tests.temporal_server import TemporalServer
from toolgen.engines import EngineError
from toolgen.engines.temporal import TemporalEngine


async def test_a_worker_that_is_started_twice_at_once_starts_once(
    start_engine: StartEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await start_engine(is_started=False)
    with caplog.at_level("INFO", "toolgen.engines"):
        await asyncio.gather(engine.start(), engine.start())
    assert sum("serves runs and activities" in message for message in caplog.messages) == 1
    assert engine.is_worker


async def test_a_namespace_that_is_not_there_lacks_no_search_attributes(
    server: TemporalServer, toys: Toys
) -> None:
    engine = TemporalEngine(server.address, namespace="nowhere")
    engine.register(loops=toys.loops(), activities=toys.activities())
    with pytest.raises(EngineError, match=r"NOT_FOUND: .*nowhere") as caught:
        await engine.start()
    assert caught.value.hint == "check that it is running and that its namespace exists"
    await engine.close()
