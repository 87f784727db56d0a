"""Release of sessions whose turn is that of a run which is gone, such as with a lost journal."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from .sessions.sessions import SessionStore, TurnHolder
from .turns import Turns


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSession:
    """A session, and the run that has, or had, its turn."""

    session_id: str
    run_id: str
    engine_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What a release has done."""

    sessions: tuple[HeldSession, ...] = ()
    """Those that are free now."""
    elsewhere: tuple[HeldSession, ...] = ()
    """Those whose turn is that of another engine, which may be at work or lost."""


async def release(turns: Turns, sessions: SessionStore, session_id: str, lost_engine: str) -> Released:
    """Release one session, or all without an id; as `Agents.release`.

    Raises:
        UnknownSessionError: there is no such session.
        SessionBusyError: its run is not over.
    """
    free, elsewhere = list[HeldSession](), list[HeldSession]()
    for session in [await sessions.get(session_id)] if session_id else await sessions.list(limit=sys.maxsize):
        await turns.settled(session.id)
        held = await sessions.holder(session.id)
        if held is None:
            continue
        fate, is_ours = await turns.fate(held), turns.is_ours(held)
        if fate == "open" and not is_ours and (session_id or held.engine_id == lost_engine):
            fate = "gone"
        if fate == "open" and session_id:
            raise turns.busy(held, session_id)
        if fate == "gone":
            await turns.say_gone(held.run_id)
        if fate != "open":
            await sessions.release(session.id, held.run_id)
            free.append(_held(session.id, held))
        elif not is_ours:
            elsewhere.append(_held(session.id, held))
    return Released(sessions=tuple(free), elsewhere=tuple(elsewhere))


def _held(session_id: str, held: TurnHolder) -> HeldSession:
    return HeldSession(session_id=session_id, run_id=held.run_id, engine_id=held.engine_id)
