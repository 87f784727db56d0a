"""Tests of agents whose stores in memory are replaced by those in PostgreSQL; time is virtual.

A module of this folder imports the tests of a module of `tests/agents`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import toolgen.agents.agents
from tests.virtual_time import LoopFactory, VirtualTimeLoop, loop_factories
from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresSessionStore,
    PostgresStateStore,
)


class DatabaseLoop(VirtualTimeLoop):
    """A loop whose time stands still while a connection waits for its server."""

    def _passes(self, seconds: float) -> bool:
        only_its_own = len(self._selector.get_map()) <= 1  # type: ignore[attr-defined]  # of asyncio
        return only_its_own and super()._passes(seconds)


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    made = dict(loop_factories(item, "virtual"))
    if "virtual" in made:
        made["virtual"] = DatabaseLoop
    return made


@pytest.fixture(autouse=True)
def stores(request: pytest.FixtureRequest, conninfo: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the test, and agents that are given no sessions, use one database."""
    database = Postgres(conninfo)

    class Sessions(PostgresSessionStore):
        def __init__(self, **given: Any) -> None:
            super().__init__(database, **given)

    class States(PostgresStateStore):
        def __init__(self) -> None:
            super().__init__(database)

    class Artifacts(PostgresArtifactStore):
        def __init__(self, **given: Any) -> None:
            super().__init__(database, **given)

    replaced = {
        "MemorySessionStore": Sessions,
        "MemoryStateStore": States,
        "MemoryArtifactStore": Artifacts,
    }
    for module in (toolgen.agents.agents, sys.modules[request.function.__module__]):
        for name, store in replaced.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, store)
    yield
    database.close()
