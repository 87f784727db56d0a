"""Servers for tests: PostgreSQL for all of a process, Temporal for those of a file."""

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


@pytest.fixture(scope="module")
def temporal() -> Iterator[TemporalServer]:
    """Start a server for the tests of a file; it takes half a second, and one that was used is never idle."""
    server = TemporalServer()
    server.start()
    yield server
    server.kill()
