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
"""Seconds between two looks at the sessions."""


@runtime_checkable
class Vacuuming(Protocol):
    """A store or an engine whose files may hold what was deleted until they are rewritten."""

    async def vacuum(self) -> None:
        """Rewrite the files without what was deleted."""
        ...


@frozen_record
class Erased:
    """What an erasure has deleted; all zeros where there was nothing left."""

    sessions: int = 0
    """1 where the conversation was there."""
    runs: int = 0
    """Number of runs; they go with their events, as the engine kept them."""
    state: int = 0
    """1 where there was state of the session."""
    artifacts: int = 0
    """Versions of files of the session, and artifacts of its runs."""
    events: int = 0
    """Events that sinks stored beside the sessions."""
    credentials: int = 0
    """Credentials of services that were given for the session alone."""
    memories: int = 0
    """Entries of the memory that were said in the session."""


async def erase(host: AgentHost, session_id: str, *, rewrite: bool) -> Erased:
    """Delete a session with all that belongs to it; may be repeated, also after it was interrupted.

    The session goes last, so that an erasure that was interrupted finds it again.

    Raises:
        SessionBusyError: a run of it is not over.
        ToolgenError: a store or the engine cannot delete.
    """
    from toolgen.capabilities import StateCapability  # a host without stores never needs it

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
    await _require_idle(host, session_id)  # one may have begun before the end
    await revoke_grants(host.waits, session_id)
    keeper, state = host.tools.artifacts, host.tools.capabilities.get("state")
    documents = await state.forget(session_id) if isinstance(state, StateCapability) else 0
    credentials = await _forget_credentials(host, session_id)
    memory = memory_of(host)
    memories = 0 if memory is None else await memory.store.forget(session_id=session_id)
    artifacts = 0 if keeper is None else await keeper.forget(session_id)
    events = await sessions.forget_events(session_id) if isinstance(sessions, TableSessionStore) else 0
    listed = await engine.list_runs(session=session_id, limit=sys.maxsize)
    await sessions.forget_runs([run.run_id for run in listed])  # such as those that answer direct calls
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
    """Raise SessionBusyError where a run of a session is not over."""
    for run in await host.engine.list_runs(session=session_id, limit=sys.maxsize):
        if not run.is_over and not is_grant(run.run_id):
            raise SessionBusyError(run.run_id, session_id)
    await host.turns.settled(session_id)
    held = await host.sessions.holder(session_id)
    if held is not None and await host.turns.fate(held) == "open":
        raise host.turns.busy(held, session_id)


def forgetting(host: AgentHost) -> OnForget:
    """Return what drops the artifacts of forgotten runs, and what was said in those of no conversation."""
    drop = dropping(host.tools.artifacts)

    async def forget(runs: Sequence[ForgottenRun]) -> None:
        if drop is not None:
            await drop(runs)
        await host.sessions.forget_runs([run.run_id for run in runs])

    return forget


async def drop_left(host: AgentHost, session_id: str) -> None:
    """Drop what tools have left of a session: state, credentials, files, and the artifacts of its runs.

    State stays in a store that has no `forget`.
    """
    from toolgen.capabilities import StateCapability  # a host without stores never needs it
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
            except Exception:  # noqa: BLE001 - logged; the next round tries again
                log.exception("unused sessions were not deleted; toolgen tries again later")
            await asyncio.sleep(_PERIOD_S)

    async def _drop(self, session: UnusedSession) -> None:
        """Drop a session, unless one of its runs is not over.

        It is ended first, so that nothing begins in it, and what it left is dropped before it: a process that
        is killed in between leaves a session that is found again.
        """
        sessions, id_ = self._host.sessions, session.session_id
        if await self._is_busy(id_) or not await sessions.retire(session):
            return
        await drop_left(self._host, id_)
        await sessions.drop(id_)

    async def _is_busy(self, session_id: str) -> bool:
        """Return whether a run has the turn of a session, or one of this engine is not over."""
        host = self._host
        await host.turns.settled(session_id)
        held = await host.sessions.holder(session_id)
        if held is not None:
            if await host.turns.fate(held) == "open":
                return True
            await host.sessions.release(session_id, held.run_id)
        for state in ("running", "waiting"):
            if await host.engine.list_runs(state=state, session=session_id, limit=1):
                return True
        return False
