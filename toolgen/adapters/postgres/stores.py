"""Sessions, state and artifacts in PostgreSQL, shared by all processes that use the database."""

from __future__ import annotations

import time
from collections.abc import Callable

from toolgen.agents.sessions.tables import TableSessionStore
from toolgen.capabilities.artifacts_tables import TableArtifactStore
from toolgen.capabilities.state_tables import TableStateStore

from .database import Postgres
from .events import PostgresEventStore


class PostgresSessionStore(TableSessionStore):
    """Keeps sessions; each step is one transaction, and those of one session come one after the other."""

    def __init__(self, database: Postgres, *, clock: Callable[[], float] = time.time) -> None:
        """Construct a store; the clock returns seconds since 1970."""
        super().__init__(database, clock=clock)
        self._events = PostgresEventStore(database)

    async def forget_events(self, session_id: str) -> int:
        """Drop the events of a session that sinks have stored in this database; return how many."""
        return await self._events.forget(sessions=[session_id])


class PostgresStateStore(TableStateStore):
    """Keeps state in a database: `PostgresStateStore(Postgres(conninfo))`."""


class PostgresArtifactStore(TableArtifactStore):
    """Keeps artifacts in a database: `PostgresArtifactStore(Postgres(conninfo))`."""
