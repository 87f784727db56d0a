"""One server for all tests of a process, and a new database for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from examples.servers.postgres import Server
from tests.postgres_server import postgres_server
from toolgen.adapters.postgres import Postgres


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    yield from postgres_server()


@pytest.fixture
def conninfo(server: Server) -> str:
    return server.new_database()


@pytest.fixture
async def database(conninfo: str) -> AsyncIterator[Postgres]:
    async with Postgres(conninfo) as opened:
        yield opened
