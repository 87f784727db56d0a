"""Answers that another process takes: `toolgen approve`, say, executes the call that a run here waits for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.tasks import start_held
from toolgen.runtime.call.failures import log
from toolgen.runtime.engine import Engine, UnknownRunError
from toolgen.runtime.results import Suspended
from toolgen.runtime.waiting.suspension import MemorySuspensionStore

if TYPE_CHECKING:
    from toolgen.runtime.waiting.approvals import Suspensions

_EVERY_S: Final = 1.0
"""Between two looks at the store."""


class Watch:
    """Looks, while a run waits, whether its call was answered elsewhere, and tells the run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, run_id: str, suspended: Suspended, suspensions: Suspensions) -> None:
        """Watch a suspension that other processes can see; one in memory they cannot."""
        if isinstance(suspensions.store, MemorySuspensionStore):
            return
        start_held(self._tasks, self._watch(run_id, suspended, suspensions), name=f"watch {suspended.id}")

    def close(self) -> None:
        """Watch no more."""
        for task in self._tasks:
            task.cancel()

    async def _watch(self, run_id: str, suspended: Suspended, suspensions: Suspensions) -> None:
        try:
            while await self._waits(run_id, suspended.id):
                outcome = await suspensions.outcome(suspended.token)
                if outcome is not None:
                    name = f"answer:{suspended.id}"
                    payload: Any = {"id": suspended.id, "outcome": outcome.decode()}
                    await self._engine.signal(run_id, name, payload, signal_id=suspended.id)
                    return
        except Exception:
            log.exception("suspension %s is not watched any more", suspended.id)

    async def _waits(self, run_id: str, id_: str) -> bool:
        """Return, after a while, whether the run still waits for the suspension."""
        await asyncio.sleep(_EVERY_S)
        try:
            status = await self._engine.status(run_id)
        except UnknownRunError:
            return False
        return any(isinstance(one.about, dict) and one.about.get("id") == id_ for one in status.awaiting)
