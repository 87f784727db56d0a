"""Events in PostgreSQL: the documents of `as_json`, in the order in which they were written."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Final

from toolgen.contract.logs import logger
from toolgen.runtime.events.document import as_json, from_json
from toolgen.runtime.events.hub import Events, Subscription
from toolgen.runtime.events.records import Event, EventsDropped
from toolgen.runtime.stores import StoreError

from .database import Connection, Postgres
from .rows import rows

log = logger("toolgen.runtime")

_ADD: Final = """
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
        values = [
            (
                writer,
                place,
                event.run_id,
                event.session_id,
                event.type,
                event.time,
                json.dumps(as_json(event), separators=(",", ":")),
            )
            for place, event in events
        ]

        async def step(connection: Connection) -> None:
            async with connection.cursor() as cursor:
                await cursor.executemany(_ADD, values)

        await self.database.write(step, may_repeat=True)

    async def read(self, *, run_id: str | None = None, session_id: str | None = None) -> tuple[Event, ...]:
        """Return the events of a run, of a session, or all of them, in their order."""

        async def step(connection: Connection) -> tuple[Event, ...]:
            query = (
                "SELECT document FROM toolgen.event WHERE (%s::text IS NULL OR run_id = %s)"
                " AND (%s::text IS NULL OR session_id = %s) ORDER BY number"
            )
            found = await rows(connection, query, (run_id, run_id, session_id, session_id))
            return tuple(from_json(json.loads(document)) for (document,) in found)

        return await self.database.read(step)

    async def forget(
        self, *, before: float | None = None, sessions: Sequence[str] = (), runs: Sequence[str] = ()
    ) -> int:
        """Drop events of sessions, of runs, and from before this second since 1970; return how many."""

        async def step(connection: Connection) -> int:
            query = "DELETE FROM toolgen.event WHERE time < %s OR session_id = ANY(%s) OR run_id = ANY(%s)"
            values = (float("-inf") if before is None else float(before), list(sessions), list(runs))
            return (await connection.execute(query, values)).rowcount

        return await self.database.write(step, may_repeat=True)


class PostgresEventSink:
    """Stores the events of a hub while it is entered: `async with PostgresEventSink(events, database)`.

    A server that is away reaches no call: what could not be stored is counted, and the next events are tried
    again. What is missing in the end is said in the last event, an `events_dropped`.
    """

    def __init__(
        self, events: Events, database: Postgres, *, size: int = 1000, types: Iterable[str] | None = None
    ) -> None:
        """Construct a sink; `size` and `types` are those of `Events.subscribe`."""
        self._events = events
        self._store = PostgresEventStore(database)
        self._size = size
        self._types = types
        self._writer = uuid.uuid4().hex
        self._place = 0
        self.written = 0
        """Events in the database."""
        self.failed = 0
        """Events that could not be stored."""

    @property
    def dropped(self) -> int:
        """Number of events that were dropped because the server was too slow."""
        return self._subscription.dropped

    async def __aenter__(self) -> PostgresEventSink:
        """Connect and subscribe.

        Raises:
            StoreError: the server cannot be used.
            ValueError: as `Events.subscribe`.
        """
        await self._store.add(self._writer, ())
        self._subscription: Subscription = self._events.subscribe(size=self._size, types=self._types)
        self._task = asyncio.get_running_loop().create_task(self._write_all(), name="store events")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Store what is queued, and the number of dropped events."""
        self._subscription.close()
        await self._task
        missing = self.dropped + self.failed
        if missing:
            await self._add([EventsDropped(time=time.time(), count=self.failed, total=missing)])

    async def _write_all(self) -> None:
        while events := await self._subscription.batch():
            await self._add(events)

    async def _add(self, events: Sequence[Event]) -> None:
        good = [event for event in events if self._is_json(event)]
        placed = list(enumerate(good, self._place))
        self._place += len(good)
        try:
            await self._store.add(self._writer, placed)
            self.written += len(good)
        except StoreError as error:
            if not self.failed:
                log.warning("events are not stored: %s; more failures are not logged", error)
            self.failed += len(good)

    def _is_json(self, event: Event) -> bool:
        """Return whether the event is JSON; one that is not is counted."""
        try:
            json.dumps(as_json(event))
            f"{event.run_id}{event.session_id}".encode()
        except (ValueError, RecursionError):
            if not self.failed:
                log.warning("an event %s is not JSON; more failures are not logged", event.type)
            self.failed += 1
            return False
        return True
