"""Erasure of a session: all that its runs and tools have left in the stores of this runtime."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from toolgen.contract.errors import ToolgenError
from toolgen.runs import ErasingEngine

from .host import AgentHost
from .sessions.sessions import UnknownSessionError
from .turns import SessionBusyError


@runtime_checkable
class Vacuuming(Protocol):
    """A store or an engine whose files may hold what was deleted until they are rewritten."""

    async def vacuum(self) -> None:
        """Rewrite the files without what was deleted."""
        ...


@runtime_checkable
class KeepsEvents(Protocol):
    """A session store beside which events are stored."""

    async def forget_events(self, session_id: str) -> int:
        """Drop the stored events of a session; return how many."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
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
            f"the engine {engine.name!r} cannot delete runs before their time",
            hint="delete them by the means of its server",
        )
    is_there = True
    try:
        await sessions.end(session_id)  # so that nothing begins in it
    except UnknownSessionError:
        is_there = False
    await _require_idle(host, session_id)  # one may have begun before the end
    keeper, state = host.tools.artifacts, host.tools.capabilities.get("state")
    documents = await state.forget(session_id) if isinstance(state, StateCapability) else 0
    artifacts = 0 if keeper is None else await keeper.forget(session_id)
    events = await sessions.forget_events(session_id) if isinstance(sessions, KeepsEvents) else 0
    listed = await engine.list_runs(session=session_id, limit=sys.maxsize)
    await sessions.forget_runs([run.run_id for run in listed])  # such as those that answer direct calls
    runs = await engine.forget_session(session_id)
    await sessions.drop(session_id)
    stores: tuple[object, ...] = (
        engine,
        sessions,
        None if keeper is None else keeper.store,
        state.store if isinstance(state, StateCapability) else None,
    )
    for store in stores if rewrite else ():
        if isinstance(store, Vacuuming):
            await store.vacuum()
    return Erased(sessions=int(is_there), runs=runs, state=documents, artifacts=artifacts, events=events)


async def _require_idle(host: AgentHost, session_id: str) -> None:
    """Raise SessionBusyError where a run of a session is not over."""
    for run in await host.engine.list_runs(session=session_id, limit=sys.maxsize):
        if not run.is_over:
            raise SessionBusyError(run.run_id, session_id)
    await host.turns.settled(session_id)
    held = await host.sessions.holder(session_id)
    if held is not None and await host.turns.fate(held) == "open":
        raise host.turns.busy(held, session_id)
