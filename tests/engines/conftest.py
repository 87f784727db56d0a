"""The engines that the suite runs against; another one is another line in the table. Time is virtual."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from tests.virtual_time import LoopFactory, loop_factories, now
from toolgen.engines import InProcessEngine
from toolgen.runtime.engine import Engine

from .starting import StartEngine, starting
from .starting import engine as engine
from .starting import follow as follow
from .starting import toys as toys
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


@pytest.fixture(params=list(ENGINES))
async def start_engine(
    request: pytest.FixtureRequest, toys: Toys, tmp_path: Path
) -> AsyncIterator[StartEngine]:
    """Return what makes an engine with the toys, and closes it after the test."""

    def make(max_payload_bytes: int | None) -> Engine:
        return ENGINES[request.param](tmp_path, max_payload_bytes=max_payload_bytes)

    async with starting(make, toys) as start:
        yield start
