"""The tests of credentials, kept on a PostgreSQL server."""

from __future__ import annotations

import pytest

from tests.capabilities.test_credentials import *  # noqa: F403  # its tests, with the fixture below
from toolgen.adapters.postgres import Postgres, PostgresCredentialStore
from toolgen.capabilities import CredentialPlace, CredentialStore
from toolgen.stores import ForeignSecretError


@pytest.fixture  # type: ignore[no-redef]  # in the place of the imported one
def store(database: Postgres) -> CredentialStore:
    return PostgresCredentialStore(database, secret=b"s" * 32, clock=lambda: 1000.0)


async def test_another_secret_names_the_server(database: Postgres) -> None:
    place = CredentialPlace("service", "", "x")
    await PostgresCredentialStore(database, secret=b"s" * 32).save(place, {"secret": "k-12345"})
    rows = await database.read(lambda tx: tx.rows("SELECT data FROM credential"))
    assert b"k-12345" not in bytes(rows[0][0])
    with pytest.raises(ForeignSecretError, match="encrypted with another secret") as foreign:
        await PostgresCredentialStore(database, secret=b"n" * 32).load(place)
    assert foreign.value.server == database.server
