"""Run statuses for clients that show, list or await runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolgen.stores import StoreError

from ..statuses import RunState, RunStatus
from .memory_worker import MemoryWorker
from .paused_runs import paused_text
from .runs import LoopRuns
from .store import RunStore

if TYPE_CHECKING:
    from .file_worker import FileWorker

OPEN: Final = ("running", "waiting")
_WAITING: Final = "\x00"
"""Marker for a task that waits for a run, in the place of an operation key."""


class Statuses:
    """Reads statuses, and adds why an unfinished run is paused, as far as this process knows."""

    def __init__(
        self,
        store: RunStore,
        runs: LoopRuns,
        worker: MemoryWorker | FileWorker,
        wait_for_change: Callable[[str], Awaitable[None]],
    ) -> None:
        """Construct it; `wait_for_change` waits until a run might have changed, and raises if none will."""
        self._store = store
        self._runs = runs
        self._worker = worker
        self._wait_for_change = wait_for_change

    def of(self, run_id: str) -> RunStatus:
        """Return the status of a run."""
        return self._explained(self._store.status(run_id))

    def list(self, state: RunState | None, session: str | None, after: str, limit: int) -> list[RunStatus]:
        """Return the statuses of runs, newest first; only runs in memory while the file cannot be read."""
        try:
            listed = self._store.list_runs(state, session, after, limit)
        except StoreError as error:
            listed = self._store.list_in_memory(state, session, after, limit)
            if not (error.is_temporary and listed):
                raise
            return [self._explained(status, error) for status in listed]
        return [self._explained(status) for status in listed]

    def _explained(self, status: RunStatus, error: StoreError | None = None) -> RunStatus:
        """Return a status whose `error` says why its run is paused, if it is."""
        if status.state != "running" or status.error or not self._runs.is_executing(status.run_id):
            return status
        error = self._runs.paused_runs.why(status.run_id) or error or self._worker.fault
        return status if error is None else replace(status, error=paused_text(error))

    async def when(self, run_id: str, *, may_wait: bool) -> RunStatus:
        """Return the status when the run is over, or waits if `may_wait`; keep the run meanwhile."""
        with self._store.sparing(run_id):
            try:
                while True:
                    try:
                        return await self._when(run_id, may_wait=may_wait)
                    except StoreError as error:
                        if not error.is_temporary or error is self._worker.problem:
                            raise
                        await self._runs.paused_runs.pause(run_id, _WAITING, error)
            finally:
                self._runs.paused_runs.end(run_id, _WAITING)

    async def _when(self, run_id: str, *, may_wait: bool) -> RunStatus:
        # A run that this process executes makes progress, even if the file still says that it waits. Any
        # write about a run can change its state; the rest of the status is read after that.
        is_sound = False
        while True:
            state = self._store.state(run_id)
            if state in OPEN:
                self._runs.require_no_fault(run_id)
                is_sound = is_sound or self._worker.require_sound(run_id)
                was_here = self._runs.is_executing(run_id)
                if not may_wait or state == "running" or was_here:
                    await self._wait_for_change(run_id)
                    # so that the status is not read with each event of the run
                    while self._runs.is_running(run_id):
                        await self._wait_for_change(run_id)
                    if was_here and (status := self._store.status(run_id)).state not in OPEN:
                        return status
                    continue
            status = self._store.status(run_id)
            if any(wait.fault for wait in status.awaiting):
                self._store.record(run_id)  # raises with the reason
            if status.state == state:  # otherwise, another process has written in between
                return status
