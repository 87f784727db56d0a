"""The engine on a real Temporal server, for the suite of `tests/engines` and for what only it does."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from tests.engines.starting import StartEngine, starting
from tests.engines.starting import engine as engine
from tests.engines.starting import follow as follow
from tests.engines.starting import toys as toys
from tests.engines.toys import Toys
from tests.temporal_server import TemporalServer
from tests.virtual_time import LoopFactory
from toolgen.engines import Engine
from toolgen.engines.temporal import TemporalEngine, TemporalLimits

from .processes import HEARTBEAT_S, TemporalWorkers

_NUMBERS = itertools.count(1)


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return {"real": asyncio.new_event_loop}


@pytest.fixture(scope="module")
def server(temporal: TemporalServer) -> TemporalServer:
    return temporal


@pytest.fixture
async def start_engine(server: TemporalServer, toys: Toys) -> AsyncIterator[StartEngine]:
    """Return what makes an engine with the toys, and closes it after the test."""
    number = next(_NUMBERS)

    def make(max_payload_bytes: int | None) -> Engine:
        return TemporalEngine(
            server.address,
            queue=f"test {number}",
            prefix=f"{number}:",
            limits=TemporalLimits(heartbeat_s=HEARTBEAT_S, max_payload_bytes=max_payload_bytes or 1_000_000),
        )

    async with starting(make, toys) as start:
        yield start


@pytest.fixture
async def workers(server: TemporalServer, tmp_path: Path) -> AsyncIterator[TemporalWorkers]:
    """Return worker processes, none of which is started, and a client of them."""
    number = next(_NUMBERS)
    settings = {"address": server.address, "queue": f"test {number}", "prefix": f"{number}:"}
    workers = TemporalWorkers(tmp_path, settings)
    await workers.client.start()
    yield workers
    await workers.close()
