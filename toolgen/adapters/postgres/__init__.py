"""Sessions, state, artifacts and events in PostgreSQL, by psycopg: `toolgen[postgres]`."""

from .artifacts import PostgresArtifactStore
from .database import Postgres
from .events import PostgresEventSink, PostgresEventStore
from .sessions import PostgresSessionStore
from .state import PostgresStateStore

__all__ = [
    "Postgres",
    "PostgresArtifactStore",
    "PostgresEventSink",
    "PostgresEventStore",
    "PostgresSessionStore",
    "PostgresStateStore",
]
