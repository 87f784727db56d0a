"""The worker of the runs in memory."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from functools import partial
from typing import ClassVar

from ..errors import EngineError
from ..statuses import LostJournal
from .pruning import Pruning
from .runs import LoopRuns
from .store import RunStore


class MemoryWorker:
    """Executes the runs of a store in memory."""

    held_s: ClassVar[float] = 0.0
    """Zero, because runs in memory always started under this clock."""
    problem: ClassVar[None] = None
    fault: ClassVar[None] = None

    def __init__(self, store: RunStore, runs: LoopRuns, keep_runs: int) -> None:
        self._store = store
        self._runs = runs
        self._keep_runs = keep_runs
        self._secret = secrets.token_bytes(32)
        self.pruning = Pruning(partial(store.to_forget, keep_runs), store.drop, runs.clock)
        store.on_signal, store.on_end = runs.take, self._prune

    @property
    def is_working(self) -> bool:
        return self._runs.is_working

    async def start(self, *, worker: bool, only: Collection[str] | None) -> None:
        self._runs.start(worker=worker, only=only)
        self._prune()

    async def close(self) -> None:
        self.pruning.stop()
        await self._runs.close()

    async def restore(self) -> LostJournal | None:
        raise EngineError("the runs are in memory, and end with the process", hint="store them in a file")

    def secret(self, *, create: bool) -> bytes | None:
        return self._secret

    def require_sound(self, run_id: str) -> bool:
        """Return True: records in memory cannot be damaged."""
        return True

    def faults(self) -> tuple[()]:
        return ()

    def describe(self) -> tuple[()]:
        return ()

    def watch(self) -> None:
        """Do nothing: no other process uses the store."""

    def notify(self) -> bool:
        """Return whether there is a worker; it receives every change immediately."""
        return self.is_working

    async def release_clock(self, at: float) -> None:
        """Do nothing: the clock is not held."""

    def _prune(self) -> None:
        if self.is_working and self._store.finished > self._keep_runs:
            self.pruning.start()
