"""The engines that the suite runs against; another one is another line in the table. Time is virtual."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.virtual_time import LoopFactory, loop_factories, now
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime.engine import Engine, LastEvents, OnEvent

from .toys import Toys

Make = Callable[..., Engine]

ENGINES: Mapping[str, Make] = {
    "memory": lambda _, **how: InProcessEngine(clock=now, **how),
    "sqlite": lambda folder, **how: InProcessEngine(folder / "runs.db", clock=now, **how),
    "sqlite full": lambda folder, **how: InProcessEngine(
        folder / "runs.db", synchronous="FULL", clock=now, **how
    ),
}
"""By name; each takes an empty folder and `max_payload_bytes`."""


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return loop_factories(item, "real" if item.path.stem.startswith("test_file") else "virtual")


class StartEngine(Protocol):
    def __call__(
        self,
        *,
        max_payload_bytes: int | None = None,
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        is_started: bool = True,
    ) -> Awaitable[Engine]: ...


@pytest.fixture
async def toys() -> Toys:
    return Toys()


@pytest.fixture(params=list(ENGINES))
async def start_engine(
    request: pytest.FixtureRequest, toys: Toys, tmp_path: Path
) -> AsyncIterator[StartEngine]:
    """Return what makes an engine with the toys, and closes it after the test."""
    engines: list[Engine] = []

    async def start(
        *,
        max_payload_bytes: int | None = None,
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        is_started: bool = True,
    ) -> Engine:
        engine = ENGINES[request.param](tmp_path, max_payload_bytes=max_payload_bytes)
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
async def engine(start_engine: StartEngine) -> Engine:
    return await start_engine()


@pytest.fixture
def follow() -> Callable[..., Awaitable[list[tuple[int, Mapping[str, Json]]]]]:
    """Return what reads the events of a run to their end."""

    async def read(engine: Engine, run_id: str, **how: Any) -> list[tuple[int, Mapping[str, Json]]]:
        return [item async for item in engine.events(run_id, **how)]

    return read
