"""Sessions in PostgreSQL, shared by all processes that use the database."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, LiteralString

from toolgen.agents.planner.messages import Message, ToolAnswer, ToolMessage, UserMessage
from toolgen.agents.sessions.kept_messages import messages_as_text
from toolgen.agents.sessions.kept_rows import session_of
from toolgen.agents.sessions.sessions import (
    EngineLease,
    RunMessages,
    Session,
    Summary,
    Turn,
    TurnHolder,
    check_ids,
    ended_session,
)
from toolgen.agents.sessions.unused import UnusedSession, not_kept

from .database import Connection, Postgres
from .events import PostgresEventStore
from .rows import rows
from .session_rows import (
    SESSION,
    begin,
    holder_in,
    messages_in,
    newest_in,
    renew,
    session_in,
    set_agent,
)

_STATES: Final[dict[str | None, LiteralString]] = {
    None: "",
    "open": "WHERE ended_at IS NULL",
    "ended": "WHERE ended_at IS NOT NULL",
}
_CREATE: Final = """
    INSERT INTO toolgen.session (id, agent, created_at, labels) VALUES (%s, %s, %s, %s)
    ON CONFLICT (id) DO NOTHING
"""
_TAKE: Final = """
    INSERT INTO toolgen.active (session_id, run_id, engine_id, taken_at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (session_id) DO UPDATE
    SET run_id = excluded.run_id, engine_id = excluded.engine_id, taken_at = excluded.taken_at
"""
_WRITE: Final = """
    INSERT INTO toolgen.message (run_id, step, written_at, messages) VALUES (%s, %s, %s, %s)
    ON CONFLICT (run_id, step) DO UPDATE SET written_at = excluded.written_at, messages = excluded.messages
"""
_ANSWER: Final = """
    INSERT INTO toolgen.answer (run_id, call_id, written_at, messages) VALUES (%s, %s, %s, %s)
    ON CONFLICT (run_id, call_id) DO UPDATE
    SET written_at = excluded.written_at, messages = excluded.messages
"""
_SPEAK: Final = """
    INSERT INTO toolgen.spoken (run_id, id, written_at, messages) VALUES (%s, %s, %s, %s)
    ON CONFLICT (run_id, id) DO NOTHING
"""
_HEAR: Final = """
    UPDATE toolgen.spoken SET is_heard = true, messages = '[]' WHERE run_id = %s AND id = ANY(%s)
"""
_USED: Final = """
    SELECT id, greatest(created_at, ended_at,
        (SELECT max(written_at) FROM toolgen.message WHERE run_id = ANY(runs)),
        (SELECT max(written_at) FROM toolgen.answer WHERE run_id = ANY(runs)))
    FROM toolgen.session CROSS JOIN LATERAL (
        SELECT array_agg(run_id) FROM toolgen.turn WHERE session_id = session.id AND turn_id =
            (SELECT turn_id FROM toolgen.turn WHERE session_id = session.id ORDER BY number DESC LIMIT 1)
    ) AS newest (runs)
"""
_ALONE: Final = """
    SELECT run_id FROM (
        SELECT run_id, written_at FROM toolgen.message
        UNION ALL SELECT run_id, written_at FROM toolgen.answer
        UNION ALL SELECT run_id, written_at FROM toolgen.spoken
    ) AS written WHERE NOT EXISTS (SELECT FROM toolgen.turn WHERE turn.run_id = written.run_id)
    GROUP BY run_id HAVING max(written_at) < %s
"""


class PostgresSessionStore:
    """Keeps sessions; each step is one transaction, and those of one session come one after the other."""

    def __init__(self, database: Postgres, *, clock: Callable[[], float] = time.time) -> None:
        """Construct a store; the clock returns seconds since 1970, the same in all processes."""
        self.database = database
        self._clock = clock

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Session:
        check_ids(session_id, agent)
        values = (session_id, agent, float(self._clock()), json.dumps(dict(labels or {})))

        async def step(connection: Connection) -> Session:
            await connection.execute(_CREATE, values)
            session = await session_in(connection, session_id)
            if session.is_over:
                raise ended_session(session_id)
            return session

        return await self.database.write(step, may_repeat=True)

    async def get(self, session_id: str) -> Session:
        async def step(connection: Connection) -> Session:
            return await session_in(connection, session_id)

        return await self.database.read(step)

    async def list(
        self, *, state: Literal["open", "ended"] | None = None, limit: int = 100
    ) -> tuple[Session, ...]:
        most = min(max(limit, 0), 2**63 - 1)

        async def step(connection: Connection) -> tuple[Session, ...]:
            query = f"{SESSION} {_STATES[state]} ORDER BY created_at DESC, number DESC LIMIT %s"
            return tuple(map(session_of, await rows(connection, query, (most,))))

        return await self.database.read(step)

    async def end(self, session_id: str) -> Session:
        now = float(self._clock())

        async def step(connection: Connection) -> Session:
            await session_in(connection, session_id, for_update=True)
            await connection.execute(
                "UPDATE toolgen.session SET ended_at = %s WHERE id = %s AND ended_at IS NULL",
                (now, session_id),
            )
            return await session_in(connection, session_id)

        return await self.database.write(step, may_repeat=True)

    async def hand_over(self, session_id: str, agent: str) -> None:
        check_ids(agent)

        async def step(connection: Connection) -> None:
            await session_in(connection, session_id, for_update=True)
            await set_agent(connection, session_id, agent)

        await self.database.write(step)

    async def begin(self, turn: Turn) -> None:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent)

        async def step(connection: Connection) -> None:
            await begin(connection, turn)

        await self.database.write(step, may_repeat=True)

    async def take(
        self, turn: Turn, engine: EngineLease, messages: Sequence[Message], *, instead_of: str = ""
    ) -> TurnHolder:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent, engine.engine_id)
        text, now = messages_as_text(messages), float(self._clock())

        async def step(connection: Connection) -> TurnHolder:
            await session_in(connection, turn.session_id, for_update=True)
            await renew(connection, engine, now)
            held = await holder_in(connection, turn.session_id, now)
            if held is None or held.run_id in (turn.run_id, instead_of):
                if await begin(connection, turn):
                    await connection.execute(_WRITE, (turn.run_id, 0, now, text))
                await connection.execute(_TAKE, (turn.session_id, turn.run_id, engine.engine_id, now))
                held = await holder_in(connection, turn.session_id, now)
            assert held is not None  # it was just written
            return held

        # A run that has taken the turn takes it again without effect.
        return await self.database.write(step, may_repeat=True)

    async def holder(self, session_id: str) -> TurnHolder | None:
        now = self._clock()

        async def step(connection: Connection) -> TurnHolder | None:
            return await holder_in(connection, session_id, now)

        return await self.database.read(step)

    async def release(self, session_id: str, run_id: str) -> None:
        await self._execute(
            "DELETE FROM toolgen.active WHERE session_id = %s AND run_id = %s", (session_id, run_id)
        )

    async def beat(self, engine: EngineLease) -> None:
        check_ids(engine.engine_id)
        now = self._clock()

        async def step(connection: Connection) -> None:
            await renew(connection, engine, now)

        await self.database.write(step, may_repeat=True)

    async def leave(self, engine_id: str) -> None:
        now = float(self._clock())
        await self._execute("UPDATE toolgen.engine SET alive_until = %s WHERE id = %s", (now, engine_id))

    async def speak(self, run_id: str, id: str, message: UserMessage) -> None:
        # The row stays when the message was heard, so that a step that is repeated does not store it again.
        check_ids(run_id, id)
        await self._execute(_SPEAK, (run_id, id, float(self._clock()), messages_as_text([message])))

    async def write(
        self, run_id: str, step: int, messages: Sequence[Message], *, heard: Sequence[str] = ()
    ) -> None:
        check_ids(run_id)
        values = (run_id, step, float(self._clock()), messages_as_text(messages))
        ids = list(heard)

        async def work(connection: Connection) -> None:
            await connection.execute(_WRITE, values)
            if ids:
                await connection.execute(_HEAR, (run_id, ids))

        await self.database.write(work, may_repeat=True)

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        check_ids(run_id, answer.id)
        text = messages_as_text([ToolMessage(answers=(answer,))])
        await self._execute(_ANSWER, (run_id, answer.id, float(self._clock()), text))

    async def run_messages(self, run_id: str, *, before: int | None = None) -> tuple[Message, ...]:
        async def step(connection: Connection) -> tuple[Message, ...]:
            (found,) = await messages_in(connection, [run_id], before)
            return found

        return await self.database.read(step)

    async def transcript(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        async def step(connection: Connection) -> tuple[RunMessages, ...]:
            await session_in(connection, session_id)
            turns = await newest_in(connection, session_id, newest, after)
            said = await messages_in(connection, [turn.run_id for turn in turns])
            return tuple(RunMessages(turn=turn, messages=one) for turn, one in zip(turns, said, strict=True))

        return await self.database.read(step)

    async def turns(self, session_id: str) -> tuple[Turn, ...]:
        async def step(connection: Connection) -> tuple[Turn, ...]:
            await session_in(connection, session_id)
            return await newest_in(connection, session_id, None, "")

        return await self.database.read(step)

    async def summary(self, session_id: str) -> Summary | None:
        query = "SELECT summary, summary_through FROM toolgen.session WHERE id = %s AND summary IS NOT NULL"

        async def step(connection: Connection) -> Summary | None:
            for text, through in await rows(connection, query, (session_id,)):
                return Summary(text=json.loads(text), through=through)
            return None

        return await self.database.read(step)

    async def summarize(self, session_id: str, summary: Summary) -> None:
        check_ids(summary.through)
        values = (json.dumps(summary.text), summary.through, session_id)

        async def step(connection: Connection) -> None:
            await session_in(connection, session_id, for_update=True)
            await connection.execute(
                "UPDATE toolgen.session SET summary = %s, summary_through = %s WHERE id = %s", values
            )

        await self.database.write(step, may_repeat=True)

    async def forget(self, before: float) -> int:
        async def step(connection: Connection) -> int:
            alone = [run_id for (run_id,) in await rows(connection, _ALONE, (float(before),))]
            query = "DELETE FROM toolgen.session WHERE ended_at < %s RETURNING id"
            gone = [id_ for (id_,) in await rows(connection, query, (float(before),))]
            await _delete_of(connection, gone, alone)
            await connection.execute(
                "DELETE FROM toolgen.engine WHERE alive_until < %s"
                " AND NOT EXISTS (SELECT FROM toolgen.active WHERE engine_id = engine.id)",
                (float(before),),
            )
            return len(gone)

        return await self.database.write(step, may_repeat=True, is_snapshot=True)

    async def unused(
        self, *, keep: int | None = None, keep_s: float | None = None
    ) -> tuple[UnusedSession, ...]:
        before = None if keep_s is None else self._clock() - keep_s

        async def step(connection: Connection) -> tuple[UnusedSession, ...]:
            used = await rows(connection, f"{_USED} ORDER BY number", ())
            return not_kept([(id_, at) for id_, at in used], keep, before)

        return await self.database.read(step)

    async def retire(self, session: UnusedSession) -> bool:
        id_, used_at = session.session_id, session.used_at

        async def step(connection: Connection) -> bool:
            if not await rows(connection, "SELECT 1 FROM toolgen.session WHERE id = %s FOR UPDATE", (id_,)):
                return False
            if await rows(connection, f"{_USED} WHERE id = %s", (id_,)) != [(id_, used_at)]:
                return False
            if await rows(connection, "SELECT 1 FROM toolgen.active WHERE session_id = %s", (id_,)):
                return False
            query = "UPDATE toolgen.session SET ended_at = %s WHERE id = %s AND ended_at IS NULL"
            await connection.execute(query, (used_at, id_))
            return True

        return await self.database.write(step, may_repeat=True)

    async def drop(self, session_id: str) -> None:
        async def step(connection: Connection) -> None:
            query = "DELETE FROM toolgen.session WHERE id = %s AND ended_at IS NOT NULL RETURNING id"
            gone = [id_ for (id_,) in await rows(connection, query, (session_id,))]
            await _delete_of(connection, gone, [])

        await self.database.write(step, may_repeat=True)

    async def forget_events(self, session_id: str) -> int:
        """Drop the events of a session that sinks have stored in this database; return how many."""
        return await PostgresEventStore(self.database).forget(sessions=[session_id])

    async def _execute(self, query: str, values: tuple[Any, ...]) -> None:
        """Run a statement that has no further effect when it is run again."""

        async def step(connection: Connection) -> None:
            await connection.execute(query.encode(), values)

        await self.database.write(step, may_repeat=True)


async def _delete_of(connection: Connection, sessions: list[str], alone: list[str]) -> None:
    """Delete the turns of sessions, and what was said in them and in the runs that stand alone."""
    query = "DELETE FROM toolgen.turn WHERE session_id = ANY(%s) RETURNING run_id"
    runs = [*alone, *[run_id for (run_id,) in await rows(connection, query, (sessions,))]]
    await connection.execute("DELETE FROM toolgen.active WHERE session_id = ANY(%s)", (sessions,))
    # The id of a child run begins with its root's and a slash.
    said = "WHERE split_part(run_id, '/', 1) = ANY(%s)"
    await connection.execute(f"DELETE FROM toolgen.message {said}".encode(), (runs,))
    await connection.execute(f"DELETE FROM toolgen.answer {said}".encode(), (runs,))
    await connection.execute(f"DELETE FROM toolgen.spoken {said}".encode(), (runs,))
