"""Sessions in a SQLite file, shared by all processes that have it: that of the runs, or one of their own."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Literal

from toolgen.runtime.stores.batched_file import BatchedFile
from toolgen.runtime.stores.sqlite_connection import Synchronous
from toolgen.runtime.stores.sqlite_file import SqliteFile

from ..planner.messages import Message, ToolAnswer, ToolMessage, UserMessage
from .file import SESSIONS, drop, read_unused, retire, rows
from .kept_messages import answers_of, messages_as_text, with_answers
from .kept_rows import messages_of, session_of, turn_of
from .sessions import (
    EngineLease,
    RunMessages,
    Session,
    Summary,
    Turn,
    TurnHolder,
    check_ids,
    ended_session,
    foreign_run,
    newest_turns,
    unknown_session,
)
from .unused import UnusedSession

_SESSION: Final = "SELECT id, agent, created_at, ended_at, labels FROM session"
_STATES: Final = {None: "", "open": "WHERE ended_at IS NULL", "ended": "WHERE ended_at IS NOT NULL"}
_WRITE: Final = "INSERT OR REPLACE INTO message (run_id, step, written_at, messages) VALUES (?, ?, ?, ?)"
_ANSWER: Final = "INSERT OR REPLACE INTO answer (run_id, call_id, written_at, messages) VALUES (?, ?, ?, ?)"
_HOLDER: Final = """
    SELECT run_id, engine_id, taken_at, is_durable, alive_until FROM active
    JOIN engine ON engine.id = active.engine_id WHERE session_id = ?
"""
_FEW: Final = 16
"""Turns, or steps of a run, that are read in the event loop; more are read in a thread."""
_MOST_STEP: Final = 2**63 - 1
_TURN: Final = "SELECT turn_id, session_id, run_id, agent, started_at FROM turn"


class SqliteSessionStore:
    """Keeps sessions in a SQLite file.

    `Agents(runtime)` makes one for the file of its engine. There, what a run says is committed with the end
    of the operation that has said it, so that a run and its conversation never disagree.

    In a file of its own each step is one transaction of that file, and a loss of power may leave the two
    files at different moments: with NORMAL the newest steps of a conversation may be missing although its
    run has them. With FULL in both files a conversation has at least what its run has. Where a conversation
    has lost calls of which it has results, its readers find a message of the runtime that says so.
    """

    shared_instead: ClassVar = "PostgresSessionStore(database)"

    def __init__(
        self,
        path: str | Path | BatchedFile,
        *,
        synchronous: Synchronous = "NORMAL",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open the file.

        Args:
            path: Of a file of its own, which is made where it is missing; or the open file of an engine.
            synchronous: What a step survives in a file of its own: NORMAL the end of the process, FULL a
                loss of power too. In the file of an engine it is as the engine has it.
            clock: Gives seconds since 1970.

        Raises:
            StoreError: it cannot be opened, or it is something else than a file of sessions.
        """
        self._file: BatchedFile | SqliteFile
        if isinstance(path, BatchedFile):
            self._file = path
        else:
            self._file = SqliteFile(path, SESSIONS, synchronous=synchronous)
        self._clock = clock

    async def vacuum(self) -> None:
        """Rewrite the file without what was deleted; as `Vacuuming`."""
        await self._file.vacuum()

    def close(self) -> None:
        """Close a file of its own now, not when the store is garbage collected."""
        self._file.close()

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Session:
        check_ids(session_id, agent)
        values = (session_id, agent, self._clock(), json.dumps(dict(labels or {})))
        query = "INSERT OR IGNORE INTO session (id, agent, created_at, labels) VALUES (?, ?, ?, ?)"

        def step(database: sqlite3.Connection) -> Session:
            database.execute(query, values)
            return _open_session(database, session_id)

        return await self._file.write(step, is_brief=True)

    async def get(self, session_id: str) -> Session:
        def step(database: sqlite3.Connection) -> Session:
            return _session(database, session_id)

        return await self._file.read(step, is_brief=True)

    async def list(
        self, *, state: Literal["open", "ended"] | None = None, limit: int = 100
    ) -> tuple[Session, ...]:
        query = f"{_SESSION} {_STATES[state]} ORDER BY created_at DESC, number DESC LIMIT ?"

        def step(database: sqlite3.Connection) -> tuple[Session, ...]:
            return tuple(map(session_of, rows(database, query, (max(limit, 0),))))

        return await self._file.read(step)

    async def end(self, session_id: str) -> Session:
        query = "UPDATE session SET ended_at = ? WHERE id = ? AND ended_at IS NULL"
        now = self._clock()

        def step(database: sqlite3.Connection) -> Session:
            _session(database, session_id)
            database.execute(query, (now, session_id))
            return _session(database, session_id)

        return await self._file.write(step, is_brief=True)

    async def hand_over(self, session_id: str, agent: str) -> None:
        check_ids(agent)

        def step(database: sqlite3.Connection) -> None:
            _session(database, session_id)
            database.execute("UPDATE session SET agent = ? WHERE id = ?", (agent, session_id))

        await self._file.write(step, is_brief=True)

    async def begin(self, turn: Turn) -> None:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent)

        def step(database: sqlite3.Connection) -> None:
            _begin(database, turn)

        await self._file.write(step, is_brief=True)

    async def take(
        self, turn: Turn, engine: EngineLease, messages: Sequence[Message], *, instead_of: str = ""
    ) -> TurnHolder:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent, engine.engine_id)
        text, now = messages_as_text(messages), self._clock()
        query = "INSERT OR REPLACE INTO active (session_id, run_id, engine_id, taken_at) VALUES (?, ?, ?, ?)"

        def step(database: sqlite3.Connection) -> TurnHolder:
            _renew(database, engine, now)
            held = _holder(database, turn.session_id, now)
            if held is None or held.run_id in (turn.run_id, instead_of):
                if _begin(database, turn):
                    database.execute(_WRITE, (turn.run_id, 0, now, text))
                database.execute(query, (turn.session_id, turn.run_id, engine.engine_id, now))
                held = _holder(database, turn.session_id, now)
            assert held is not None  # it was just written
            return held

        return await self._file.write(step, is_brief=True)

    async def holder(self, session_id: str) -> TurnHolder | None:
        now = self._clock()

        def step(database: sqlite3.Connection) -> TurnHolder | None:
            return _holder(database, session_id, now)

        return await self._file.read(step, is_brief=True)

    async def release(self, session_id: str, run_id: str) -> None:
        query = "DELETE FROM active WHERE session_id = ? AND run_id = ?"
        await self._file.put([(query, (session_id, run_id))])

    async def beat(self, engine: EngineLease) -> None:
        check_ids(engine.engine_id)
        now = self._clock()

        def step(database: sqlite3.Connection) -> None:
            _renew(database, engine, now)

        await self._file.write(step, is_brief=True)

    async def leave(self, engine_id: str) -> None:
        now = self._clock()

        def step(database: sqlite3.Connection) -> None:
            database.execute("UPDATE engine SET alive_until = ? WHERE id = ?", (now, engine_id))

        await self._file.write(step, is_brief=True)

    async def speak(self, run_id: str, id: str, message: UserMessage) -> None:
        check_ids(run_id, id)
        values = (run_id, id, self._clock(), messages_as_text([message]))
        query = "INSERT OR IGNORE INTO spoken (run_id, id, written_at, messages) VALUES (?, ?, ?, ?)"

        def work(database: sqlite3.Connection) -> None:
            database.execute(query, values)

        await self._file.write(work, is_brief=True)

    async def write(
        self, run_id: str, step: int, messages: Sequence[Message], *, heard: Sequence[str] = ()
    ) -> None:
        check_ids(run_id)
        query = "DELETE FROM spoken WHERE run_id = ? AND id = ?"
        said = (_WRITE, (run_id, step, self._clock(), messages_as_text(messages)))
        await self._file.put([said, *((query, (run_id, id_)) for id_ in heard)])

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        check_ids(run_id, answer.id)
        text = messages_as_text([ToolMessage(answers=(answer,))])
        values = (run_id, answer.id, self._clock(), text)
        if not answer.resolved_by:
            await self._file.put([(_ANSWER, values)])
            return

        def work(database: sqlite3.Connection) -> None:  # a person's word is of no operation of the run
            database.execute(_ANSWER, values)

        await self._file.write(work, is_brief=True)

    async def run_messages(self, run_id: str, *, before: int | None = None) -> tuple[Message, ...]:
        def step(database: sqlite3.Connection) -> tuple[Message, ...]:
            return _messages(database, run_id, before)

        return await self._file.read(step, is_brief=before is not None and before <= _FEW)

    async def transcript(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        def step(database: sqlite3.Connection) -> tuple[RunMessages, ...]:
            _session(database, session_id)
            turns = _newest(database, session_id, newest, after)
            return tuple(RunMessages(turn=turn, messages=_messages(database, turn.run_id)) for turn in turns)

        return await self._file.read(step, is_brief=newest is not None and newest <= _FEW)

    async def turns(self, session_id: str) -> tuple[Turn, ...]:
        def step(database: sqlite3.Connection) -> tuple[Turn, ...]:
            _session(database, session_id)
            return _newest(database, session_id, None, "")

        return await self._file.read(step)

    async def summary(self, session_id: str) -> Summary | None:
        query = "SELECT summary, summary_through FROM session WHERE id = ? AND summary IS NOT NULL"

        def step(database: sqlite3.Connection) -> Summary | None:
            for text, through in rows(database, query, (session_id,)):
                return Summary(text=json.loads(text), through=through)
            return None

        return await self._file.read(step, is_brief=True)

    async def summarize(self, session_id: str, summary: Summary) -> None:
        check_ids(summary.through)
        values = (json.dumps(summary.text), summary.through, session_id)

        def step(database: sqlite3.Connection) -> None:
            _session(database, session_id)
            database.execute("UPDATE session SET summary = ?, summary_through = ? WHERE id = ?", values)

        await self._file.write(step, is_brief=True)

    async def forget(self, before: float) -> int:
        late = "session_id IN (SELECT id FROM session WHERE ended_at < :before)"
        turns = f"SELECT run_id FROM turn WHERE {late}"
        tables = "message", "answer", "spoken"
        written = " UNION ALL ".join(f"SELECT run_id, written_at FROM {table}" for table in tables)
        alone = (
            f"SELECT run_id FROM ({written}) WHERE run_id NOT IN (SELECT run_id FROM turn)"
            " GROUP BY run_id HAVING max(written_at) < :before"
        )

        def step(database: sqlite3.Connection) -> int:
            runs = [row for query in (turns, alone) for row in database.execute(query, {"before": before})]
            for table in tables:
                database.executemany(f"DELETE FROM {table} WHERE run_id = ?", runs)
            for table in ("turn", "active"):
                database.execute(f"DELETE FROM {table} WHERE {late}", {"before": before})
            database.execute(
                "DELETE FROM engine WHERE alive_until < ? AND id NOT IN (SELECT engine_id FROM active)",
                (before,),
            )
            return database.execute("DELETE FROM session WHERE ended_at < ?", (before,)).rowcount

        return await self._file.write(step)

    async def unused(
        self, *, keep: int | None = None, keep_s: float | None = None
    ) -> tuple[UnusedSession, ...]:
        before = None if keep_s is None else self._clock() - keep_s
        return await self._file.read(partial(read_unused, keep=keep, before=before))

    async def retire(self, session: UnusedSession) -> bool:
        return await self._file.write(partial(retire, session=session))

    async def drop(self, session_id: str) -> None:
        await self._file.write(partial(drop, session_id=session_id))


def _begin(database: sqlite3.Connection, turn: Turn) -> bool:
    """Return whether the run is new in its session; as `SessionStore.begin`."""
    session = _session(database, turn.session_id)
    there = rows(database, "SELECT session_id FROM turn WHERE run_id = ?", (turn.run_id,))
    if there and there[0][0] != turn.session_id:
        raise foreign_run(turn)
    if there:
        return False
    if session.is_over:
        raise ended_session(turn.session_id)
    if session.agent != turn.agent:
        database.execute("UPDATE session SET agent = ? WHERE id = ?", (turn.agent, turn.session_id))
    database.execute(
        "INSERT INTO turn (turn_id, session_id, run_id, agent, started_at) VALUES (?, ?, ?, ?, ?)",
        (turn.id, turn.session_id, turn.run_id, turn.agent, turn.started_at),
    )
    return True


def _renew(database: sqlite3.Connection, engine: EngineLease, now: float) -> None:
    database.execute(
        "INSERT OR REPLACE INTO engine (id, is_durable, alive_until) VALUES (?, ?, ?)",
        (engine.engine_id, engine.is_durable, now + engine.seconds),
    )


def _holder(database: sqlite3.Connection, session_id: str, now: float) -> TurnHolder | None:
    for run_id, engine_id, taken_at, is_durable, alive_until in rows(database, _HOLDER, (session_id,)):
        return TurnHolder(
            run_id=run_id,
            engine_id=engine_id,
            age_s=now - taken_at,
            is_durable=bool(is_durable),
            is_alive=now < alive_until,
        )
    return None


def _session(database: sqlite3.Connection, session_id: str) -> Session:
    for row in rows(database, f"{_SESSION} WHERE id = ?", (session_id,)):
        return session_of(row)
    raise unknown_session(session_id)


def _open_session(database: sqlite3.Connection, session_id: str) -> Session:
    session = _session(database, session_id)
    if session.is_over:
        raise ended_session(session_id)
    return session


def _newest(
    database: sqlite3.Connection, session_id: str, newest: int | None, after: str
) -> tuple[Turn, ...]:
    """Return the runs of a session that a transcript shows; no row before them is read."""
    query = f"{_TURN} WHERE session_id = ? ORDER BY number DESC"
    with closing(database.execute(query, (session_id,))) as found:
        return newest_turns(map(turn_of, found), newest, after)


def _messages(database: sqlite3.Connection, run_id: str, before: int | None = None) -> tuple[Message, ...]:
    """Return the stored messages of a run, by step.

    Raises:
        SessionError: the file holds something else there.
    """
    most = _MOST_STEP if before is None else before
    query = "SELECT step, messages FROM message WHERE run_id = ? AND step < ? ORDER BY step"
    steps = messages_of(rows(database, query, (run_id, most)), "step", run_id, "file")
    query = "SELECT call_id, messages FROM answer WHERE run_id = ?"
    answers = messages_of(rows(database, query, (run_id,)), "call", run_id, "file")
    said = with_answers(steps, answers_of(answers))
    if before is not None:
        return said
    query = "SELECT id, messages FROM spoken WHERE run_id = ? ORDER BY number"
    return (*said, *messages_of(rows(database, query, (run_id,)), "words", run_id, "file"))
