"""What tests on a PostgreSQL server have: a new database for each."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from toolgen.adapters.postgres import Postgres


@pytest.fixture
async def database(conninfo: str) -> AsyncIterator[Postgres]:
    async with Postgres(conninfo) as opened:
        yield opened
