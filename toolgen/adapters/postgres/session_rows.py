"""The rows of sessions: what a step of the store reads and writes within its transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString

from toolgen.agents.planner.messages import Message
from toolgen.agents.sessions.kept_messages import answers_of, with_answers
from toolgen.agents.sessions.kept_rows import messages_of, session_of, turn_of
from toolgen.agents.sessions.sessions import (
    EngineLease,
    Session,
    Turn,
    TurnHolder,
    ended_session,
    foreign_run,
    newest_turns,
    unknown_session,
)

from .database import Connection
from .rows import rows

SESSION: Final = "SELECT id, agent, created_at, ended_at, labels FROM toolgen.session"
_TURN: Final = "SELECT turn_id, session_id, run_id, agent, started_at, number FROM toolgen.turn"
_ADD_TURN: Final = """
    INSERT INTO toolgen.turn (turn_id, session_id, run_id, agent, started_at) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (run_id) DO NOTHING RETURNING number
"""
_RENEW: Final = """
    INSERT INTO toolgen.engine (id, is_durable, alive_until) VALUES (%s, %s, %s)
    ON CONFLICT (id) DO UPDATE SET is_durable = excluded.is_durable, alive_until = excluded.alive_until
"""
_HOLDER: Final = """
    SELECT run_id, engine_id, taken_at, is_durable, alive_until FROM toolgen.active
    JOIN toolgen.engine ON engine.id = active.engine_id WHERE session_id = %s
"""
_PAGE: Final = 64
"""Turns that are read at a time."""
_MOST: Final = 2**63 - 1


async def session_in(connection: Connection, session_id: str, *, for_update: bool = False) -> Session:
    """Return a session; `for_update` locks it until the end of the transaction.

    Raises:
        UnknownSessionError: there is none.
    """
    lock: LiteralString = " FOR UPDATE" if for_update else ""
    for row in await rows(connection, f"{SESSION} WHERE id = %s{lock}", (session_id,)):
        return session_of(row)
    raise unknown_session(session_id)


async def begin(connection: Connection, turn: Turn) -> bool:
    """Return whether the run is new in its session; as `SessionStore.begin`."""
    session = await session_in(connection, turn.session_id, for_update=True)
    there = await rows(connection, "SELECT session_id FROM toolgen.turn WHERE run_id = %s", (turn.run_id,))
    if there and there[0][0] != turn.session_id:
        raise foreign_run(turn)
    if there:
        return False
    if session.is_over:
        raise ended_session(turn.session_id)
    values = (turn.id, turn.session_id, turn.run_id, turn.agent, turn.started_at)
    if not await rows(connection, _ADD_TURN, values):
        raise foreign_run(turn)  # another session, whose lock we do not have, was faster
    if session.agent != turn.agent:
        await set_agent(connection, turn.session_id, turn.agent)
    return True


async def set_agent(connection: Connection, session_id: str, agent: str) -> None:
    """Give a session to an agent."""
    await connection.execute("UPDATE toolgen.session SET agent = %s WHERE id = %s", (agent, session_id))


async def renew(connection: Connection, engine: EngineLease, now: float) -> None:
    """Renew the lease of an engine."""
    await connection.execute(_RENEW, (engine.engine_id, engine.is_durable, now + engine.seconds))


async def holder_in(connection: Connection, session_id: str, now: float) -> TurnHolder | None:
    """Return the run that has the turn of a session; None where none has it."""
    for run_id, engine_id, taken_at, is_durable, alive_until in await rows(
        connection, _HOLDER, (session_id,)
    ):
        return TurnHolder(
            run_id=run_id,
            engine_id=engine_id,
            age_s=now - taken_at,
            is_durable=is_durable,
            is_alive=now < alive_until,
        )
    return None


async def newest_in(
    connection: Connection, session_id: str, newest: int | None, after: str
) -> tuple[Turn, ...]:
    """Return the runs of a session that a transcript shows, oldest first; earlier pages are not read."""
    found: list[Turn] = []
    last = _MOST
    query = f"{_TURN} WHERE session_id = %s AND number < %s ORDER BY number DESC LIMIT %s"
    while True:
        page = await rows(connection, query, (session_id, last, _PAGE))
        found += [turn_of(row) for row in page]
        shown = newest_turns(found, newest, after)
        if len(shown) < len(found) or len(page) < _PAGE:
            return shown
        last = page[-1][5]


async def messages_in(
    connection: Connection, run_ids: Sequence[str], before: int | None = None
) -> list[tuple[Message, ...]]:
    """Return the stored messages of each run, by step; as `SessionStore.run_messages`.

    Raises:
        SessionError: the database holds something else there.
    """
    ids = list(run_ids)
    query = "run_id = ANY(%s) AND step < %s ORDER BY step"
    steps = await _by_run(
        connection, "step", f"message WHERE {query}", (ids, _MOST if before is None else before)
    )
    answers = await _by_run(connection, "call_id", "answer WHERE run_id = ANY(%s)", (ids,))
    spoken = {}
    if before is None:
        query = "run_id = ANY(%s) AND NOT is_heard ORDER BY number"
        spoken = await _by_run(connection, "id", f"spoken WHERE {query}", (ids,))
    return [
        (
            *with_answers(
                messages_of(steps.get(run_id, ()), "step", run_id, "database"),
                answers_of(messages_of(answers.get(run_id, ()), "call", run_id, "database")),
            ),
            *messages_of(spoken.get(run_id, ()), "message", run_id, "database"),
        )
        for run_id in ids
    ]


async def _by_run(
    connection: Connection, place: LiteralString, rest: LiteralString, values: tuple[Any, ...]
) -> dict[str, list[tuple[Any, str]]]:
    """Return place and text of the rows of each run, in their order."""
    found: dict[str, list[tuple[Any, str]]] = {}
    query: LiteralString = f"SELECT run_id, {place}, messages FROM toolgen.{rest}"
    for run_id, at, text in await rows(connection, query, values):
        found.setdefault(run_id, []).append((at, text))
    return found
