"""Retention: finished runs are deleted after their artifacts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.stores import StoreError

from ..engine import OnForget
from ..statuses import ForgottenRun

PRUNE: Final = 20
"""Maximum number of root runs that are deleted at once."""
_PAUSE_S: Final = 60.0
"""Seconds after a failure before pruning is tried again."""

log = logger("toolgen.engines")


@frozen_record(kw_only=False)
class RunTree:
    """A finished root run, with all its descendants."""

    no: int
    """Number of the root, in a journal that numbers runs."""
    runs: tuple[ForgottenRun, ...]
    """Runs of the tree, the root first."""


class Pruning:
    """Deletes the oldest runs in batches, in a task; an interrupted batch is repeated."""

    def __init__(
        self,
        select: Callable[[], Sequence[RunTree]],
        forget: Callable[[Sequence[RunTree]], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        """Construct the retention of a journal.

        Args:
            select: Returns the oldest runs beyond the retention limits, at most `PRUNE` of them.
            forget: Deletes runs from the journal.
            clock: Returns seconds since 1970.
        """
        self._select = select
        self._forget = forget
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self.on_forget: OnForget | None = None
        """Receives the runs before they are deleted."""

    def start(self) -> None:
        """Start pruning, unless it is running or failed a moment ago."""
        if (self._task is None or self._task.done()) and self._clock() >= self._not_before:
            self._task = asyncio.get_running_loop().create_task(self._prune(), name="prune runs")

    def stop(self) -> None:
        """Stop pruning; the remaining runs are deleted later."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _prune(self) -> None:
        try:
            while trees := self._select():
                if self.on_forget is not None:
                    await self.on_forget([run for tree in trees for run in tree.runs])
                await self._forget(trees)
        except Exception as error:
            self._not_before = self._clock() + _PAUSE_S
            is_ours = not isinstance(error, StoreError)
            log.warning(
                "finished runs were not deleted; toolgen tries again later: %s", error, exc_info=is_ours
            )
