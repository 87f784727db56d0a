"""A SQLite file that is written in batches: one transaction for each turn of the event loop.

With `synchronous=NORMAL`, a batch is written on the event loop, which takes a fraction of the time of handing
it to a thread. With `FULL`, and while another process locks the file, it is written in a thread.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from toolgen.contract.logs import logger

from .errors import (
    LeaseLostError,
    ReplacedFileError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
)
from .sqlite_batch import BatchRequest, WriteBatch, fail
from .sqlite_connection import Synchronous, create_file
from .sqlite_file import BUSY_S
from .sqlite_format import SqliteFormat
from .sqlite_thread import LaneSettings, SqliteThread, closed_error

T = TypeVar("T")

_LAZY_S: Final = 0.05
"""Maximum delay of a row that no task waits for, in seconds."""
_RETRY_S: Final = 1.0
"""Seconds between two attempts to write a failed batch."""

log = logger("toolgen.stores")


class SqliteBatches:
    """Writes rows in order and retries them until they are written; requests are written at once or fail.

    It belongs to one event loop at a time, and to the process that opened it. A process that is forked later
    gets a `StoreError`.
    """

    guard: Callable[[sqlite3.Connection], None]
    """Called in the transaction of each batch before its rows, and with each new connection that reads, in
    any thread. A `LeaseLostError` or a `ReplacedFileError` drops all rows."""
    on_commit: Callable[[set[str], set[str]], None]
    """Called after each written batch, with the names reported as changed, and the names reported as
    grown."""
    on_lost: Callable[[StoreError], None]
    """Called with the error of a guard; nothing is written until it returns."""
    on_damage: Callable[[], None]
    """Called when a batch could not be written because of `damage`."""
    damage: StoreError | None
    """Reason why the newest batch could not be written, if the file is damaged."""
    fault: StoreError | None
    """Reason why the newest batch could not be written and is retried."""

    def __init__(
        self,
        path: Path,
        format: SqliteFormat,
        *,
        synchronous: Synchronous = "FULL",
        busy_s: float = BUSY_S,
        witness: Path | None = None,
        contested: Callable[[sqlite3.Connection], Collection[int]] = lambda _: (),
    ) -> None:
        """Open the file, and create it if it is missing.

        Args:
            path: Path of the file.
            format: Format of the file.
            synchronous: Durability of a written batch.
            busy_s: Seconds that a batch waits for other processes.
            witness: If this file exists, a missing or empty file is lost: it is not created, and its users
                get a `StoreMissingError`.
            contested: Returns, within the transaction of a batch, the numbers that the batch must not decide.

        Raises:
            StoreError: the file cannot be opened, or has another format; the class says why.
        """
        self.path = path
        self._settings = LaneSettings(path, format, busy_s, synchronous, witness)
        self._contested = contested
        self._is_inline = synchronous == "NORMAL"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._batch = WriteBatch(1)
        self._newest_written = 0
        """Number of the newest written batch."""
        self._newest_rewritten = -1
        """Number of the newest batch that was written before the file was last rewritten; -1 for none."""
        self._flight: tuple[WriteBatch, Future[None]] | None = None
        self._is_due = self._is_failing = False
        self._timer: asyncio.TimerHandle | None = None
        self.guard = lambda database: None
        self.on_commit = lambda changed, grown: None
        self.on_lost = lambda error: None
        self.on_damage = lambda: None
        self.damage = self.fault = None
        self._open()
        self.is_lost = self._settings.is_lost()
        if not self.is_lost:
            create_file(path)
            self._writes.open()

    @property
    def collecting(self) -> int:
        """Number of the batch that writes new rows, unless it fails and a later one writes them."""
        return self._batch.number

    def is_written(self, number: int) -> bool:
        """Return whether all rows that were put into a batch are committed; `number` is from `collecting`."""
        return number <= self._newest_written

    def require_loop(self) -> None:
        """Raise if another running event loop owns the file.

        Raises:
            StoreError: another event loop owns the file, or this process was forked from the one that opened
                it.
        """
        self._writes.require_process()
        loop = self._loop
        if loop is not None and loop.is_running() and loop is not asyncio.get_running_loop():
            raise StoreError(
                "is used by another event loop",
                path=self.path,
                hint="call it from the event loop of its runtime, with asyncio.run_coroutine_threadsafe",
            )

    def put(self, sql: str, *row: Any) -> None:
        """Write a row with the next batch. INSERT statements are executed before all others of a batch."""
        self._batch.rows.append((sql, row, None))
        if not self._is_due and self._timer is None:
            self._schedule_lazy_flush(_LAZY_S)

    def mark(self, name: str, *, grows: bool = False) -> None:
        """Pass a name to `on_commit`, as changed or only grown, once all earlier rows are written."""
        (self._batch.grown if grows else self._batch.changed).add(name)

    def put_unless_contested(self, sql: str, *row: object, about: int, then: Callable[[bool], None]) -> None:
        """Write a row with this batch unless `about` is contested; `then` receives whether it was written."""
        self._batch.rows.append((sql, row, about))
        self._batch.callbacks.append((then, about))
        self.write_soon()

    def when_written(self, callback: Callable[[], None], *, is_urgent: bool = True) -> None:
        """Call back when all earlier rows are committed."""
        self._batch.callbacks.append((callback, None))
        if is_urgent:
            self.write_soon()

    async def wait_written(self) -> None:
        """Wait until all earlier rows are committed.

        Raises:
            LeaseLostError, ReplacedFileError: they never will be.
            StoreCorruptError: the file is damaged.
            StoreClosedError: it was closed before.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._batch.waiters.append(done)
        self.write_soon()
        await done

    async def run(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Run a step in the transaction of this batch, after its rows, and return its value.

        The step runs in any thread. It can raise its own error before it has written anything.

        Raises:
            StoreError: the batch cannot be written; nothing of the step is stored.
        """
        self._writes.require_process()
        request: BatchRequest[T] = BatchRequest(
            step, asyncio.get_running_loop().create_future(), time.monotonic()
        )
        self._batch.requests.append(request)
        self.write_soon()
        return await request.done

    async def flush(self) -> None:
        """Write all earlier rows.

        Raises:
            StoreError: they cannot be written now.
        """
        await self.run(lambda _: None)

    def read(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Run a step that only reads written rows, and return its value.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        return self._reads.run_here(step, busy_s=1.0)

    async def read_apart(self, step: Callable[[sqlite3.Connection], T], *, is_brief: bool = False) -> T:
        """Run a step that only reads written rows, on a connection that does not block `read`.

        A brief step reads a few rows, in the event loop; other steps run in a thread.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        lane = self._reads_apart
        return await (lane.run_brief(step) if is_brief else lane.run(step))

    def write_now(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Run a step in its own transaction, before the first batch, and return its value.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        return self._writes.run_here(step, busy_s=self._settings.busy_s)

    async def vacuum(self) -> None:
        """Rewrite the file without the deleted rows, and empty its write-ahead log.

        A second call does nothing until another batch is written.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        newest = self._newest_written
        if newest != self._newest_rewritten:
            await self._writes.vacuum()
            self._newest_rewritten = newest

    async def close(self) -> None:
        """Write the remaining rows, and close the file until it is used again.

        Rows that cannot be written stay in memory, and the error is logged.

        Raises:
            StoreError: this process was forked from the one that opened the file.
        """
        self._writes.require_process()
        while (self._batch or self._flight is not None) and not self._is_failing:
            with suppress(StoreError):
                await self.flush()
        self._stop_timer()
        for lane in (self._writes, self._reads, self._reads_apart):
            lane.close()
        self._is_closed = True
        fail(self._waiters(), closed_error(self.path))

    def _open(self) -> None:
        self._writes = SqliteThread(self._settings, "BEGIN IMMEDIATE")
        self._reads = SqliteThread(self._settings, "BEGIN")
        self._reads_apart = SqliteThread(self._settings, "BEGIN")
        for lane in (self._reads, self._reads_apart):
            lane.on_open = lambda database: self.guard(database)
        self._is_closed = False

    def reopen(self) -> None:
        """Open the file again after `close`."""
        if self._is_closed:
            self._open()
            self._is_failing = False

    def _attach(self) -> asyncio.AbstractEventLoop:
        self._writes.require_process()
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return loop
        self._loop, self._is_due, self._timer = loop, False, None
        self._batch.forget_ended_callers()
        if self._flight is not None:  # it was submitted by an event loop that has ended
            self._flight[0].forget_ended_callers()
            self._on_written(*self._flight)
        return loop

    def write_soon(self) -> None:
        """Write the current batch at the end of this event loop turn, or after the batch in flight."""
        loop = self._attach()
        self._batch.is_urgent = True
        if not self._is_due and self._flight is None:
            self._is_due = True
            loop.call_soon(loop.call_soon, self._flush)

    def _schedule_lazy_flush(self, delay_s: float) -> None:
        loop = self._attach()
        if self._timer is None:
            self._timer = loop.call_later(delay_s, self._flush)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        self._is_due = False
        self._stop_timer()
        if self._flight is not None or not self._batch:
            self._batch.is_urgent = bool(self._batch)  # it is written after the batch in flight
            return
        batch, self._batch = self._batch, WriteBatch(self._batch.number + 1)
        if self._is_closed:
            self._finish(batch, closed_error(self.path))
            return
        if self._is_inline and not self._writes.is_busy:
            try:
                self._writes.run_here(partial(self._write, batch), busy_s=0.0)
            except StoreLockedError:
                pass  # the thread waits for the lock
            except Exception as error:  # noqa: BLE001 - `_finish` passes it to the tasks that wait for the batch
                self._finish(batch, error)
                return
            else:
                self._finish(batch, None)
                return
        self._submit(batch)

    def _submit(self, batch: WriteBatch) -> None:
        """Write a batch in the thread of the file."""
        loop = self._loop
        assert loop is not None, "a batch is written from its event loop"
        # A request has also waited for the previous batch, and all that time counts.
        asked_at = min((request.asked_at for request in batch.requests), default=time.monotonic())
        future = self._writes.submit(partial(self._write, batch), asked_at)
        self._flight = batch, future

        def landed(future: Future[None]) -> None:
            try:
                loop.call_soon_threadsafe(self._on_written, batch, future)
            except RuntimeError:
                log.debug("the event loop ended before a batch was written")

        future.add_done_callback(landed)

    def _on_written(self, batch: WriteBatch, future: Future[None]) -> None:
        if self._flight is not None and self._flight[0] is batch:
            self._finish(batch, future.exception())

    def _finish(self, batch: WriteBatch, error: BaseException | None) -> None:
        """Notify the callers of a batch of its end; keep its rows if it was not written."""
        self._flight = None
        if error is None:
            if self._is_failing:
                log.warning("writing to %s works again", self.path)
            self._is_failing, self.damage, self.fault = False, None, None
            self._newest_written = batch.number
            batch.call_back(self.path)
            self.on_commit(batch.changed, batch.grown)
        else:
            self._failed(batch, error)
        if self._batch.requests or (self._batch.is_urgent and error is None):
            self.write_soon()

    def _failed(self, batch: WriteBatch, error: BaseException) -> None:
        newer = self._batch
        newer.put_before(batch)
        fail((request.done for request in batch.requests), error)
        if isinstance(error, LeaseLostError | ReplacedFileError):
            self.lose(error)
            return
        if isinstance(error, StoreCorruptError):  # until the file is repaired
            self.report_damage(error)
        if isinstance(error, StoreClosedError):
            fail(newer.waiters, error)
        if not (newer.rows or newer.callbacks or newer.waiters):
            return
        if not self._is_failing:
            log.error("%d rows wait until they can be written: %s", len(newer.rows), error, exc_info=error)
        self._is_failing = True
        self.fault = error if isinstance(error, StoreError) else None
        if not isinstance(error, StoreClosedError):
            self._is_due = False
            self._schedule_lazy_flush(_RETRY_S)

    def lose(self, error: StoreError) -> None:
        """Drop all unwritten rows, because another process might have continued from the written ones."""
        waiters, requests = self._waiters(), self._batch.requests
        self._batch = WriteBatch(self._batch.number + 1)
        fail([*waiters, *(request.done for request in requests)], error)
        self.on_lost(error)

    def report_damage(self, error: StoreError) -> None:
        """Fail all tasks that wait for a change of the file, because none can be written."""
        self.damage = error
        fail(self._waiters(), error)
        self.on_damage()

    def _waiters(self) -> list[asyncio.Future[None]]:
        flight = [] if self._flight is None else self._flight[0].waiters
        return [*flight, *self._batch.waiters]

    def _write(self, batch: WriteBatch, database: sqlite3.Connection) -> None:
        self.guard(database)
        batch.write(database, self.path, self._contested)
