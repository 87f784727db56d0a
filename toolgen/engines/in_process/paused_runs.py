"""Runs that pause while the file of their journal, or another store, cannot be used.

A store error is not the outcome of an operation: the run retries until the store works again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from toolgen.contract.logs import logger
from toolgen.contract.tasks import CallLater
from toolgen.stores import StoreError
from toolgen.stores.outages import AGAIN_S

from .live_run import LiveRun

T = TypeVar("T")

log = logger("toolgen.engines")


class PausedRuns:
    """The paused runs of one process, and their errors."""

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self._faults: dict[str, dict[str, StoreError]] = {}
        """Newest errors of each paused run, by the part of the run that waits."""

    def why(self, run_id: str) -> StoreError | None:
        """Return the error that a run waits for; None if it is not paused."""
        return next(iter(self._faults.get(run_id, {}).values()), None)

    def begin(self, run_id: str, what: str, error: StoreError) -> None:
        """Record that a part of a run is paused; log the first one of all."""
        if not self._faults:
            log.error(
                "runs wait for a store and resume when it works again; the first is %s: %s",
                run_id,
                error,
            )
        self._faults.setdefault(run_id, {})[what] = error

    async def pause(self, run_id: str, what: str, error: StoreError) -> None:
        """Record that a part of a run is paused, and return when it is time to retry."""
        self.begin(run_id, what, error)
        again = asyncio.Event()
        timer = self._call_later(AGAIN_S, again.set)
        try:
            await again.wait()
        except BaseException:
            self.end(run_id, what)
            raise
        finally:
            timer.cancel()

    def end(self, run_id: str, what: str) -> None:
        """Record that a part of a run is no longer paused."""
        faults = self._faults.get(run_id)
        if faults is not None and faults.pop(what, None) is not None and not faults:
            del self._faults[run_id]
            if not self._faults:
                log.warning("no run waits for a store any more")

    async def retry_until_readable(self, run: LiveRun, what: str, step: Callable[[], T]) -> T:
        """Run a step that might read the journal, retry until it can be read, and return its value.

        A step that raises has changed nothing, or completes the rest at the next attempt. `what` names the
        step within the run.

        Raises:
            StoreError: the journal is damaged or lost; the class says which.
        """
        run_id = run.record.run_id
        try:
            while True:
                try:
                    return step()
                except StoreError as error:
                    if not error.is_temporary:
                        raise
                    with run.awake.busy():
                        await self.pause(run_id, what, error)
        finally:
            self.end(run_id, what)


def paused_text(error: StoreError) -> str:
    """Return the error text that a paused run has in lists."""
    return f"standing still: {error.public_text}"
