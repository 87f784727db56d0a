"""The worker of a journal file: it executes the runs, and applies what clients write into the file.

Each process watches the file for changes, by notifications and by a look each second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from toolgen.contract.logs import logger
from toolgen.contract.tasks import start_task
from toolgen.runtime.engine import EngineError
from toolgen.runtime.stores import LeaseLostError, StoreCorruptError, StoreError
from toolgen.runtime.stores.change_notifier import ChangeNotifier
from toolgen.runtime.stores.lease import Lease
from toolgen.runtime.stores.sqlite_batches import SqliteBatches

from .journal import decode
from .live_run import CallLater, Timer
from .pruning import PRUNE, Pruning, Tree
from .runs import Runs
from .sqlite_checks import require_sound_runs
from .sqlite_journal import RunClock, SqliteJournal, released_at, time_before_leap
from .sqlite_rows import (
    UnseenSignal,
    count_finished,
    doomed,
    new_runs,
    next_wake,
    numbers_of,
    oldest_end,
    read_unseen,
)
from .sqlite_steps import delete
from .sqlite_tables import CANCEL

_POLL_S: Final = 1.0
_RETRY_S: Final = 1.0
_HELD: Final = (
    "the wall clock is %.0f days ahead of all that %s holds: nothing that waits expires by it, and nothing "
    "is forgotten. If it is right, run: toolgen runs release-clock. If not, set it and restart the worker"
)

log = logger("toolgen.engines")


class FileWatch:
    """Calls back when the file may have changed; belongs to the event loop that started it."""

    def __init__(self, path: Path, call_later: CallLater, on_news: Callable[[], None]) -> None:
        self._call_later = call_later
        self._on_change = on_news
        self._notifier = ChangeNotifier(path, on_news)
        self._timer: Timer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_worker = False

    @property
    def is_watching(self) -> bool:
        return self._loop is not None

    def start(self, *, is_worker: bool) -> None:
        """Start to watch, if not started yet; the worker gets the notifications of all clients."""
        loop = asyncio.get_running_loop()
        if loop is self._loop and (self._is_worker or not is_worker):
            return
        self.stop()
        self._loop, self._is_worker = loop, is_worker
        self._notifier.open(is_worker=is_worker)
        self._look()

    def stop(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop = None
        self._is_worker = False
        self._notifier.close()

    def tell(self) -> bool:
        """Notify other processes that the file has changed; return False when there is no worker."""
        if self._is_worker:
            self._notifier.notify_clients()
            return True
        return self._notifier.notify_worker()

    def _look(self) -> None:
        self._timer = self._call_later(_POLL_S, self._polled)

    def _polled(self) -> None:
        self._on_change()
        if self._loop is not None:
            self._look()


class FileWorker:
    """Holds the lease on a journal file while it works; each file has one worker over all processes."""

    def __init__(
        self,
        path: Path,
        *,
        batches: SqliteBatches,
        journal: SqliteJournal,
        runs: Runs,
        clock: RunClock,
        call_later: CallLater,
        keep_runs: int,
        keep_s: float | None,
    ) -> None:
        self._path = path
        self._batches = batches
        self._journal = journal
        self._runs = runs
        self._clock = clock
        self._call_later = call_later
        self._keep_runs = keep_runs
        self._keep_s = keep_s
        self._lease = Lease(path.with_name(f"{path.name}.lock"))
        self._seen = journal.seen_numbers
        self._timer: Timer | None = None
        self._wake: float | None = None
        self._finished = 0
        self.pruning = Pruning(self._doomed, self._delete, clock)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starts_in: asyncio.AbstractEventLoop | None = None
        self._starting = asyncio.Lock()
        self.is_working = False
        self._only: set[str] | None = None
        """The runs to which the worker keeps; None for all."""
        self.lost: LeaseLostError | None = None
        """Why the worker has stopped by itself."""
        self.on_lost: Callable[[], None] = lambda: None
        """Called when it has."""
        self._stopping: set[asyncio.Task[Any]] = set()
        batches.guard = self._lease.require_file
        batches.on_lost = self._stop_lost
        journal.on_park = self._parked
        journal.on_end = self._on_run_end
        journal.on_contested = self.take_changes

    async def start(self, only: Collection[str] | None = None) -> None:
        """Take the lease and resume the runs that are neither over nor parked.

        With `only` go on with these runs, parked or not, and with nothing else that was there before. Without
        any, or where another worker has the lease, take none.

        Raises:
            EngineError: another worker has the file.
            StoreError: the file cannot be used.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._starts_in:
            self._starts_in, self._starting = loop, asyncio.Lock()
        async with self._starting:
            await self._start(loop, only)

    async def _start(self, loop: asyncio.AbstractEventLoop, only: Collection[str] | None) -> None:
        """Start, while nobody else does: who comes second finds the first one's work begun."""
        if self.is_working and loop is self._loop:
            if self._only is not None and only is not None:
                self._resume(only)
            return
        if only is not None and not only:
            return
        self.is_working, self.lost = False, None
        if not self._lease.acquire():
            if only is not None:
                return
            raise EngineError(
                f"the runs of {str(self._path)!r} are executed by another engine, in the process"
                f" {self._lease.holder()}",
                hint="end that process first, or be a client of it: InProcessEngine(path, worker=False)",
            )
        try:
            await self._batches.read_beside(require_sound_runs)
            await self._journal.reset()
            self._hold_clock()
            self._finished = self._batches.read(count_finished)
            self._only = None if only is None else set()
            if only is None:
                self._runs.start(worker=True)
            else:
                self._resume(only)
        except BaseException:
            self._lease.release()
            raise
        self.is_working, self._loop = True, loop
        self.take_changes()
        self._resume_due()

    def _hold_clock(self) -> None:
        """Hold the clock at the newest time of the journal, where the wall clock is far ahead of it."""
        now = self._clock()
        newest = self._batches.read(partial(time_before_leap, now=now, keep_s=self._keep_s))
        if newest is not None:
            self._clock.hold_at(newest)
            log.error(_HELD, (now - newest) / 86400, str(self._path))

    def _release_clock(self) -> None:
        """Trust the wall clock again, once an operator has said so."""
        if self._clock.held_s and self._batches.read(released_at) > self._clock():
            self._clock.release()
            log.warning("the wall clock counts again for the runs of %s", str(self._path))
            self._resume_due()

    def _resume(self, only: Collection[str]) -> None:
        """Resume these runs; a client may have answered them while there was no worker."""
        assert self._only is not None, "a worker of all runs resumes all"
        self._only.update(only)
        trees = self._batches.read(partial(numbers_of, run_ids=tuple(only)))
        self._runs.start(worker=True, only=[record.run_id for record in self._journal.load_trees(trees)])

    async def close(self) -> None:
        """Stop executing, write what is left, and release the lease; a start that goes on ends before."""
        if self._starts_in is asyncio.get_running_loop():
            async with self._starting:
                await self._close()
        else:
            await self._close()

    async def _close(self) -> None:
        self._stop()
        await self._runs.close()
        await self._batches.close()
        self._lease.release()

    def _stop(self) -> None:
        self.is_working = False
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._wake = None
        self.pruning.stop()

    def _stop_lost(self, error: LeaseLostError) -> None:
        """Stop executing, for another worker may go on with the runs; the file is not written any more."""
        if self.lost is None:
            self.lost = error
            log.error("the worker has stopped: %s", error)
            self._stop()
            self._runs.is_working = False
            start_task(self._stopping, self._runs.close(), name="stopping the worker")
            self.on_lost()

    def take_changes(self) -> None:
        """Apply what clients have written to the file: new runs, signals, cancellations."""
        if not self.is_working:
            return
        try:
            self._lease.require_file()
            self._release_clock()
            new = self._batches.read(new_runs) if self._only is None else ()
            if new:
                self._runs.resume(self._journal.load_trees(new))
            for unseen in self._batches.read(read_unseen):
                if unseen.signal.no not in self._seen:
                    self._take(unseen)
            self._prune_many()
            self._prune_old()
        except LeaseLostError as error:
            self._batches.lose(error)
        except StoreError as error:
            if isinstance(error, StoreCorruptError):
                self._batches.report_damage(error)
            log.warning("the worker will retry reading the file: %s", error)

    def _take(self, unseen: UnseenSignal) -> None:
        signal, record = unseen.signal, self._journal.loaded_record(unseen.run_id)
        if record is None and self._only is not None:
            return
        if record is None and unseen.is_wanted and not unseen.is_late:
            self._runs.resume(self._journal.load_trees([unseen.run]))
            record = self._journal.loaded_record(unseen.run_id)
        self._journal.mark_seen(signal.no)
        if record is None or record.ending is not None:
            if signal.key and unseen.is_late:
                log.warning("run %s ended before it took the answer %s", unseen.run_id, signal.name)
        elif signal.signal_id == CANCEL:
            self._runs.cancel(record, decode(signal.payload))
        elif signal.signal_id not in record.signals:
            self._runs.deliver(record, signal)

    def _parked(self, wake: float) -> None:
        if self.is_working and (self._wake is None or wake < self._wake):
            self._set_timer(wake)

    def _set_timer(self, wake: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wake = wake
        self._timer = self._call_later(max(0.0, wake - self._clock()), self._resume_due)

    def _resume_due(self) -> None:
        """Resume the parked runs whose time has come."""
        self._timer = self._wake = None
        if not self.is_working or self._only is not None:
            return
        try:
            now = self._clock()
            self._runs.resume(self._journal.load_due(now))
            wake = self._batches.read(partial(next_wake, after=now))
        except StoreError as error:
            log.warning("due runs were not loaded: %s", error)
            wake = self._clock() + _RETRY_S
        if wake is not None:
            self._set_timer(wake)

    def _on_run_end(self) -> None:
        self._finished += 1
        self._prune_many()

    def _prune_many(self) -> None:
        if self.is_working and self._only is None and self._finished >= self._keep_runs + PRUNE:
            self.pruning.start()

    def _prune_old(self) -> None:
        if self._keep_s is None or self._only is not None:
            return
        oldest = self._batches.read(oldest_end)
        if oldest is not None and oldest < self._clock() - self._keep_s:
            self.pruning.start()

    def _doomed(self) -> list[Tree]:
        """Return the oldest root runs beyond the limits of the retention, with the runs below them."""
        before = None if self._keep_s is None else self._clock() - self._keep_s
        return self._batches.read(partial(doomed, keep=self._keep_runs, before=before))

    async def _delete(self, trees: Sequence[Tree]) -> None:
        await self._batches.run(partial(delete, trees=trees))
        self._finished = self._batches.read(count_finished)
