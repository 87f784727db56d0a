"""One server for all tests of a process, and a new database for each test."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from examples.servers.postgres import Server, find_binaries, running_server
from toolgen.adapters.postgres import Postgres


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    binaries = find_binaries()
    if binaries is None:
        missing = "there is no PostgreSQL server here (on Debian: apt-get install postgresql)"
        assert not os.environ.get("CI"), missing
        pytest.skip(missing)
    with running_server(binaries) as made:
        yield made


@pytest.fixture
def conninfo(server: Server) -> str:
    return server.new_database()


@pytest.fixture
async def database(conninfo: str) -> AsyncIterator[Postgres]:
    async with Postgres(conninfo) as opened:
        yield opened
