"""Agents as in production: their runs on a Temporal server, what they keep in PostgreSQL. Time is real."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping

import pytest

from tests.agents import tools
from tests.temporal_server import TemporalServer
from tests.virtual_time import LoopFactory
from toolgen.engines.temporal import TemporalEngine, TemporalLimits

_NUMBERS = itertools.count(1)


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return {"real": asyncio.new_event_loop}


@pytest.fixture
def heartbeat_s() -> float:
    """Short, so that a cancellation soon comes to what is executed."""
    return 1.5


@pytest.fixture(autouse=True)
def engine_of_agents(temporal: TemporalServer, heartbeat_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute the runs of a test on the server."""

    def new_engine() -> TemporalEngine:
        number = next(_NUMBERS)
        limits = TemporalLimits(heartbeat_s=heartbeat_s)
        return TemporalEngine(temporal.address, queue=f"test {number}", prefix=f"{number}:", limits=limits)

    monkeypatch.setattr(tools, "new_engine", new_engine)
