"""A PostgreSQL server for tests; without its binaries they fail in CI, and are skipped elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest

from examples.servers.postgres import Server, find_binaries, running_server


def postgres_server() -> Iterator[Server]:
    """Yield a running server with no database of tests, and remove it at last."""
    binaries = find_binaries()
    if binaries is None:
        missing = "there is no PostgreSQL server here (on Debian: apt-get install postgresql)"
        assert not os.environ.get("CI"), missing
        pytest.skip(missing)
    with running_server(binaries) as made:
        yield made


def empty(conninfo: str) -> None:
    """Drop what toolgen has made in a database, and end the connections that others have to it."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA IF EXISTS toolgen CASCADE")
