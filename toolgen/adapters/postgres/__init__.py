"""Sessions, state, artifacts, events and payloads in PostgreSQL, by psycopg: `toolgen[postgres]`."""

from .database import Postgres
from .reports import PostgresReports
from .stores import (
    PostgresArtifactStore,
    PostgresCredentialStore,
    PostgresEventSink,
    PostgresEventStore,
    PostgresPayloads,
    PostgresSessionStore,
    PostgresStateStore,
)

__all__ = [
    "Postgres",
    "PostgresArtifactStore",
    "PostgresCredentialStore",
    "PostgresEventSink",
    "PostgresEventStore",
    "PostgresPayloads",
    "PostgresReports",
    "PostgresSessionStore",
    "PostgresStateStore",
]
