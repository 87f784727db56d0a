"""A batch of a SQLite file: rows in order, and steps whose callers wait, in one transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from toolgen.contract.logs import logger

from .sqlite_errors import DamagedRowError, SuspectedDamageError

T = TypeVar("T")

log = logger("toolgen.stores")


@dataclass(slots=True)
class BatchRequest(Generic[T]):
    """A step whose caller waits; it fails if its batch cannot be written."""

    step: Callable[[sqlite3.Connection], T]
    done: asyncio.Future[T]
    asked_at: float
    """Time of the request, by `time.monotonic()`."""
    result: T | None = None
    error: Exception | None = None


@dataclass(slots=True)
class WriteBatch:
    """Rows and steps that are written together."""

    number: int
    rows: list[tuple[str, tuple[Any, ...], int | None]] = field(default_factory=list)
    """Statements with their values, and the number that must not be contested when they are executed."""
    callbacks: list[tuple[Callable[..., None], int | None]] = field(default_factory=list)
    requests: list[BatchRequest[Any]] = field(default_factory=list)
    waiters: list[asyncio.Future[None]] = field(default_factory=list)
    """Futures of the tasks that wait until all rows up to here are committed."""
    changed: set[str] = field(default_factory=set)
    grown: set[str] = field(default_factory=set)
    """Names that `mark` reported as changed, and as grown."""
    contested: Collection[int] = ()
    is_urgent: bool = False
    """Whether a task waits for the batch, or other processes look for its rows."""

    def __bool__(self) -> bool:
        return bool(self.rows or self.callbacks or self.waiters or self.requests)

    def put_before(self, batch: WriteBatch) -> None:
        """Insert the parts of an unwritten batch before the parts of this one; its requests have failed."""
        self.rows, self.callbacks = batch.rows + self.rows, batch.callbacks + self.callbacks
        self.waiters = batch.waiters + self.waiters
        self.changed |= batch.changed
        self.grown |= batch.grown

    def forget_ended_callers(self) -> None:
        """Remove callers whose event loop has ended."""
        self.requests = [each for each in self.requests if not each.done.get_loop().is_closed()]
        self.waiters = [waiter for waiter in self.waiters if not waiter.get_loop().is_closed()]

    def write(
        self,
        database: sqlite3.Connection,
        path: Path,
        find_contested: Callable[[sqlite3.Connection], Collection[int]],
    ) -> None:
        """Write the rows and run the steps, in the caller's transaction."""
        try:
            self._write_rows(database, find_contested)
        except UnicodeEncodeError:  # otherwise, no later row would ever be written
            log.exception("lone surrogates were removed from a text that is written to %s", path)
            database.execute("ROLLBACK")
            database.execute("BEGIN IMMEDIATE")
            self.rows = [(sql, tuple(map(_encodable, row)), about) for sql, row, about in self.rows]
            self._write_rows(database, find_contested)
        for request in self.requests:
            request.error = None
            try:
                request.result = request.step(database)
            except (sqlite3.Error, SuspectedDamageError):
                raise
            except DamagedRowError as error:
                request.error = error.at(path)
            except Exception as error:  # noqa: BLE001 - the request stores it, and its caller raises it
                request.error = error

    def _write_rows(
        self, database: sqlite3.Connection, find_contested: Callable[[sqlite3.Connection], Collection[int]]
    ) -> None:
        is_decided = any(about is not None for _, _, about in self.rows)
        self.contested = find_contested(database) if is_decided else ()
        try:
            _execute(database, [row for row in self.rows if row[2] not in self.contested])
        except sqlite3.IntegrityError as error:  # the file has lost the rows that row numbers continue
            raise DamagedRowError(f"a row contradicts a stored row: {error}") from error

    def call_back(self, path: Path) -> None:
        """Notify the callers that the batch is committed."""
        for callback, about in self.callbacks:
            try:
                callback() if about is None else callback(about not in self.contested)
            except Exception:
                log.exception("a callback after a commit to %s failed", path)
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)
        for request in self.requests:
            if request.done.done():
                continue
            if request.error is not None:
                request.done.set_exception(request.error)
            else:
                request.done.set_result(request.result)


def _encodable(value: object) -> object:
    """Return the value; in a text, replace lone surrogates with question marks."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _execute(database: sqlite3.Connection, rows: list[tuple[str, tuple[object, ...], int | None]]) -> None:
    """Execute the statements; prepare each INSERT once for all its rows."""
    inserts: dict[str, list[tuple[object, ...]]] = {}
    others: list[tuple[str, tuple[Any, ...]]] = []
    for sql, row, _ in rows:
        if sql.startswith("INSERT"):
            inserts.setdefault(sql, []).append(row)
        else:
            others.append((sql, row))
    for sql, group in inserts.items():
        database.executemany(sql, group)
    for sql, row in others:
        database.execute(sql, row)


def fail(futures: Iterable[asyncio.Future[Any]], error: BaseException) -> None:
    """Set the error as the result of futures that are not done."""
    for future in list(futures):
        if not future.done():
            future.set_exception(error)
