"""Sessions, state, artifacts, events and payloads in PostgreSQL, by psycopg: `toolgen[postgres]`."""

from .database import Postgres
from .stores import (
    PostgresArtifactStore,
    PostgresEventSink,
    PostgresEventStore,
    PostgresPayloads,
    PostgresSessionStore,
    PostgresStateStore,
)

__all__ = [
    "Postgres",
    "PostgresArtifactStore",
    "PostgresEventSink",
    "PostgresEventStore",
    "PostgresPayloads",
    "PostgresSessionStore",
    "PostgresStateStore",
]
