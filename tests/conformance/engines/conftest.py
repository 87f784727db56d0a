"""The engine on a real Temporal server, for the suite of `tests/engines` and for what only it does."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import StartEngine
from tests.engines.toys import Toys
from tests.temporal_server import TemporalServer
from tests.virtual_time import LoopFactory
from toolgen.contract.json_value import Json
from toolgen.engines.temporal import TemporalEngine
from toolgen.runtime.engine import Engine, LastEvents, OnEvent

from .processes import HEARTBEAT_S, TemporalWorkers

_NUMBERS = itertools.count(1)


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return {"real": asyncio.new_event_loop}


@pytest.fixture(scope="session")
def server() -> Iterator[TemporalServer]:
    server = TemporalServer()
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def toys() -> Toys:
    return Toys()


@pytest.fixture
async def start_engine(server: TemporalServer, toys: Toys) -> AsyncIterator[StartEngine]:
    """Return what makes an engine with the toys, and closes it after the test."""
    engines: list[Engine] = []
    number = next(_NUMBERS)

    async def start(
        *,
        max_payload_bytes: int | None = None,
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        is_started: bool = True,
    ) -> Engine:
        engine = TemporalEngine(
            server.address,
            queue=f"test {number}",
            prefix=f"{number}:",
            heartbeat_s=HEARTBEAT_S,
            max_payload_bytes=max_payload_bytes or 1_000_000,
        )
        engines.append(engine)
        engine.register(
            loops=toys.loops(), activities=toys.activities(), on_event=on_event, last_events=last_events
        )
        if is_started:
            await engine.start()
        return engine

    yield start
    for engine in engines:
        await engine.close()


@pytest.fixture
async def workers(server: TemporalServer, tmp_path: Path) -> AsyncIterator[TemporalWorkers]:
    """Return worker processes, none of which is started, and a client of them."""
    number = next(_NUMBERS)
    settings = {"address": server.address, "queue": f"test {number}", "prefix": f"{number}:"}
    workers = TemporalWorkers(tmp_path, settings)
    await workers.client.start()
    yield workers
    await workers.close()


@pytest.fixture
async def engine(start_engine: StartEngine) -> Engine:
    return await start_engine()


@pytest.fixture
def follow() -> Callable[..., Awaitable[list[tuple[int, Mapping[str, Json]]]]]:
    """Return what reads the events of a run to their end."""

    async def read(engine: Engine, run_id: str, **how: Any) -> list[tuple[int, Mapping[str, Json]]]:
        return [item async for item in engine.events(run_id, **how)]

    return read
