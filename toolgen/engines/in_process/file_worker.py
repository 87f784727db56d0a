"""The worker of a journal file: it executes the runs and applies changes that clients write to the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Mapping
from functools import partial
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.tasks import CallLater, Timer, start_task
from toolgen.stores import LeaseLostError, ReplacedFileError, StoreCorruptError, StoreDiskError, StoreError
from toolgen.stores.errors import StoreFormatError
from toolgen.stores.file_watch import FileWatch
from toolgen.stores.own_file import Lease, create_key, read_key

from ..errors import EngineError
from ..statuses import LostJournal
from .file_clock import release, released_at, time_before_leap
from .journal import CANCEL, NULL, decode, report_message
from .pruning import PRUNE, Pruning, RunTree
from .runs import LoopRuns
from .sqlite_records import DUE, NEW, NUMBERED, require_sound_tree
from .sqlite_rows import UnseenSignal, data_version, next_wake, oldest_end, read_unseen, require_sound_runs
from .sqlite_steps import CANCEL_TREE
from .sqlite_store import SqliteStore
from .witness import summary_of

_RETRY_S: Final = 1.0
_HELD: Final = (
    "the wall clock is %.0f days ahead of everything in %s, so nothing expires and no run is deleted. If it "
    "is right, run: toolgen runs release-clock. If not, set it and restart the worker"
)
_BEHIND: Final = (
    "%s is older than its witness: calls that it lost get an unknown outcome and are not "
    "repeated, and answered questions are asked again (%s)"
)
log = logger("toolgen.engines")


class FileWorker:
    """Holds the lease on a journal file while it works; each file has one worker across all processes."""

    def __init__(
        self,
        store: SqliteStore,
        runs: LoopRuns,
        call_later: CallLater,
        *,
        keep_runs: int,
        keep_s: float | None,
    ) -> None:
        self._path = store.batches.path
        self._key_file = self._path.with_name(f"{self._path.name}.key")
        self._batches = store.batches
        self._store = store
        self._runs = runs
        self._clock = store.clock
        self._call_later = call_later
        self._keep_runs = keep_runs
        self._keep_s = keep_s
        self._lease = Lease(self._path.with_name(f"{self._path.name}.lock"))
        self._watch = FileWatch(self._path, call_later, self._on_change, runs.followers.take_message)
        runs.events.on_report = self._send_report
        self._version: tuple[sqlite3.Connection, int] | None = None
        self._secret: bytes | None = None
        self._timer: Timer | None = None
        self._wake: float | None = None
        self.pruning = Pruning(self._to_forget, store.drop, store.clock)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starts_in: asyncio.AbstractEventLoop | None = None
        self._starting = asyncio.Lock()
        self.is_working = False
        self._only: set[str] | None = None
        """Ids of the runs that the worker is limited to; None for all runs."""
        self.lost: StoreError | None = None
        """Reason why the worker stopped on its own."""
        self._stopping: set[asyncio.Task[object]] = set()
        self._batches.on_commit = self._on_commit
        self._batches.on_damage = runs.followers.wake_all
        self._batches.guard = self._require_ours
        self._batches.on_lost = self._stop_lost
        store.on_park = self._parked
        store.on_end = self._prune_many
        store.on_contested = self.take_changes

    def secret(self, *, create: bool) -> bytes | None:
        """Return the content of `<path>.key`.

        Raises:
            StoreError: the key file cannot be read or created, or other users can access it.
        """
        self._secret = self._secret or read_key(self._key_file)
        if self._secret is None and create:
            self._secret = create_key(self._key_file)
        return self._secret

    def faults(self) -> tuple[str, ...]:
        """Return the faults of the key, the lock and the witness, and the losses that the witness reports."""
        problems = []
        for check in (partial(read_key, self._key_file), self._lease.check, self._store.witness.check):
            try:
                check()
            except (StoreDiskError, StoreFormatError):  # the file might be undamaged
                raise
            except StoreError as error:
                problems.append(error.message)
        return tuple(problems)

    def describe(self) -> tuple[str, ...]:
        """Describe the worker of the runs, and say whether the file has a key."""
        who, key = "no process executes the runs", self._key_file
        if self.is_working or (self._watch.is_watching and self._watch.notify()):
            who = f"the process {self._lease.holder()} executes the runs"
        return who, f"{str(key)!r} is the key" if key.exists() else "the file of the runs has no key"

    @property
    def held_s(self) -> float:
        return self._clock.held_s

    @property
    def problem(self) -> StoreError | None:
        """Reason why no run can continue: the worker has stopped on its own, or the file is damaged."""
        return self.lost or self._batches.damage

    @property
    def fault(self) -> StoreError | None:
        """Reason why the last write failed; the write is retried."""
        return self._batches.fault

    def watch(self) -> None:
        """Start listening for changes by other processes."""
        self._watch.start(is_worker=self.is_working)

    def require_sound(self, run_id: str) -> bool:
        """Raise if an unfinished run cannot be loaded; return whether the check read the file.

        A worker finds the damage when it loads the run, so its process must call this again each time.

        Raises:
            StoreCorruptError: the run is damaged.
        """
        if self.is_working:
            self._store.require_undamaged(run_id)
        else:
            self._batches.read(partial(require_sound_tree, run_id=run_id))
        return not self.is_working

    def notify(self) -> bool:
        """Notify the worker, in this or another process, of a change; return False if there is no worker."""
        if self.is_working:
            self.take_changes()
            return True
        return self._watch.is_watching and self._watch.notify()

    async def release_clock(self, at: float) -> None:
        await self._batches.run(partial(release, at=at))
        self.notify()

    def _on_commit(self, changed: set[str], grown: set[str]) -> None:
        """Wake tasks that wait for a changed run of the file, and followers of a log that has grown."""
        for run_id in grown:
            self._store.on_log(run_id)
        for run_id in changed:
            self._store.on_change(run_id)
        if (changed or grown) and self.is_working and self._watch.is_watching:
            self._watch.notify()

    def _on_change(self) -> None:
        """Read the changes of other processes."""
        if self.is_working:
            self.take_changes()
            return
        try:
            version = self._batches.read(data_version)
        except StoreError:
            version = None  # the woken tasks find the problem themselves
        if version is None or version != self._version:
            self._version = version
            self._runs.followers.wake_all()

    def _send_report(self, run_id: str, after: int, event: Mapping[str, Json]) -> None:
        """Send a report to the clients of the file; best effort, and not if it is long."""
        if self._watch.has_clients:
            self._watch.send(report_message(run_id, after, event))

    async def start(self, *, worker: bool, only: Collection[str] | None) -> None:
        """Watch the file; as its worker, take the lease and resume the unfinished runs that are not parked.

        With `only`, resume these runs, parked or not, and no other existing run. If `only` is empty, or if
        another worker has the lease, resume none.

        Raises:
            EngineError: another worker has the file.
            StoreError: the file cannot be used.
        """
        self._batches.reopen()
        if worker:
            loop = asyncio.get_running_loop()
            if loop is not self._starts_in:
                self._starts_in, self._starting = loop, asyncio.Lock()
            async with self._starting:
                await self._start(loop, only)
        self.watch()

    async def _start(self, loop: asyncio.AbstractEventLoop, only: Collection[str] | None) -> None:
        """Start; the caller holds the lock, so a second caller finds the worker already started."""
        if self.is_working and loop is self._loop:
            if self._only is not None and only is not None:
                self._only.update(only)
                self._runs.start(worker=True, only=only)
            return
        if only is not None and not only:
            return
        self.is_working, self.lost = False, None
        self._store.witness.close()
        if not self._lease.acquire():
            if only is not None:
                return
            raise self._taken_error()
        try:
            await self._batches.read_apart(require_sound_runs)
            if lacking := await self._store.reset():
                log.error(_BEHIND, str(self._path), self._batches.read(partial(summary_of, facts=lacking)))
            self._hold_clock()
            self._only = None if only is None else set(only)
            self._runs.start(worker=True, only=only)
        except BaseException:
            self._store.witness.close()
            self._lease.release()
            raise
        self.is_working, self._loop = True, loop
        self.take_changes()
        self._resume_due()

    async def restore(self) -> LostJournal | None:
        """Accept this journal as the replacement of the one that its witness knows; see `Witness.restore`.

        Raises:
            EngineError: another worker has the file, or this one is working.
            StoreError: the file cannot be used.
        """
        if self.is_working or not self._lease.acquire():
            raise self._taken_error()
        try:
            return await self._store.restore()
        finally:
            self._lease.release()

    def _taken_error(self) -> EngineError:
        return EngineError(
            f"the runs of {str(self._path)!r} are executed by another engine, in the process"
            f" {self._lease.holder()}",
            hint="stop that process first, or connect as its client: InProcessEngine(path, worker=False), "
            "toolgen serve --no-worker",
        )

    def _hold_clock(self) -> None:
        """Hold the clock at the newest time of the journal if the wall clock is far ahead of it."""
        now = self._clock()
        newest = self._batches.read(partial(time_before_leap, now=now, keep_s=self._keep_s))
        if newest is not None:
            self._clock.hold_at(newest)
            log.error(_HELD, (now - newest) / 86400, str(self._path))

    def _release_clock(self) -> None:
        """Trust the wall clock again after an operator has released it."""
        if self._clock.held_s and self._batches.read(released_at) > self._clock():
            self._clock.release()
            log.warning("the wall clock is used again for the runs of %s", str(self._path))
            self._resume_due()

    async def close(self) -> None:
        """Stop executing, write the remaining rows and release the lease, after a concurrent start ended."""
        if self._starts_in is asyncio.get_running_loop():
            async with self._starting:
                await self._close()
        else:
            await self._close()

    async def _close(self) -> None:
        self._stop()
        try:
            await self._runs.close()
            await self._batches.close()
        finally:
            self._store.witness.close()
            self._lease.release()
            self._watch.stop()

    def _stop(self) -> None:
        self.is_working = False
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._wake = None
        self.pruning.stop()

    def _stop_lost(self, error: StoreError) -> None:
        """Stop executing and writing the file, because another worker might have resumed the runs."""
        if self.lost is None:
            self.lost = error
            log.error("the worker stopped: %s", error)
            self._stop()
            self._runs.is_working = False
            start_task(self._stopping, self._runs.close(), name="stopping the worker")
            self._runs.followers.wake_all()

    def take_changes(self) -> None:
        """Apply the changes that clients have written to the file: new runs, signals, cancellations."""
        if not self.is_working:
            return
        try:
            self._batches.read(self._require_ours)
            self._release_clock()
            if self._only is None:
                self._runs.resume(self._store.load(NEW))
            for unseen in self._batches.read(read_unseen):
                if unseen.signal.no not in self._store.seen_numbers:
                    self._take(unseen)
            self._prune_many()
            self._prune_old()
            self._runs.paused_runs.end("what is new in the file", "")
        except (LeaseLostError, ReplacedFileError) as error:
            self._batches.lose(error)
        except StoreError as error:
            if isinstance(error, StoreCorruptError):
                self._batches.report_damage(error)
            self._runs.paused_runs.begin("what is new in the file", "", error)

    def _require_ours(self, database: sqlite3.Connection) -> None:
        self._lease.require_file()
        self._store.witness.require_journal(database)

    def _take(self, unseen: UnseenSignal) -> None:
        signal, record = unseen.signal, self._store.loaded_record(unseen.run_id)
        if record is None and self._only is not None and unseen.run_id not in self._only:
            return
        if record is None and unseen.is_wanted and not unseen.is_late:
            self._runs.resume(self._store.load(NUMBERED, unseen.run))
            record = self._store.loaded_record(unseen.run_id)
        if record is not None and signal.signal_id == CANCEL:
            self._runs.take(record, signal)  # first, because reading the child runs can fail
        self._store.mark_seen(signal.no)
        if signal.key:
            self._store.witness.note("answered", unseen.run_id, signal.name)
        if record is None and signal.signal_id == CANCEL and not unseen.is_late:
            self._cancel_damaged(unseen)
        elif record is None or record.ending is not None:
            if signal.key and unseen.is_late:
                log.warning("run %s ended before it read the answer %s", unseen.run_id, signal.name)
        else:
            self._runs.take(record, signal)

    def _cancel_damaged(self, unseen: UnseenSignal) -> None:
        """End a run that cannot be loaded, with its descendants, without writing their last events."""
        log.warning("run %s, which cannot be read, is canceled without its last events", unseen.run_id)
        self._batches.put(CANCEL_TREE, unseen.run, self._clock(), NULL, decode(unseen.signal.payload))
        self._batches.mark(unseen.run_id)

    def _parked(self, wake: float) -> None:
        if self.is_working and (self._wake is None or wake < self._wake):
            self._set_timer(wake)

    def _set_timer(self, wake: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wake = wake
        self._timer = self._call_later(max(0.0, wake - self._clock()), self._resume_due)

    def _resume_due(self) -> None:
        """Resume the parked runs whose wake time has come."""
        self._timer = self._wake = None
        if not self.is_working or self._only is not None:
            return
        try:
            self._runs.resume(self._store.load(DUE, now := self._clock()))
            wake = self._batches.read(partial(next_wake, after=now))
            self._runs.paused_runs.end("what is due", "")
        except StoreError as error:
            self._runs.paused_runs.begin("what is due", "", error)
            wake = self._clock() + _RETRY_S
        if wake is not None:
            self._set_timer(wake)

    def _prune_many(self) -> None:
        if self.is_working and self._only is None and self._store.finished >= self._keep_runs + PRUNE:
            self.pruning.start()

    def _prune_old(self) -> None:
        if self._keep_s is None or self._only is not None:
            return
        if (oldest := self._batches.read(oldest_end)) is not None and oldest < self._clock() - self._keep_s:
            self.pruning.start()

    def _to_forget(self) -> list[RunTree]:
        """Return the oldest root runs beyond the limits of the retention, with the runs below them."""
        before = None if self._keep_s is None else self._clock() - self._keep_s
        return self._store.to_forget(self._keep_runs, before)
