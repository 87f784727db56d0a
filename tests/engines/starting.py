"""Engines for tests: what makes one with the toys, whatever it stands on, and closes it after the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import pytest

from toolgen.contract.json_value import Json
from toolgen.engines import Engine, LastEvents, OnEvent

from .toys import Toys


class StartEngine(Protocol):
    def __call__(
        self,
        *,
        max_payload_bytes: int | None = None,
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        is_started: bool = True,
    ) -> Awaitable[Engine]: ...


@asynccontextmanager
async def starting(make: Callable[[int | None], Engine], toys: Toys) -> AsyncIterator[StartEngine]:
    """Yield what makes an engine with the toys and starts it; `make` gets `max_payload_bytes`."""
    engines: list[Engine] = []

    async def start(
        *,
        max_payload_bytes: int | None = None,
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        is_started: bool = True,
    ) -> Engine:
        engine = make(max_payload_bytes)
        engines.append(engine)
        engine.register(
            loops=toys.loops(), activities=toys.activities(), on_event=on_event, last_events=last_events
        )
        if is_started:
            await engine.start()
        return engine

    try:
        yield start
    finally:
        for engine in engines:
            await engine.close()


@pytest.fixture
async def toys() -> Toys:
    return Toys()


@pytest.fixture
async def engine(start_engine: StartEngine) -> Engine:
    return await start_engine()


@pytest.fixture
def follow() -> Callable[..., Awaitable[list[tuple[int, Mapping[str, Json]]]]]:
    """Return what reads the events of a run to their end."""

    async def read(engine: Engine, run_id: str, **how: Any) -> list[tuple[int, Mapping[str, Json]]]:
        return [item async for item in engine.events(run_id, **how)]

    return read
