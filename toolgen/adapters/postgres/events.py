"""Events in PostgreSQL: the documents of `as_json`, in the order in which they were written."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Final

from toolgen.events.document import as_json, from_json
from toolgen.events.hub import Events
from toolgen.events.records import Event
from toolgen.events.sinks import EventSink

from .connection import Connection
from .database import Postgres

_ADD: Final = b"""
    INSERT INTO toolgen.event (writer, place, run_id, session_id, type, time, document)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (writer, place) DO NOTHING
"""


class PostgresEventStore:
    """Keeps events until they are forgotten."""

    def __init__(self, database: Postgres) -> None:
        self.database = database

    async def add(self, writer: str, events: Sequence[tuple[int, Event]]) -> None:
        """Store events with their places among the events of a writer; each place is stored once.

        Raises:
            ValueError: an event holds a value that is not JSON; nothing is stored.
            StoreError: the server cannot be used.
        """
        await self.add_rows(writer, [(place, *_row(event)) for place, event in events])

    async def add_rows(self, writer: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Store rows of events, each with its place before it; as `add`."""

        async def step(connection: Connection) -> None:
            async with connection.cursor() as cursor:
                await cursor.executemany(_ADD, [(writer, *row) for row in rows])

        await self.database.write(step, may_repeat=True)

    async def read(self, *, run_id: str | None = None, session_id: str | None = None) -> tuple[Event, ...]:
        """Return the events of a run, of a session, or all of them, in their order."""
        asked = {"run_id": run_id, "session_id": session_id}
        wanted = {column: value for column, value in asked.items() if value is not None}
        which = "".join(f" AND {column} = ?" for column in wanted)
        query = f"SELECT document FROM event WHERE true{which} ORDER BY number"
        rows = await self.database.read(lambda tx: tx.rows(query, *wanted.values()))
        return tuple(from_json(json.loads(document)) for (document,) in rows)

    async def forget(
        self, *, before: float | None = None, sessions: Sequence[str] = (), runs: Sequence[str] = ()
    ) -> int:
        """Drop events of sessions, of runs, and from before this second since 1970; return how many."""
        query = "DELETE FROM event WHERE time < ? OR session_id = ANY(?) OR run_id = ANY(?)"
        values = float("-inf") if before is None else before, list(sessions), list(runs)
        return await self.database.write(lambda tx: tx.change(query, *values), may_repeat=True)


class PostgresEventSink(EventSink[tuple[object, ...]]):
    """Stores the events of a hub while it is entered: `async with PostgresEventSink(events, database)`."""

    def __init__(
        self, events: Events, database: Postgres, *, size: int = 1000, types: Iterable[str] | None = None
    ) -> None:
        """Construct a sink; `size` and `types` are those of `Events.subscribe`."""
        super().__init__(events, database.server, size=size, types=types)
        self._store = PostgresEventStore(database)
        self._writer = uuid.uuid4().hex
        self._next = 0
        """Place of the next event."""

    async def _open(self) -> None:
        await self._store.add_rows(self._writer, ())  # so that a server that takes none is said now

    def _encode(self, event: Event) -> tuple[object, ...]:
        return _row(event)

    async def _write(self, encoded: Sequence[tuple[object, ...]]) -> None:
        first, self._next = self._next, self._next + len(encoded)
        await self._store.add_rows(self._writer, [(place, *row) for place, row in enumerate(encoded, first)])


def _row(event: Event) -> tuple[object, ...]:
    """Return the row of an event, without its writer and place.

    Raises:
        ValueError: it is not JSON, or an id is not of whole characters.
        RecursionError: a value is within itself.
    """
    f"{event.run_id}{event.session_id}".encode()
    document = json.dumps(as_json(event), separators=(",", ":"))
    return event.run_id, event.session_id, event.type, event.time, document
