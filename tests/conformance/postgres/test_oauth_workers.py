"""Workers that renew tokens of one PostgreSQL server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.capabilities.test_oauth_workers import *  # noqa: F403  # its tests, with the fixture below
from tests.capabilities.test_oauth_workers import Clock, StoreOf
from toolgen.adapters.postgres import Postgres, PostgresCredentialStore
from toolgen.capabilities import CredentialStore


@pytest.fixture  # type: ignore[no-redef]  # in the place of the imported one
async def store_of(conninfo: str) -> AsyncIterator[StoreOf]:
    async with Postgres(conninfo) as first, Postgres(conninfo) as second:
        databases = [second, first]

        def of(clock: Clock) -> CredentialStore:
            return PostgresCredentialStore(databases.pop(), secret=b"s" * 32, clock=clock)

        yield of
