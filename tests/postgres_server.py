"""A PostgreSQL server for tests; without its binaries they fail in CI, and are skipped elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator

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
