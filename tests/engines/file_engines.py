"""Engines with toys on the file of a test, as fixtures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from toolgen.engines import InProcessEngine

from .toys import Toys


class Open(Protocol):
    async def __call__(self, *, is_started: bool = True, **how: Any) -> InProcessEngine: ...


@pytest.fixture
async def toys() -> Toys:
    return Toys()


@pytest.fixture
async def open_engine(tmp_path: Path, toys: Toys) -> AsyncIterator[Open]:
    """Return what opens an engine on the file of the test; all are closed after it."""
    engines: list[InProcessEngine] = []

    async def open_one(*, is_started: bool = True, **how: Any) -> InProcessEngine:
        engine = InProcessEngine(tmp_path / "runs.db", **how)
        engines.append(engine)
        engine.register(loops=toys.loops(), activities=toys.activities())
        if is_started:
            await engine.start()
        return engine

    yield open_one
    for engine in engines:
        await engine.close()
