"""States of the runs of an engine, for clients that show, list or await them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolgen.stores import StoreError

from ..statuses import RunState, RunStatus
from .memory_worker import MemoryWorker
from .runs import LoopRuns
from .standing import standing_text
from .store import RunStore

if TYPE_CHECKING:
    from .file_worker import FileWorker

OPEN: Final = ("running", "waiting")
_WAITING: Final = "\x00"
"""Stands for who waits for a run, in the place of an operation of it."""


class Statuses:
    """Reads statuses, and says of a run that goes on why it stands still, as far as this process knows."""

    def __init__(
        self,
        store: RunStore,
        runs: LoopRuns,
        worker: MemoryWorker | FileWorker,
        wait_for_change: Callable[[str], Awaitable[None]],
    ) -> None:
        """Construct it; `wait_for_change` waits until a run may have changed, and raises where none will."""
        self._store = store
        self._runs = runs
        self._worker = worker
        self._wait_for_change = wait_for_change

    def of(self, run_id: str) -> RunStatus:
        """Return the status of a run."""
        return self._explained(self._store.status(run_id))

    def list(self, state: RunState | None, session: str | None, after: str, limit: int) -> list[RunStatus]:
        """Return the statuses of runs, the newest first; of those in memory while the file cannot be read."""
        try:
            listed = self._store.list_runs(state, session, after, limit)
        except StoreError as error:
            listed = self._store.list_kept(state, session, after, limit)
            if not (error.is_temporary and listed):
                raise
            return [self._explained(status, error) for status in listed]
        return [self._explained(status) for status in listed]

    def _explained(self, status: RunStatus, error: StoreError | None = None) -> RunStatus:
        """Return a status that says why its run stands still, where it does."""
        if status.state != "running" or status.error or not self._runs.is_executing(status.run_id):
            return status
        error = self._runs.standing.why(status.run_id) or error or self._worker.fault
        return status if error is None else replace(status, error=standing_text(error))

    async def when(self, run_id: str, *, may_wait: bool) -> RunStatus:
        """Return the status when the run is over, or waits, where waits count; it is kept meanwhile."""
        with self._store.sparing(run_id):
            try:
                while True:
                    try:
                        return await self._when(run_id, may_wait=may_wait)
                    except StoreError as error:
                        if not error.is_temporary or error is self._worker.problem:
                            raise
                        await self._runs.standing.pause(run_id, _WAITING, error)
            finally:
                self._runs.standing.end(run_id, _WAITING)

    async def _when(self, run_id: str, *, may_wait: bool) -> RunStatus:
        # What this process has begun with moves, though a file may say for a moment that it waits. Whatever
        # is written of a run may change its state; the rest of it is read when it has.
        is_sound = False
        while True:
            state = self._store.state(run_id)
            if state in OPEN:
                self._runs.require_no_fault(run_id)
                is_sound = is_sound or self._worker.require_sound(run_id)
                was_here = self._runs.is_executing(run_id)
                if not may_wait or state == "running" or was_here:
                    await self._wait_for_change(run_id)
                    while self._runs.is_running(run_id):  # it is not read with each of its events
                        await self._wait_for_change(run_id)
                    if was_here and (status := self._store.status(run_id)).state not in OPEN:
                        return status
                    continue
            status = self._store.status(run_id)
            if any(wait.fault for wait in status.awaiting):
                self._store.record(run_id)  # raises, and says why
            if status.state == state:  # another process may have written in between
                return status
