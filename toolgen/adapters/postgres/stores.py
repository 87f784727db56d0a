"""PostgreSQL stores for sessions, state, artifacts, credentials, events and payloads of all processes.

Events are stored as documents of `as_json`, in the order of writing. Payloads are large values of runs,
stored by the digest of their content.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final

from toolgen.agents.sessions.tables import TableSessionStore
from toolgen.capabilities.artifacts_stores import TableArtifactStore
from toolgen.capabilities.credential_tables import TableCredentialStore, cipher_of
from toolgen.capabilities.state_tables import TableStateStore
from toolgen.engines import PayloadGoneError
from toolgen.events.document import as_json, from_json
from toolgen.events.hub import Events
from toolgen.events.records import Event
from toolgen.events.sinks import EventSink
from toolgen.stores import StoreCorruptError

from .connection import PostgresConnection
from .database import Postgres

_ADD: Final = b"""
    INSERT INTO toolgen.event (writer, place, run_id, session_id, type, time, document)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (writer, place) DO NOTHING
"""
_REF: Final = re.compile(r"sha256:([0-9a-f]{64}):(0|[1-9][0-9]{0,18})")
_USED_S: Final = 3600.0
"""Precision of `last_used`, in seconds: reading a payload again within them does not update it."""
_NEWEST: Final = "SELECT data, last_used FROM payload WHERE digest = ? ORDER BY last_used DESC LIMIT 1"
_USE: Final = "UPDATE payload SET last_used = greatest(last_used, ?) WHERE digest = ?"
_INSERT: Final = """
    INSERT INTO payload (digest, session_id, created_at, last_used, data)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest, session_id)
    DO UPDATE SET last_used = greatest(payload.last_used, excluded.last_used)
"""


class PostgresEventStore:
    """Stores events until they are deleted with `forget`."""

    def __init__(self, database: Postgres) -> None:
        self.database = database

    async def add(self, writer: str, events: Sequence[tuple[int, Event]]) -> None:
        """Store events with their positions among the events of a writer; each position is stored once.

        Raises:
            ValueError: An event contains a value that is not JSON; nothing is stored.
            StoreError: The server cannot be used.
        """
        await self.add_rows(writer, [(place, *_row(event)) for place, event in events])

    async def add_rows(self, writer: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Store event rows, each preceded by its position, like `add`."""

        async def step(connection: PostgresConnection) -> None:
            async with connection.cursor() as cursor:
                await cursor.executemany(_ADD, [(writer, *row) for row in rows])

        await self.database.write(step, may_repeat=True)

    async def read(self, *, run_id: str | None = None, session_id: str | None = None) -> tuple[Event, ...]:
        """Return the events of a run, of a session, or all of them, in their order."""
        columns = {"run_id": run_id, "session_id": session_id}
        conditions = {column: value for column, value in columns.items() if value is not None}
        which = "".join(f" AND {column} = ?" for column in conditions)
        query = f"SELECT document FROM event WHERE true{which} ORDER BY number"
        rows = await self.database.read(lambda tx: tx.rows(query, *conditions.values()))
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
        """Create a sink; `size` and `types` are parameters of `Events.subscribe`."""
        super().__init__(events, database.server, size=size, types=types)
        self._store = PostgresEventStore(database)
        self._writer = uuid.uuid4().hex
        self._next = 0
        """Position of the next event."""

    async def _open(self) -> None:
        await self._store.add_rows(self._writer, ())  # fails now if the server cannot be used

    def _encode(self, event: Event) -> tuple[object, ...]:
        return _row(event)

    async def _write(self, encoded: Sequence[tuple[object, ...]]) -> None:
        first, self._next = self._next, self._next + len(encoded)
        await self._store.add_rows(self._writer, [(place, *row) for place, row in enumerate(encoded, first)])


def _row(event: Event) -> tuple[object, ...]:
    """Return the row of an event, without its writer and position.

    Raises:
        ValueError: A value is not JSON, or an id contains a lone surrogate.
        RecursionError: A value contains itself.
    """
    f"{event.run_id}{event.session_id}".encode()
    document = json.dumps(as_json(event), separators=(",", ":"))
    return event.run_id, event.session_id, event.type, event.time, document


class PostgresSessionStore(TableSessionStore):
    """Stores sessions; each step is one transaction, and steps of one session are executed one by one."""

    def __init__(self, database: Postgres, *, clock: Callable[[], float] = time.time) -> None:
        """Create a store; the clock returns seconds since 1970."""
        super().__init__(database, clock=clock)
        self._events = PostgresEventStore(database)

    async def forget_events(self, session_id: str) -> int:
        """Delete the events of a session that sinks have stored in this database; return their number."""
        return await self._events.forget(sessions=[session_id])


class PostgresStateStore(TableStateStore):
    """Stores state in a database: `PostgresStateStore(Postgres(conninfo))`."""


class PostgresArtifactStore(TableArtifactStore):
    """Stores artifacts in a database: `PostgresArtifactStore(Postgres(conninfo))`."""


class PostgresCredentialStore(TableCredentialStore):
    """Stores encrypted credentials in a database: `PostgresCredentialStore(Postgres(conninfo), secret=…)`."""

    def __init__(
        self,
        database: Postgres,
        *,
        secret: bytes | Sequence[bytes],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create a store.

        Args:
            database: Database with the tables.
            secret: Secret of the host, as in `Runtime(secret=…)`; if there are several, the first one
                encrypts.
            clock: Returns seconds since 1970.

        Raises:
            ToolgenError: The secret is too short, or the extra `http` is not installed.
        """
        super().__init__(database, cipher_of(secret), where={"server": database.server}, clock=clock)


class PostgresPayloads:
    """Stores each content once per owner; a `PayloadStore`. A reference is `sha256:<hex>:<bytes>`.

    The column `session_id` of its table contains the owner.
    """

    def __init__(self, database: Postgres, *, clock: Callable[[], float] = time.time) -> None:
        """Create a store; the clock returns seconds since 1970."""
        self.database = database
        self._clock = clock

    async def put(self, data: bytes, *, owner: str = "") -> str:
        """Store data if it is not stored yet, and return its reference.

        Raises:
            StoreError: The server cannot be used.
        """
        digest, now = sha256(data).digest(), float(self._clock())

        async def step(tx: PostgresConnection) -> None:
            if not await tx.change(f"{_USE} AND session_id = ?", now, digest, owner):  # data is sent once
                await tx.change(_INSERT, digest, owner, now, now, bytes(data))

        await self.database.write(step, may_repeat=True)
        return _ref(data)

    async def get(self, ref: str) -> bytes:
        """Return the data of a reference after comparing it with the digest.

        Raises:
            PayloadGoneError: The payload was erased or pruned, or never stored.
            StoreCorruptError: The database contains other data.
            StoreError: The server cannot be used.
        """
        match = _REF.fullmatch(ref)
        if match is None:
            raise _gone(ref)
        digest, now = bytes.fromhex(match[1]), float(self._clock())
        for data, last_used in await self.database.read(lambda tx: tx.rows(_NEWEST, digest)):
            if sha256(data).digest() != digest:
                raise StoreCorruptError(
                    f"has different data for the payload {ref}",
                    server=self.database.server,
                    hint="restore the database from a backup",
                )
            if len(data) != int(match[2]):
                raise _gone(ref)
            if last_used < now - _USED_S:
                await self._change(_USE, now, digest)
            return bytes(data)
        raise _gone(ref)

    async def prune(self, older_than_s: float) -> int:
        """Delete the payloads that were not used for `older_than_s` seconds; return their number.

        Storing, storing again and reading count as use. Reads are recorded with a precision of an hour, so
        pass several hours, and more than the time for which the engine keeps its runs.

        Raises:
            StoreError: The server cannot be used.
        """
        before = float(self._clock()) - older_than_s
        return await self._change("DELETE FROM payload WHERE last_used < ?", before)

    async def forget(self, owner: str) -> int:
        """Erase the payloads of an owner; return their number.

        Raises:
            ValueError: The owner is "".
            StoreError: The server cannot be used.
        """
        if not owner:
            raise ValueError("owner is empty; name the owner whose payloads are erased")
        return await self._change("DELETE FROM payload WHERE session_id = ?", owner)

    async def _change(self, sql: str, *values: object) -> int:
        return await self.database.write(lambda tx: tx.change(sql, *values), may_repeat=True)


def _ref(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}:{len(data)}"


def _gone(ref: str) -> PayloadGoneError:
    return PayloadGoneError(
        f"the payload {ref} was erased, or never stored in this database",
        hint="give all workers and clients of the engine the same database, and prune later",
    )
