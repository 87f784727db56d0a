"""Erasure of sessions: on request, beyond the limits of their store, and with deleted runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from toolgen.calls.steps.failures import log
from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import CREDENTIALS_CAPABILITY
from toolgen.contract.record import frozen_record
from toolgen.engines import ErasingEngine, ForgottenRun, OnForget
from toolgen.runtime.many_workers import stores_of
from toolgen.waiting.call_results import dropping
from toolgen.waiting.grant_uses import is_grant, revoke_grants

from .activities.remembering import memory_of
from .host import AgentHost
from .sessions.sessions import UnknownSessionError, UnusedSession
from .sessions.tables import TableSessionStore
from .turns import SessionBusyError

_PERIOD_S: Final = 60.0
"""Seconds between two checks of the sessions."""


@runtime_checkable
class Vacuuming(Protocol):
    """A store or an engine whose files may contain deleted data until they are rewritten."""

    async def vacuum(self) -> None:
        """Rewrite the files without deleted data."""
        ...


@frozen_record
class Erased:
    """Counts of deleted items; all zero if there was nothing left."""

    sessions: int = 0
    """1 if the conversation existed."""
    runs: int = 0
    """Number of runs; their events are deleted with them, because the engine stores both."""
    state: int = 0
    """1 if the session had state."""
    artifacts: int = 0
    """Number of file versions of the session and artifacts of its runs."""
    events: int = 0
    """Number of events that sinks stored next to the sessions."""
    credentials: int = 0
    """Number of service credentials that were given for this session only."""
    memories: int = 0
    """Number of memory entries that come from the session."""


async def erase(host: AgentHost, session_id: str, *, rewrite: bool) -> Erased:
    """Delete a session with all its data; idempotent, also after an interrupted erasure.

    The session is deleted last, so that a repeated erasure still finds it.

    Raises:
        SessionBusyError: a run of the session is not over.
        ToolgenError: a store or the engine cannot delete.
    """
    from toolgen.capabilities import StateCapability  # not needed by a host without stores

    await _require_idle(host, session_id)
    engine, sessions = host.engine, host.sessions
    if not isinstance(engine, ErasingEngine):
        raise ToolgenError(
            f"the engine {engine.name!r} cannot delete runs before their retention ends",
            hint="delete them with the tools of its server",
        )
    is_there = True
    try:
        await sessions.end(session_id)  # so that nothing begins in it
    except UnknownSessionError:
        is_there = False
    await _require_idle(host, session_id)  # a run may have begun before the session ended
    await revoke_grants(host.waits, session_id)
    keeper, state = host.tools.artifacts, host.tools.capabilities.get("state")
    documents = await state.forget(session_id) if isinstance(state, StateCapability) else 0
    credentials = await _forget_credentials(host, session_id)
    memory = memory_of(host)
    memories = 0 if memory is None else await memory.store.forget(session_id=session_id)
    artifacts = 0 if keeper is None else await keeper.forget(session_id)
    events = await sessions.forget_events(session_id) if isinstance(sessions, TableSessionStore) else 0
    listed = await engine.list_runs(session=session_id, limit=sys.maxsize)
    await sessions.forget_runs([run.run_id for run in listed])  # for example runs that answer direct calls
    runs = await engine.forget_session(session_id)
    await sessions.drop(session_id)
    for store in (engine, sessions, *stores_of(host.tools.capabilities).values()) if rewrite else ():
        if isinstance(store, Vacuuming):
            await store.vacuum()
    return Erased(
        sessions=int(is_there),
        runs=runs,
        state=documents,
        artifacts=artifacts,
        events=events,
        credentials=credentials,
        memories=memories,
    )


async def _require_idle(host: AgentHost, session_id: str) -> None:
    """Raise SessionBusyError if a run of a session is not over."""
    for run in await host.engine.list_runs(session=session_id, limit=sys.maxsize):
        if not run.is_over and not is_grant(run.run_id):
            raise SessionBusyError(run.run_id, session_id)
    await host.turns.settled(session_id)
    holder = await host.sessions.holder(session_id)
    if holder is not None and await host.turns.fate(holder) == "open":
        raise host.turns.busy(holder, session_id)


def forgetting(host: AgentHost) -> OnForget:
    """Return the function that drops the artifacts of forgotten runs, and their messages."""
    drop = dropping(host.tools.artifacts)

    async def forget(runs: Sequence[ForgottenRun]) -> None:
        if drop is not None:
            await drop(runs)
        await host.sessions.forget_runs([run.run_id for run in runs])

    return forget


async def drop_tool_data(host: AgentHost, session_id: str) -> None:
    """Drop data that tools left in a session: state, credentials, files, and the artifacts of its runs.

    State stays in a store that has no `forget`.
    """
    from toolgen.capabilities import StateCapability  # not needed by a host without stores
    from toolgen.capabilities.state import ErasingStateStore

    keeper, state = host.tools.artifacts, host.tools.capabilities.get("state")
    if isinstance(state, StateCapability) and isinstance(state.store, ErasingStateStore):
        await state.forget(session_id)
    await _forget_credentials(host, session_id)
    if keeper is not None:
        await keeper.forget(session_id)


async def _forget_credentials(host: AgentHost, session_id: str) -> int:
    from toolgen.capabilities import CredentialsCapability  # most hosts have none

    credentials = host.tools.capabilities.get(CREDENTIALS_CAPABILITY)
    return await credentials.forget(session_id) if isinstance(credentials, CredentialsCapability) else 0


class Retention:
    """Drops sessions beyond the limits while the runtime is open."""

    def __init__(self, host: AgentHost, keep: int | None, keep_s: float | None) -> None:
        """Construct the retention of a session store; without limits it drops nothing.

        Args:
            host: Provides the sessions and the runs.
            keep: Maximum number of sessions; the most recently used are kept.
            keep_s: Seconds to keep a session after its last use.
        """
        self._host = host
        self._keep = keep
        self._keep_s = keep_s
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start checking for sessions beyond the limits."""
        if (self._keep, self._keep_s) != (None, None) and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work(), name="prune sessions")

    async def close(self) -> None:
        """Stop checking for sessions."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _work(self) -> None:
        while True:
            try:
                for session in await self._host.sessions.unused(keep=self._keep, keep_s=self._keep_s):
                    await self._drop(session)
                    await asyncio.sleep(0)  # an in-memory store never yields to other tasks
            except Exception:  # noqa: BLE001 - logged; the next round tries again
                log.exception("unused sessions were not deleted; toolgen tries again later")
            await asyncio.sleep(_PERIOD_S)

    async def _drop(self, session: UnusedSession) -> None:
        """Drop a session, unless one of its runs is not over.

        The session is ended first, so that nothing begins in it. Its remaining data is dropped before the
        session itself: if the process is killed in between, the session is found again.
        """
        sessions, id_ = self._host.sessions, session.session_id
        if await self._is_busy(id_) or not await sessions.retire(session):
            return
        await drop_tool_data(self._host, id_)
        await sessions.drop(id_)

    async def _is_busy(self, session_id: str) -> bool:
        """Return whether a run has the turn of a session, or a run of this engine is not over."""
        host = self._host
        await host.turns.settled(session_id)
        holder = await host.sessions.holder(session_id)
        if holder is not None:
            if await host.turns.fate(holder) == "open":
                return True
            await host.sessions.release(session_id, holder.run_id)
        for state in ("running", "waiting"):
            if await host.engine.list_runs(state=state, session=session_id, limit=1):
                return True
        return False
