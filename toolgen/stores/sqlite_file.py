"""A SQLite file of a store: opening, transactions and closing for all stores; and SQLite in memory.

Writing steps run one after another in a thread of the file, reading steps in a second thread, each with a
permanent connection. So no step blocks the event loop, a file that another process has locked blocks only its
own writers, and writers of one process never compete for the lock. A step that its store declares brief runs
in the event loop instead, if it does not need to wait.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from toolgen.contract.record import frozen_record

from .errors import StoreError
from .sqlite_connection import Synchronous, create_file, in_transaction, on_connection, open_connection
from .sqlite_errors import store_error
from .sqlite_format import SqliteFormat
from .sqlite_thread import LaneSettings, SqliteThread, closed_error
from .transactions import Step, putting

T = TypeVar("T")

BUSY_S: Final = 10.0
"""Maximum wait of a step for other processes, in seconds."""


class SqliteFile:
    """A file of one store, a `Database`; any number of processes can have it open.

    It can be used in a process that is forked later. A file that was replaced is opened again. It is closed
    by `close`, when the object is garbage collected, or when the process ends.
    """

    def __init__(
        self,
        path: str | Path,
        format: SqliteFormat,
        *,
        busy_s: float = BUSY_S,
        synchronous: Synchronous = "FULL",
    ) -> None:
        """Open the file; if it is missing, create it with access only for its owner.

        Args:
            path: Path of the file.
            format: Format of the file.
            busy_s: Seconds to wait for other processes.
            synchronous: Durability of a completed step: `FULL` survives a power failure, `NORMAL` only the
                end of the process.

        Raises:
            StoreError: the file cannot be opened, or has another format; the class says why.
        """
        if str(path) in ("", ":memory:"):
            raise StoreError("is not a file", path=Path(path), hint="use the in-memory store")
        self._settings = LaneSettings(
            path=Path(path).absolute(), format=format, busy_s=busy_s, synchronous=synchronous
        )
        self._is_closed = False
        create_file(self._settings.path)
        self._lanes = self._new_lanes()
        self._lanes.writes.open()

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        """Run the step as one transaction; as `Database.write`.

        A brief step runs in the event loop only with `NORMAL`: with `FULL`, the disk decides how long it
        takes.
        """
        lane = self._current().writes
        if is_brief and self._settings.synchronous == "NORMAL":
            return await lane.run_brief(on_connection(step))
        return await lane.run(on_connection(step))

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        """Run the step on one snapshot of the file; as `Database.read`."""
        lane = self._current().reads
        return await (lane.run_brief if is_brief else lane.run)(on_connection(step))

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements as one brief transaction; as `Database.put`."""
        await self.write(putting(statements), is_brief=True)

    async def vacuum(self) -> None:
        """Rewrite the file without the deleted rows, and empty its write-ahead log.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        await self._current().writes.vacuum()

    def close(self) -> None:
        """Close the file after a running step has ended. Idempotent."""
        self._is_closed = True
        self._lanes.close()

    def _current(self) -> _Connections:
        """Return the connections of this process.

        Connections that a forked process inherits are closed before the file is opened again: the process did
        not inherit their locks, but it did inherit SQLite's list of them.
        """
        if self._is_closed:
            raise closed_error(self._settings.path)
        lanes = self._lanes
        if lanes.process == os.getpid():
            return lanes
        if not lanes.close():
            raise StoreError(
                "was in use when the process was forked",
                path=self._settings.path,
                hint="open the store in the process that uses it",
            )
        self._lanes = self._new_lanes()
        return self._lanes

    def _new_lanes(self) -> _Connections:
        lanes = _Connections(
            process=os.getpid(),
            writes=SqliteThread(self._settings, "BEGIN IMMEDIATE"),
            reads=SqliteThread(self._settings, "BEGIN"),
        )
        weakref.finalize(self, lanes.close)
        return lanes


@frozen_record
class _Connections:
    """The connections of one process to a file."""

    process: int
    writes: SqliteThread
    reads: SqliteThread

    def close(self) -> bool:
        """Close both connections; return whether no step was running."""
        return all([self.writes.close(), self.reads.close()])


def make_file(path: Path, format: SqliteFormat) -> None:
    """Create the file with its tables, if it is missing or empty.

    Raises:
        StoreError: it cannot be created, or has other contents.
    """
    create_file(path)
    try:
        open_connection(path, format, time.monotonic() + BUSY_S).close()
    except sqlite3.Error as error:
        raise store_error(error, path, busy_s=BUSY_S) from error


class FileStore:
    """Base class of a store that has its own SQLite file."""

    _file: SqliteFile

    async def vacuum(self) -> None:
        """Rewrite the file without the deleted rows; as `Vacuuming`."""
        await self._file.vacuum()

    def close(self) -> None:
        """Close the file now, instead of when the store is garbage collected."""
        self._file.close()


class SqliteMemory:
    """A `Database` in memory that ends with the object. Many threads can call it."""

    def __init__(self, format: SqliteFormat) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._database.close)
        for statement in format.statements:
            self._database.execute(statement)

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        with self._lock:
            return in_transaction(self._database, "BEGIN", on_connection(step))

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        with self._lock:
            return on_connection(step)(self._database)

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        await self.write(putting(statements))
