"""Sessions, state, artifacts, events and payloads in PostgreSQL, by psycopg: `toolgen[postgres]`."""

from .artifacts import PostgresArtifactStore
from .database import Postgres
from .events import PostgresEventSink, PostgresEventStore
from .payloads import PostgresPayloads
from .sessions import PostgresSessionStore
from .state import PostgresStateStore

__all__ = [
    "Postgres",
    "PostgresArtifactStore",
    "PostgresEventSink",
    "PostgresEventStore",
    "PostgresPayloads",
    "PostgresSessionStore",
    "PostgresStateStore",
]
