"""Finds sessions that cannot be read or whose runs the engine lacks, and releases such sessions."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from toolgen.contract.record import frozen_record
from toolgen.engines import Engine, UnknownRunError
from toolgen.stores import StoreCorruptError

from .sessions.sessions import SessionError, SessionStore, TurnHolder
from .turns import Turns

_UNREADABLE: Final = (SessionError, StoreCorruptError, ValueError)
"""Exceptions that a damaged row raises."""


@frozen_record
class CheckedSessions:
    """Findings of the check of all sessions; each is a sentence that names a session."""

    damage: tuple[str, ...] = ()
    """Unreadable rows, and turns held by runs that no longer exist."""
    lost: tuple[str, ...] = ()
    """Runs in a conversation that the engine lost: it still has an earlier run of the session."""


@frozen_record(kw_only=False)
class _SessionCheck:
    turns: Turns
    sessions: SessionStore
    engine: Engine
    damage: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    async def session(self, session_id: str) -> None:
        sessions = self.sessions
        try:
            holder, turns = await sessions.holder(session_id), await sessions.turns(session_id)
            await sessions.summary(session_id)
        except _UNREADABLE as error:
            self.damage.append(f"session {session_id}: {_reason(error)}")
            return
        if holder is not None and await self.turns.fate(holder) == "gone":
            self.damage.append(
                f"session {session_id}: run {holder.run_id} holds its turn but does not exist"
                f" (toolgen runs release --session {session_id})"
            )
        has_earlier = False
        for turn in turns:
            is_known = await self._run(session_id, turn.run_id)
            if has_earlier and not is_known:
                self.lost.append(
                    f"session {session_id}: run {turn.run_id} is lost, or belongs to another engine"
                )
            has_earlier |= is_known

    async def _run(self, session_id: str, run_id: str) -> bool:
        """Check the messages of a run and of its child runs; return whether the engine has the run."""
        try:
            await self.sessions.run_messages(run_id)
        except _UNREADABLE as error:
            self.damage.append(f"session {session_id}: {_reason(error)}")
        try:
            status = await self.engine.status(run_id)
        except UnknownRunError:
            return False
        except StoreCorruptError:  # the engine's own check reports it
            return True
        for child in status.children:
            await self._run(session_id, child)
        return True


async def check_sessions(turns: Turns, sessions: SessionStore, engine: Engine) -> CheckedSessions:
    """Return damage in the sessions; as `Agents.check`."""
    from toolgen.engines import InProcessEngine  # import late: few hosts check, and not all have this engine

    if not isinstance(engine, InProcessEngine):
        return CheckedSessions()
    check = _SessionCheck(turns, sessions, engine)
    try:
        listed = await sessions.list(limit=sys.maxsize)
    except _UNREADABLE as error:
        return CheckedSessions(damage=(f"the sessions cannot be listed: {_reason(error)}",))
    for session in listed:
        await turns.settled(session.id)
        await check.session(session.id)
    return CheckedSessions(damage=tuple(check.damage), lost=tuple(check.lost))


def _reason(error: Exception) -> str:
    if isinstance(error, SessionError | StoreCorruptError):
        return error.message
    return f"a row is damaged ({type(error).__name__})"


@frozen_record
class Released:
    """Result of a release, by session: the run that held the turn, or still holds it."""

    sessions: Mapping[str, TurnHolder]
    """Sessions that are free now."""
    elsewhere: Mapping[str, TurnHolder]
    """Sessions whose turn is held by another engine, which may be running or lost."""


async def release(turns: Turns, sessions: SessionStore, session_id: str, lost_engine: str) -> Released:
    """Release one session, or all sessions without an ID; as `Agents.release`.

    Raises:
        UnknownSessionError: there is no such session.
        SessionBusyError: its run is not over.
    """
    free, elsewhere = dict[str, TurnHolder](), dict[str, TurnHolder]()
    for session in [await sessions.get(session_id)] if session_id else await sessions.list(limit=sys.maxsize):
        await turns.settled(session.id)
        holder = await sessions.holder(session.id)
        if holder is None:
            continue
        fate, is_ours = await turns.fate(holder), turns.is_ours(holder)
        if fate == "open" and not is_ours and (session_id or holder.engine_id == lost_engine):
            fate = "gone"
        if fate == "open" and session_id:
            raise turns.busy(holder, session_id)
        if fate == "gone":
            await turns.record_lost_run(holder.run_id)
        if fate != "open":
            await sessions.release(session.id, holder.run_id)
            free[session.id] = holder
        elif not is_ours:
            elsewhere[session.id] = holder
    return Released(sessions=free, elsewhere=elsewhere)
