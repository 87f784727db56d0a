"""Servers for all tests of a process that want them: started for the first one, and ended at last."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.servers.postgres import Server
from tests.postgres_server import postgres_server
from tests.temporal_server import TemporalServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    yield from postgres_server()


@pytest.fixture
def conninfo(postgres: Server) -> str:
    """Return the connection string of a new database."""
    return postgres.new_database()


@pytest.fixture(scope="session")
def temporal() -> Iterator[TemporalServer]:
    server = TemporalServer()
    server.start()
    yield server
    server.kill()
