"""A connection to a store file, used by one step at a time."""

from __future__ import annotations

import asyncio
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from toolgen.contract.record import frozen_record

from .disk import read_fault
from .errors import StoreClosedError, StoreError, StoreFullError, StoreLockedError, StoreMissingError
from .sqlite_connection import Synchronous, in_transaction, open_connection
from .sqlite_errors import (
    DamagedRowError,
    SuspectedDamageError,
    is_about_the_file,
    is_worth_a_second_look,
    look,
    store_error,
    unreadable,
)
from .sqlite_format import SqliteFormat

P = ParamSpec("P")
T = TypeVar("T")
_FAULTS: Final = (sqlite3.Error, DamagedRowError, SuspectedDamageError, UnicodeDecodeError)
"""Exceptions of a step, including those caused by its file."""


@frozen_record(kw_only=False)
class LaneSettings:
    path: Path
    format: SqliteFormat
    busy_s: float
    synchronous: Synchronous = "FULL"
    witness: Path | None = None
    """File that exists beside a file once it was written; None without one."""

    def is_lost(self) -> bool:
        """Return whether the file is missing or empty although its witness exists."""
        is_written = self.path.exists() and self.path.stat().st_size > 0
        return not is_written and self.witness is not None and self.witness.exists()


class _Thread(ThreadPoolExecutor):
    """One thread, and its queue of steps."""

    def __init__(self) -> None:
        super().__init__(1, thread_name_prefix="toolgen sqlite")
        self.pending: set[Future[Any]] = set()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future = super().submit(fn, *args, **kwargs)
        self.pending.add(future)
        future.add_done_callback(self.pending.discard)
        return future


class SqliteThread:
    """A connection and its thread, which runs one step after another."""

    def __init__(self, settings: LaneSettings, begin: str) -> None:
        self._settings = settings
        self._begin = begin
        self._process = os.getpid()
        self._thread = _Thread()
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._previous: sqlite3.Connection | None = None
        """The previous connection, until the next one is open. With no connection, SQLite would recover the
        write-ahead log, and with it a commit that failed because it was not synced."""
        self._file_id = (0, 0)
        self._wait_ms = 0
        self._free_at = -math.inf
        self.on_open: Callable[[sqlite3.Connection], None] = lambda database: None
        """Called with each connection that replaces an earlier one, before it is used for reading."""
        self._has_opened = False
        self._is_closed = False

    def require_process(self) -> None:
        """Raise in a process that was forked after the connection was opened, because it lacks the thread.

        Raises:
            StoreError: this process is not the one that opened it.
        """
        if self._process != os.getpid():
            raise StoreError(
                "was opened by the process that this one was forked from",
                path=self._settings.path,
                hint="open it in the process that uses it",
            )

    @property
    def is_busy(self) -> bool:
        """Whether the thread has steps that `run_here` would wait for."""
        return bool(self._thread.pending)

    async def run(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Run the step and return its value; the step continues if the caller is canceled."""
        work = self._timed(step, time.monotonic())
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def run_brief(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Run the step and return its value, in the caller's thread if no other step is running.

        Otherwise it runs as with `run`, after the pending steps of the thread. Handing a step to the thread
        takes many times as long as a brief step.
        """
        self.require_process()
        if not self.is_busy and self._lock.acquire(blocking=False):
            try:
                return self._run_locked(step, time.monotonic(), 0.0)
            except StoreLockedError:
                pass  # the thread waits for the lock
            finally:
                self._release()
        return await self.run(step)

    def submit(self, step: Callable[[sqlite3.Connection], T], asked_at: float) -> Future[T]:
        """Submit the step and return the future of its value, which outlives the caller's event loop.

        Its wait for other processes started at `asked_at`, by `time.monotonic()`.
        """
        run, done = self._timed(step, asked_at), Future[T]()

        def work() -> None:
            try:
                done.set_result(run())
            except BaseException as error:  # noqa: BLE001 - the future stores it, and the task that awaits it raises it
                done.set_exception(error)

        asyncio.get_running_loop().run_in_executor(self._thread, work)
        return done

    def _timed(self, step: Callable[[sqlite3.Connection], T], asked_at: float) -> Callable[[], T]:
        """Return the function that runs the step; its wait for other processes started at `asked_at`."""
        self.require_process()
        return lambda: self._run(step, asked_at, self._settings.busy_s)

    def run_here(self, step: Callable[[sqlite3.Connection], T], *, busy_s: float) -> T:
        """Run the step in the calling thread and return its value, when no other step is running.

        Raises:
            StoreLockedError: another process locks the file for more than `busy_s` seconds.
            StoreError: the file cannot be used; the class says why.
        """
        self.require_process()
        return self._run(step, time.monotonic(), busy_s)

    async def vacuum(self) -> None:
        """Rewrite the file without the deleted rows, and empty its write-ahead log.

        Raises:
            StoreLockedError: another process reads or writes the whole time.
            StoreError: the file cannot be used; the class says why.
        """
        self.require_process()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._vacuum)

    def _vacuum(self) -> None:
        def work(until: float) -> bool:
            database = self._connection(until)
            self._wait_ms = int(self._settings.busy_s * 1000)
            database.execute(f"PRAGMA busy_timeout = {self._wait_ms}")
            database.execute("VACUUM")
            (is_busy, *_) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return bool(is_busy)

        self._lock.acquire()
        try:
            is_busy = self._guarded(work, time.monotonic(), self._settings.busy_s)
        finally:
            self._release()
        if is_busy:
            raise StoreLockedError(
                "is read by another process, so its write-ahead log still contains deleted data",
                path=self._settings.path,
                hint="stop the other process, and try again",
            )

    def open(self) -> None:
        """Open the connection in the calling thread."""
        with self._lock:
            self._guarded(self._connection, time.monotonic(), self._settings.busy_s)

    def close(self) -> bool:
        """Close the connection, or let the running step close it; return whether none was running.

        It waits for no lock, because the garbage collector calls it too.
        """
        self._is_closed = True
        self._thread.shutdown(wait=False)
        return self._drop_if_free()

    def _run(self, step: Callable[[sqlite3.Connection], T], asked_at: float, busy_s: float) -> T:
        self._lock.acquire()
        try:
            return self._run_locked(step, asked_at, busy_s)
        finally:
            self._release()

    def _release(self) -> None:
        """Release the lock, and close the connection if `close` could not."""
        self._lock.release()
        if self._is_closed:
            self._drop_if_free()

    def _run_locked(self, step: Callable[[sqlite3.Connection], T], asked_at: float, busy_s: float) -> T:
        def work(until: float) -> T:
            database = self._connection(until)
            wait_ms = max(0, int((until - time.monotonic()) * 1000))
            if wait_ms != self._wait_ms:
                database.execute(f"PRAGMA busy_timeout = {wait_ms}")
                self._wait_ms = wait_ms
            return in_transaction(database, self._begin, step)

        return self._guarded(work, asked_at, busy_s)

    def _guarded(self, work: Callable[[float], T], asked_at: float, busy_s: float) -> T:
        """Run the work under the lock, and return its value.

        The work receives the time until which it can wait for other processes. Steps that wait for this
        thread count that wait too, so that with a locked file all steps fail at the same time, not one after
        another.

        If the file seems damaged or cannot be read, a new connection repeats the work, because SQLite reports
        a page as "malformed" if the disk could not read it.

        Raises:
            StoreError: the file caused the SQLite error, or the store is closed.
        """
        if self._is_closed:
            raise closed_error(self._settings.path)
        until = max(asked_at, self._free_at) + busy_s
        look.is_first = True
        try:
            result = work(until)
        except _FAULTS as error:
            if not is_worth_a_second_look(error, reads=self._begin == "BEGIN"):
                raise self._translated(error, busy_s) from error
            result = self._recheck(work, busy_s)
        finally:
            look.is_first = False
        self._free_at = time.monotonic()
        return result

    def _recheck(self, work: Callable[[float], T], busy_s: float) -> T:
        """Run the work with a new connection, and once more if the file still seems damaged.

        In between, the whole file is read without SQLite, so a third failure is not caused by the disk.

        Raises:
            StoreError: as `_guarded`.
        """
        # the error can keep the cursor of a row, which keeps the snapshot of the connection
        self._retire_connection()
        try:
            return work(time.monotonic() + busy_s)
        except _FAULTS as error:
            self._retire_connection()
            if not is_worth_a_second_look(error, reads=False):
                raise self._translated(error, busy_s) from error
            if fault := read_fault(self._settings.path):
                raise unreadable(self._settings.path, fault) from error
        look.is_first = False
        try:
            return work(time.monotonic() + busy_s)
        except _FAULTS as error:
            raise self._translated(error, busy_s) from error

    def _translated(self, error: Exception, busy_s: float) -> Exception:
        """Return the store error for an exception of a step; return a wrong statement's error unchanged."""
        if isinstance(error, sqlite3.Error) and not is_about_the_file(error):
            return error
        problem = store_error(error, self._settings.path, busy_s=busy_s)
        if not isinstance(problem, StoreLockedError | StoreFullError):
            self._retire_connection()  # the file might be repaired before the next step
        return problem

    def _connection(self, until: float) -> sqlite3.Connection:
        """Return the connection; open it again if the path leads to another file than before.

        Raises:
            StoreMissingError: the file is missing, or is empty although it was written before.
        """
        path = self._settings.path
        try:
            status = os.stat(path)
        except OSError as error:
            self._drop()
            raise self._missing(f"cannot be found any more: {error.strerror}") from error
        file_id = (status.st_dev, status.st_ino)
        if file_id != self._file_id:
            self._drop()
        if self._database is None:
            if self._settings.is_lost():
                raise self._missing("is empty, but had contents before")
            self._database = open_connection(path, self._settings.format, until, self._settings.synchronous)
            self._file_id, self._wait_ms = file_id, 0
            self._close_previous()
            if self._has_opened:
                self._require_same(self._database)
            self._has_opened = True
        return self._database

    def _require_same(self, database: sqlite3.Connection) -> None:
        try:
            self.on_open(database)
        except BaseException:
            self._drop()
            raise

    def _missing(self, message: str) -> StoreMissingError:
        hint = f"restore the file, or {self._settings.format.if_lost}"
        return StoreMissingError(message, path=self._settings.path, hint=hint)

    def _drop_if_free(self) -> bool:
        """Close the connection unless a step is running; return whether none was running."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._drop()
        finally:
            self._lock.release()
        return True

    def _retire_connection(self) -> None:
        """Make the next step open another connection."""
        if self._database is not None:
            self._previous, self._database = self._database, None

    def _drop(self) -> None:
        self._retire_connection()
        self._close_previous()

    def _close_previous(self) -> None:
        previous, self._previous = self._previous, None
        if previous is not None:
            previous.close()


def closed_error(path: Path) -> StoreClosedError:
    """Return the error for a closed store."""
    return StoreClosedError("was closed", path=path, hint="open the store again")
