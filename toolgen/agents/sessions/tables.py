"""Sessions in tables, on any store database."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from ..planner.messages import Message, ToolAnswer, ToolMessage, UserMessage
from .rows import (
    AGENT,
    MOST,
    SESSION,
    ReadMessages,
    begin,
    holder_in,
    messages_as_text,
    messages_in,
    newest_in,
    of_runs,
    oldest_in,
    pages,
    renew,
    session_in,
    session_of,
)
from .sessions import (
    EngineLease,
    RunMessages,
    Session,
    Summary,
    Turn,
    TurnHolder,
    UnusedSession,
    beyond_retention,
    check_ids,
    ended_session,
    with_those_above,
)

if TYPE_CHECKING:
    from toolgen.stores.transactions import Database, Transaction

_STATES: Final = {None: "true", "open": "ended_at IS NULL", "ended": "ended_at IS NOT NULL"}
_CREATE: Final = """
    INSERT INTO session (id, agent, created_at, labels) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
"""
_END: Final = "UPDATE session SET ended_at = ? WHERE id = ? AND ended_at IS NULL"
_TAKE: Final = """
    INSERT INTO active (session_id, run_id, engine_id, taken_at) VALUES (?, ?, ?, ?) ON CONFLICT (session_id)
    DO UPDATE SET run_id = excluded.run_id, engine_id = excluded.engine_id, taken_at = excluded.taken_at
"""
_WRITE: Final = (
    "INSERT INTO message (run_id, step, written_at, messages) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, step)"
    " DO UPDATE SET written_at = excluded.written_at, messages = excluded.messages"
)
_ANSWER: Final = (
    "INSERT INTO answer (run_id, call_id, written_at, messages) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (run_id, call_id)"
    " DO UPDATE SET written_at = excluded.written_at, messages = excluded.messages"
)
_SPEAK: Final = """
    INSERT INTO spoken (run_id, id, written_at, messages) VALUES (?, ?, ?, ?)
    ON CONFLICT (run_id, id) DO NOTHING
"""
_MARK_DELIVERED: Final = "UPDATE spoken SET messages = '[]' WHERE run_id = ? AND id = ?"
"""The row stays, so that a repeated step does not store a delivered message a second time."""
_NEWEST: Final = """
    SELECT run_id FROM turn WHERE session_id = session.id AND turn_id =
        (SELECT turn_id FROM turn WHERE session_id = session.id ORDER BY number DESC LIMIT 1)
"""
_USED: Final = f"""
    SELECT id, created_at, ended_at, (SELECT max(written_at) FROM message WHERE run_id IN ({_NEWEST})),
        (SELECT max(written_at) FROM answer WHERE run_id IN ({_NEWEST}))
    FROM session
"""
_MESSAGES: Final = ("message", "answer", "spoken")
_BELOW: Final = "run_id = ? OR (run_id > ? AND run_id < ?)"
"""The ID of a child run begins with its parent's ID and a slash; "0" is the next character."""
_WRITTEN: Final = " UNION ALL ".join(f"SELECT run_id, written_at FROM {table}" for table in _MESSAGES)
_OLD: Final = f"""
    SELECT run_id FROM ({_WRITTEN}) AS written
    WHERE NOT EXISTS (SELECT 1 FROM turn WHERE turn.run_id = written.run_id)
    GROUP BY run_id HAVING max(written_at) < ?
"""
_FEW: Final = 16
"""Number of turns or steps that are read from a file in the event loop; more are read in a thread."""


class TableSessionStore:
    """Stores sessions in the tables of a database."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        """Construct a store; the clock returns seconds since 1970, the same in all processes."""
        self.database = database
        self._clock = clock
        self._read = ReadMessages()

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Session:
        check_ids(session_id, agent)
        values = session_id, agent, self._clock(), json.dumps(dict(labels or {}))

        async def step(tx: Transaction) -> Session:
            await tx.change(_CREATE, *values)
            session = await session_in(tx, session_id)
            if session.is_over:
                raise ended_session(session_id)
            return session

        return await self.database.write(step, is_brief=True, may_repeat=True)

    async def get(self, session_id: str) -> Session:
        return await self.database.read(lambda tx: session_in(tx, session_id), is_brief=True)

    async def list(
        self, *, state: Literal["open", "ended"] | None = None, after: str = "", limit: int = 100
    ) -> tuple[Session, ...]:
        query, values = f"{SESSION} WHERE {_STATES[state]}", list[Any]()
        if after:
            query += " AND (created_at, number) < (SELECT created_at, number FROM session WHERE id = ?)"
            values.append(after)
        query += " ORDER BY created_at DESC, number DESC LIMIT ?"
        rows = await self.database.read(lambda tx: tx.rows(query, *values, min(max(limit, 0), MOST)))
        return tuple(map(session_of, rows))

    async def end(self, session_id: str) -> Session:
        now = self._clock()

        async def step(tx: Transaction) -> Session:
            session = await session_in(tx, session_id, is_locked=True)
            return replace(session, ended_at=now) if await tx.change(_END, now, session_id) else session

        return await self.database.write(step, is_brief=True, may_repeat=True)

    async def hand_over(self, session_id: str, agent: str) -> None:
        check_ids(agent)
        await self._update(session_id, AGENT, agent, may_repeat=False)

    async def begin(self, turn: Turn) -> None:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent)

        async def step(tx: Transaction) -> None:
            await begin(tx, await session_in(tx, turn.session_id, is_locked=True), turn)

        await self.database.write(step, is_brief=True, may_repeat=True)

    async def take(
        self, turn: Turn, engine: EngineLease, messages: Sequence[Message], *, instead_of: str = ""
    ) -> TurnHolder:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent, engine.engine_id)
        text, now = messages_as_text(messages), self._clock()

        async def step(tx: Transaction) -> TurnHolder:
            session = await session_in(tx, turn.session_id, is_locked=True)
            await renew(tx, engine, now)
            holder = await holder_in(tx, turn.session_id, now)
            if holder is not None and holder.run_id not in (turn.run_id, instead_of):
                return holder
            if await begin(tx, session, turn):
                await tx.change(_WRITE, turn.run_id, 0, now, text)
            await tx.change(_TAKE, turn.session_id, turn.run_id, engine.engine_id, now)
            return TurnHolder(
                run_id=turn.run_id,
                engine_id=engine.engine_id,
                age_s=0.0,
                is_durable=engine.is_durable,
                is_alive=engine.seconds > 0,
            )

        # A run that has taken the turn takes it again without effect.
        return await self.database.write(step, is_brief=True, may_repeat=True)

    async def holder(self, session_id: str) -> TurnHolder | None:
        now = self._clock()
        return await self.database.read(lambda tx: holder_in(tx, session_id, now), is_brief=True)

    async def release(self, session_id: str, run_id: str) -> None:
        check_ids(session_id, run_id)
        query = "DELETE FROM active WHERE session_id = ? AND run_id = ?"
        await self.database.put([(query, (session_id, run_id))])

    async def beat(self, engine: EngineLease) -> None:
        check_ids(engine.engine_id)
        now = self._clock()
        await self.database.write(lambda tx: renew(tx, engine, now), is_brief=True, may_repeat=True)

    async def leave(self, engine_id: str) -> None:
        await self._change("UPDATE engine SET alive_until = ? WHERE id = ?", self._clock(), engine_id)

    async def speak(self, run_id: str, id: str, message: UserMessage) -> None:
        check_ids(run_id, id)
        await self._change(_SPEAK, run_id, id, self._clock(), messages_as_text([message]))

    async def write(
        self, run_id: str, step: int, messages: Sequence[Message], *, message_ids: Sequence[str] = ()
    ) -> None:
        check_ids(run_id, *message_ids)
        message = _WRITE, (run_id, step, self._clock(), messages_as_text(messages))
        await self.database.put([message, *((_MARK_DELIVERED, (run_id, id_)) for id_ in message_ids)])

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        check_ids(run_id, answer.id)
        text = messages_as_text([ToolMessage(answers=(answer,))])
        values = run_id, answer.id, self._clock(), text
        if answer.resolved_by:  # not written by an operation of the run
            await self._change(_ANSWER, *values)
        else:
            await self.database.put([(_ANSWER, values)])

    async def run_messages(self, run_id: str, *, before: int | None = None) -> tuple[Message, ...]:
        async def step(tx: Transaction) -> tuple[Message, ...]:
            (messages,) = await messages_in(tx, self._read, [run_id], before)
            return messages

        return await self.database.read(step, is_brief=before is not None and before <= _FEW)

    async def transcript(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        async def step(tx: Transaction, most: int | None) -> tuple[RunMessages, ...] | None:
            await session_in(tx, session_id)
            turns = await newest_in(tx, session_id, most, after)
            if most != newest and len(turns) > _FEW:
                return None
            messages = await messages_in(tx, self._read, [turn.run_id for turn in turns])
            return tuple(
                RunMessages(turn=turn, messages=of_run) for turn, of_run in zip(turns, messages, strict=True)
            )

        few = _FEW + 1 if newest is None else min(newest, _FEW + 1)
        transcript = await self.database.read(partial(step, most=few), is_brief=True)
        if transcript is None:
            transcript = await self.database.read(partial(step, most=newest))
        return transcript or ()

    async def turns(self, session_id: str, *, limit: int | None = None) -> tuple[Turn, ...]:
        async def step(tx: Transaction) -> tuple[Turn, ...]:
            await session_in(tx, session_id)
            if limit is None:
                return await newest_in(tx, session_id, None, "")
            return await oldest_in(tx, session_id, limit)

        return await self.database.read(step, is_brief=limit is not None and limit <= _FEW)

    async def summary(self, session_id: str) -> Summary | None:
        query = "SELECT summary, summary_through FROM session WHERE id = ? AND summary IS NOT NULL"
        for text, through in await self.database.read(lambda tx: tx.rows(query, session_id), is_brief=True):
            return Summary(text=json.loads(text), through=through)
        return None

    async def summarize(self, session_id: str, summary: Summary) -> None:
        check_ids(summary.through)
        query = "UPDATE session SET summary = ?, summary_through = ? WHERE id = ?"
        await self._update(session_id, query, json.dumps(summary.text), summary.through, may_repeat=True)

    async def forget(self, before: float) -> int:
        async def step(tx: Transaction) -> int:
            dropped = await _drop(tx, "ended_at < ?", before)
            await _forget_runs(tx, [run_id for (run_id,) in await tx.rows(_OLD, before)])
            has_turn = "EXISTS (SELECT 1 FROM active WHERE engine_id = engine.id)"
            await tx.change(f"DELETE FROM engine WHERE alive_until < ? AND NOT {has_turn}", before)
            return dropped

        dropped = await self.database.write(step, may_repeat=True, is_snapshot=True)
        self._read.forget()
        return dropped

    async def unused(
        self, *, keep: int | None = None, keep_s: float | None = None
    ) -> tuple[UnusedSession, ...]:
        before = None if keep_s is None else self._clock() - keep_s
        rows = await self.database.read(lambda tx: tx.rows(f"{_USED} ORDER BY number"))
        return beyond_retention(map(_used, rows), keep, before)

    async def retire(self, session: UnusedSession) -> bool:
        id_, used_at = session.session_id, session.used_at

        async def step(tx: Transaction) -> bool:
            await tx.locked("SELECT 1 FROM session WHERE id = ?", id_)
            used = map(_used, await tx.rows(f"{_USED} WHERE id = ?", id_))
            holders = await tx.rows("SELECT 1 FROM active WHERE session_id = ?", id_)
            if holders or (id_, used_at) not in used:
                return False
            await tx.change(_END, used_at, id_)
            return True

        return await self.database.write(step, may_repeat=True)

    async def drop(self, session_id: str) -> None:
        which = "id = ? AND ended_at IS NOT NULL"
        await self.database.write(lambda tx: _drop(tx, which, session_id), may_repeat=True, is_snapshot=True)
        self._read.forget()

    async def forget_runs(self, run_ids: Sequence[str]) -> None:
        await self.database.write(lambda tx: _forget_runs(tx, run_ids), may_repeat=True)
        self._read.forget()

    async def forget_events(self, session_id: str) -> int:
        """Drop the events of a session that are stored next to it; return their number."""
        return 0

    async def _update(self, session_id: str, sql: str, *values: object, may_repeat: bool) -> None:
        """Execute a statement whose last value is a session ID; the session has to exist."""

        async def step(tx: Transaction) -> None:
            await session_in(tx, session_id, is_locked=True)
            await tx.change(sql, *values, session_id)

        await self.database.write(step, is_brief=True, may_repeat=may_repeat)

    async def _change(self, sql: str, *values: object) -> None:
        """Execute an idempotent statement."""
        await self.database.write(lambda tx: tx.change(sql, *values), is_brief=True, may_repeat=True)


async def _drop(tx: Transaction, which: str, value: object) -> int:
    """Delete ended sessions with all messages in them and in child runs; return their number."""
    of_them = f"session_id IN (SELECT id FROM session WHERE {which})"
    runs = [run_id for (run_id,) in await tx.rows(f"SELECT run_id FROM turn WHERE {of_them}", value)]
    for page in pages(runs):
        ids = [id_ for run_id in page for id_ in (run_id, f"{run_id}/", f"{run_id}0")]
        for table in _MESSAGES:
            await tx.change(f"DELETE FROM {table} WHERE {' OR '.join([_BELOW] * len(page))}", *ids)
    for table in ("turn", "active"):
        await tx.change(f"DELETE FROM {table} WHERE {of_them}", value)
    return await tx.change(f"DELETE FROM session WHERE {which}", value)


async def _forget_runs(tx: Transaction, run_ids: Sequence[str]) -> None:
    """Delete the messages of the runs that are in no conversation, nor below a run in a conversation."""
    above = {run_id: with_those_above(run_id) for run_id in run_ids}
    turns: set[str] = set()
    for page in pages([id_ for ids in above.values() for id_ in ids]):
        turns |= {run_id for (run_id,) in await tx.rows(f"SELECT run_id FROM turn {of_runs(page)}", *page)}
    for page in pages([run_id for run_id, ids in above.items() if turns.isdisjoint(ids)]):
        for table in _MESSAGES:
            await tx.change(f"DELETE FROM {table} {of_runs(page)}", *page)


def _used(row: tuple[Any, ...]) -> tuple[str, float]:
    """Return the ID of a session, and the time of its last use."""
    session_id, *times = row
    return session_id, max(time for time in times if time is not None)
