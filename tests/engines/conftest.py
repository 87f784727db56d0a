"""The engines that the suite runs against; another one is another line in the table. Time is virtual."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.virtual_time import LoopFactory, loop_factories, now
from toolgen.engines import Engine, InProcessEngine

from .starting import StartEngine, starting
from .starting import engine as engine
from .starting import follow as follow
from .starting import toys as toys
from .toys import Toys

Make = Callable[..., InProcessEngine]
Clock = Callable[[], float]


def _in_memory(_: Path, *, clock: Clock = now, **how: Any) -> InProcessEngine:
    return InProcessEngine(clock=clock, **how)


def _in_file(folder: Path, *, clock: Clock = now, **how: Any) -> InProcessEngine:
    return InProcessEngine(folder / "runs.db", clock=clock, **how)


ENGINES: Mapping[str, Make] = {
    "memory": _in_memory,
    "sqlite": _in_file,
    "sqlite full": partial(_in_file, synchronous="FULL"),
}
"""By name; each takes an empty folder, and what its engine takes."""


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return loop_factories(item, "real" if item.path.stem.startswith("test_file") else "virtual")


REPEATED: Final = pytest.mark.exhaustive
"""The mark of an engine that does as one before it."""


@pytest.fixture(params=[pytest.param(name, marks=REPEATED if "full" in name else ()) for name in ENGINES])
def make_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return what makes an engine; one in a file has the same file each time."""
    return partial(ENGINES[request.param], tmp_path)


@pytest.fixture
async def start_engine(make_engine: Make, toys: Toys) -> AsyncIterator[StartEngine]:
    """Return what makes an engine with the toys, and closes it after the test."""

    def make(max_payload_bytes: int | None) -> Engine:
        return make_engine(max_payload_bytes=max_payload_bytes)

    async with starting(make, toys) as start:
        yield start


@pytest.fixture
async def in_process(engine: Engine) -> InProcessEngine:
    assert isinstance(engine, InProcessEngine)
    return engine
