"""Runs that pause while the file of their journal, or another store, cannot be used.

An error of a store is not the outcome of an operation: the run retries until the store works again.
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


class Standing:
    """The runs of one process that stand still, and why."""

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self._faults: dict[str, dict[str, StoreError]] = {}
        """The newest errors of each of them, by what waits in it."""

    def why(self, run_id: str) -> StoreError | None:
        """Return why a run stands still; None where it does not."""
        return next(iter(self._faults.get(run_id, {}).values()), None)

    def begin(self, run_id: str, what: str, error: StoreError) -> None:
        """Record that a part of a run stands still; the first of all is logged."""
        if not self._faults:
            log.error(
                "runs wait for a store and resume when it works again; the first is %s: %s",
                run_id,
                error,
            )
        self._faults.setdefault(run_id, {})[what] = error

    async def pause(self, run_id: str, what: str, error: StoreError) -> None:
        """Record that a part of a run stands still, and return when it is time to try again."""
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
        """Record that a part of a run stands still no more."""
        faults = self._faults.get(run_id)
        if faults is not None and faults.pop(what, None) is not None and not faults:
            del self._faults[run_id]
            if not self._faults:
                log.warning("no run waits for a store any more")

    async def done(self, run: LiveRun, what: str, step: Callable[[], T]) -> T:
        """Do a step of a run that may have to read its journal, once it can be read, and return its value.

        A step that raises has changed nothing, or does the rest the next time; `what` names it in the run.

        Raises:
            StoreError: the journal is damaged, or lost; the class says which.
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


def standing_text(error: StoreError) -> str:
    """Return the error with which a run that stands still is listed."""
    return f"standing still: {error.public_text}"
