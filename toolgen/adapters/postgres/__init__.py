"""Sessions, state, artifacts, events and payloads in PostgreSQL, by psycopg: `toolgen[postgres]`."""

from .database import Postgres
from .events import PostgresEventSink, PostgresEventStore
from .payloads import PostgresPayloads
from .stores import PostgresArtifactStore, PostgresSessionStore, PostgresStateStore

__all__ = [
    "Postgres",
    "PostgresArtifactStore",
    "PostgresEventSink",
    "PostgresEventStore",
    "PostgresPayloads",
    "PostgresSessionStore",
    "PostgresStateStore",
]
