"""Retention of sessions: drops those beyond the limits, with the artifacts of their runs and tools."""

from __future__ import annotations

import asyncio
from typing import Final

from toolgen.runtime.call.artifact_refs import keeper_of
from toolgen.runtime.call.failures import log

from .host import AgentHost
from .sessions.unused import UnusedSession

PERIOD_S: Final = 60.0
"""Between two looks at the sessions."""


class Retention:
    """Drops sessions beyond the limits while the runtime is open."""

    def __init__(self, host: AgentHost, keep: int | None, keep_s: float | None) -> None:
        """Construct the retention of a session store; without limits it drops nothing.

        Args:
            host: Has the sessions and the runs.
            keep: How many are kept, those that were used last.
            keep_s: For how long after their last use, in seconds.
        """
        self._host = host
        self._keep = keep
        self._keep_s = keep_s
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start to look for sessions beyond the limits."""
        if (self._keep, self._keep_s) != (None, None) and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work(), name="prune sessions")

    async def close(self) -> None:
        """Stop looking for sessions."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _work(self) -> None:
        while True:
            try:
                for session in await self._host.sessions.unused(keep=self._keep, keep_s=self._keep_s):
                    await self._drop(session)
                    await asyncio.sleep(0)  # a store in memory lets nobody else run
            except Exception:
                log.exception("unused sessions were not dropped; the next attempt follows")
            await asyncio.sleep(PERIOD_S)

    async def _drop(self, session: UnusedSession) -> None:
        """Drop a session, unless one of its runs is not over.

        It is ended first, so that nothing begins in it, and what it left is dropped before it: a process that
        is killed in between leaves a session that is found again.
        """
        sessions, id_ = self._host.sessions, session.session_id
        if await self._is_busy(id_) or not await sessions.retire(session):
            return
        keeper = keeper_of(self._host.tools)
        if keeper is not None:
            await keeper.forget(id_)
        await sessions.drop(id_)

    async def _is_busy(self, session_id: str) -> bool:
        """Return whether a run has the turn of a session, or one of this engine is not over."""
        host = self._host
        await host.turns.settled(session_id)
        held = await host.sessions.holder(session_id)
        if held is not None:
            if not await host.turns.is_over(held):
                return True
            await host.sessions.release(session_id, held.run_id)
        for state in ("running", "waiting"):
            if await host.engine.list_runs(state=state, session=session_id, limit=1):
                return True
        return False
