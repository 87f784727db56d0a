"""The rows of sessions: reads and writes within a transaction of their store.

Messages are stored as ASCII text, which every store and every driver accepts.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic_core import to_jsonable_python

from ..planner.messages import (
    AssistantMessage,
    Message,
    ToolAnswer,
    ToolMessage,
    is_unchanging,
    messages_from_json,
)
from .sessions import (
    EngineLease,
    Session,
    SessionError,
    Turn,
    TurnHolder,
    ended_session,
    foreign_run,
    newest_turns,
    unknown_session,
)

if TYPE_CHECKING:
    from toolgen.stores.transactions import Transaction

SESSION: Final = "SELECT id, agent, created_at, ended_at, labels FROM session"
AGENT: Final = "UPDATE session SET agent = ? WHERE id = ?"
_RUN: Final = "SELECT session_id FROM turn WHERE run_id = ?"
_TURNS: Final = """
    SELECT turn_id, session_id, run_id, agent, started_at, number FROM turn
    WHERE session_id = ? AND number < ? ORDER BY number DESC LIMIT ?
"""
_FIRST_TURNS: Final = """
    SELECT turn_id, session_id, run_id, agent, started_at, number FROM turn
    WHERE session_id = ? ORDER BY number LIMIT ?
"""
_BEGIN: Final = """
    INSERT INTO turn (turn_id, session_id, run_id, agent, started_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (run_id) DO NOTHING
"""
_RENEW: Final = """
    INSERT INTO engine (id, is_durable, alive_until) VALUES (?, ?, ?) ON CONFLICT (id)
    DO UPDATE SET is_durable = excluded.is_durable, alive_until = excluded.alive_until
"""
_HOLDER: Final = """
    SELECT run_id, engine_id, taken_at, is_durable, alive_until FROM active
    JOIN engine ON engine.id = active.engine_id WHERE session_id = ?
"""
_MOST_CHARACTERS: Final = 8_000_000
"""Maximum total length of the texts whose messages one store caches, about 20 MB; in characters."""
_LONGEST: Final = 8_192
"""Maximum length of a cached text, in characters."""
_LONGEST_RUN: Final = 16 * _LONGEST
"""Maximum total length of the texts of a cached run, in characters."""
_PAGE: Final = 64
"""Number of turns or runs per query."""
MOST: Final = 2**63 - 1
"""Largest value of an integer column."""


_Rows: TypeAlias = Sequence[tuple[Any, str]]
"""Positions and texts of the messages of a run, in order."""


class ReadMessages:
    """Caches parsed messages by text, and the messages of runs by all their texts.

    Messages are immutable, so all readers share one object. A text with JSON from a provider or a peer, which
    a reader could change, is parsed each time.
    """

    def __init__(self, most: int = _MOST_CHARACTERS) -> None:
        """Construct without messages, for texts with at most `most` characters in total."""
        self._most = most
        self._size = 0
        self._messages: dict[Hashable, tuple[Hashable, tuple[Message, ...], int]] = {}
        """Texts, messages and size in characters, by text and by run; the most recently read is last."""
        self._lock = threading.Lock()

    def of(self, text: str) -> tuple[Message, ...]:
        """Return the messages of a text.

        Raises:
            ValueError: the text contains something other than messages.
        """
        messages = self._find(text, text)
        if messages is None:
            messages = messages_from_text(text)
            self._remember(text, text, messages, len(text), _LONGEST)
        return messages

    def of_run(self, run_id: str, steps: _Rows, answers: _Rows, spoken: _Rows) -> tuple[Message, ...]:
        """Return the messages of a run from the rows of its steps, its answers, and messages added to it.

        Raises:
            SessionError: a text contains something other than messages.
        """
        texts = tuple([tuple([text for _, text in rows]) for rows in (steps, answers, spoken)])
        messages = self._find((run_id,), texts)
        if messages is None:
            joined = with_answers(
                _messages(self, steps, "step", run_id),
                answers_of(_messages(self, answers, "call", run_id)),
            )
            messages = (*joined, *_messages(self, spoken, "message", run_id))
            size = sum([len(text) for of_table in texts for text in of_table])
            self._remember((run_id,), texts, messages, size, _LONGEST_RUN)
        return messages

    def forget(self) -> None:
        """Clear the cache, because some messages were erased."""
        with self._lock:
            self._messages.clear()
            self._size = 0

    def _find(self, key: Hashable, texts: Hashable) -> tuple[Message, ...] | None:
        with self._lock:
            entry = self._messages.pop(key, None)
            if entry is None:
                return None
            self._messages[key] = entry
        return entry[1] if entry[0] == texts else None

    def _remember(
        self, key: Hashable, texts: Hashable, messages: tuple[Message, ...], size: int, longest: int
    ) -> None:
        if size > longest or not all(map(is_unchanging, messages)):
            return
        with self._lock:
            self._drop(key)
            self._messages[key] = texts, messages, size
            self._size += size
            while self._size > self._most:
                self._drop(next(iter(self._messages)))

    def _drop(self, key: Hashable) -> None:
        if (entry := self._messages.pop(key, None)) is not None:
            self._size -= entry[2]


def session_of(row: tuple[Any, ...]) -> Session:
    """Return the session of a row of `SESSION`.

    Raises:
        SessionError: its labels are not JSON.
    """
    session_id, agent, created_at, ended_at, text = row
    try:
        labels = json.loads(text)
    except ValueError as error:
        raise SessionError(
            f"the stored labels of the session {session_id!r} are not JSON",
            hint="restore the store, or write the labels again",
        ) from error
    return Session(id=session_id, agent=agent, created_at=created_at, ended_at=ended_at, labels=labels)


def turn_of(row: tuple[Any, ...]) -> Turn:
    turn_id, session_id, run_id, agent, started_at, _ = row
    return Turn(id=turn_id, session_id=session_id, run_id=run_id, agent=agent, started_at=started_at)


async def session_in(tx: Transaction, session_id: str, *, is_locked: bool = False) -> Session:
    """Return a session; if `is_locked`, no other transaction changes it before the end of this one.

    Raises:
        UnknownSessionError: there is no such session.
    """
    read = tx.locked if is_locked else tx.rows
    for row in await read(f"{SESSION} WHERE id = ?", session_id):
        return session_of(row)
    raise unknown_session(session_id)


async def begin(tx: Transaction, session: Session, turn: Turn) -> bool:
    """Return whether the run is new in its session, which is locked; as `SessionStore.begin`."""
    for (session_id,) in await tx.rows(_RUN, turn.run_id):
        if session_id != turn.session_id:
            raise foreign_run(turn)
        return False
    if session.is_over:
        raise ended_session(turn.session_id)
    if not await tx.change(_BEGIN, turn.id, turn.session_id, turn.run_id, turn.agent, turn.started_at):
        raise foreign_run(turn)  # a concurrent insert for another session, whose lock we lack
    if session.agent != turn.agent:
        await tx.change(AGENT, turn.agent, turn.session_id)
    return True


async def renew(tx: Transaction, engine: EngineLease, now: float) -> None:
    """Renew the lease of an engine."""
    await tx.change(_RENEW, engine.engine_id, engine.is_durable, now + engine.seconds)


async def holder_in(tx: Transaction, session_id: str, now: float) -> TurnHolder | None:
    """Return the run that has the turn of a session; None if there is none."""
    for run_id, engine_id, taken_at, is_durable, alive_until in await tx.rows(_HOLDER, session_id):
        return TurnHolder(
            run_id=run_id,
            engine_id=engine_id,
            age_s=now - taken_at,
            is_durable=bool(is_durable),
            is_alive=now < alive_until,
        )
    return None


async def newest_in(tx: Transaction, session_id: str, newest: int | None, after: str) -> tuple[Turn, ...]:
    """Return the runs of a session that a transcript shows, oldest first; earlier pages are not read."""
    turns: list[Turn] = []
    last = MOST
    size = _PAGE if newest is None else min(max(newest, 0) + 1, _PAGE)
    while True:
        page = await tx.rows(_TURNS, session_id, last, size)
        turns += [turn_of(row) for row in page]
        shown = newest_turns(turns, newest, after)
        if len(shown) < len(turns) or len(page) < size:
            return shown
        last = page[-1][5]


async def oldest_in(tx: Transaction, session_id: str, limit: int) -> tuple[Turn, ...]:
    """Return the first runs of a session, oldest first."""
    return tuple(map(turn_of, await tx.rows(_FIRST_TURNS, session_id, min(max(limit, 0), MOST))))


async def messages_in(
    tx: Transaction, read: ReadMessages, run_ids: Sequence[str], before: int | None = None
) -> list[tuple[Message, ...]]:
    """Return the stored messages of each run, by step; as `SessionStore.run_messages`.

    Raises:
        SessionError: the store contains something other than messages there.
    """
    most = MOST if before is None else before
    steps = await _texts(tx, "step", "message", run_ids, "AND step < ? ORDER BY run_id, step", most)
    answers = await _texts(tx, "call_id", "answer", run_ids)
    spoken = {} if before is not None else await _texts(tx, "id", "spoken", run_ids, "ORDER BY number")
    return [
        read.of_run(run_id, steps.get(run_id, ()), answers.get(run_id, ()), spoken.get(run_id, ()))
        for run_id in run_ids
    ]


async def _texts(
    tx: Transaction, place: str, table: str, run_ids: Sequence[str], rest: str = "", *values: int
) -> dict[str, list[tuple[object, str]]]:
    """Return position and text of the rows of each run, in order."""
    rows: dict[str, list[tuple[object, str]]] = {}
    for page in pages(run_ids):
        query = f"SELECT run_id, {place}, messages FROM {table} {of_runs(page)} {rest}"
        for run_id, at, text in await tx.rows(query, *page, *values):
            rows.setdefault(run_id, []).append((at, text))
    return rows


def pages(run_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the runs in pages that fit into one statement."""
    return (run_ids[first : first + _PAGE] for first in range(0, len(run_ids), _PAGE))


def of_runs(page: Sequence[str]) -> str:
    """Return the condition for rows of the runs of a page; the run IDs are its parameters."""
    return f"WHERE run_id IN ({', '.join('?' * len(page))})" if len(page) > 1 else "WHERE run_id = ?"


def _messages(
    read: ReadMessages, rows: Iterable[tuple[object, str]], what: str, run_id: str
) -> list[Message]:
    """Return the messages of rows; `what` names the kind of position in error messages.

    Raises:
        SessionError: a text contains something other than messages.
    """
    messages: list[Message] = []
    for place, text in rows:
        try:
            messages += read.of(text)
        except ValueError as error:
            raise SessionError(
                f"the stored {what} {place} of the run {run_id!r} is not a message",
                hint=f"restore the store, or write the {what} again",
            ) from error
    return messages


def messages_as_text(messages: Sequence[Message]) -> str:
    """Return the messages as JSON text that `messages_from_text` parses back unchanged.

    A lone surrogate, which a model can write, is preserved. Two adjacent surrogates come back as the
    character that they encode (RFC 8259, section 7).

    Raises:
        ValueError: a value has no JSON form.
    """
    try:
        return _ENCODER.encode(list(messages))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"the messages contain a value that has no JSON form: {error}") from error


def messages_from_text(text: str) -> tuple[Message, ...]:
    """Return the messages of a text from `messages_as_text`.

    Raises:
        ValueError: the text contains something other than messages.
    """
    documents = json.loads(text)
    if not isinstance(documents, list):
        raise ValueError("the text is not a list of messages")
    return messages_from_json(documents)


def with_answers(messages: Iterable[Message], answers: Mapping[str, ToolAnswer]) -> tuple[Message, ...]:
    """Return the messages of a run with the results of calls that are in no step, by call ID.

    The results of a batch are in the order of its calls; calls without a result get none. A result that a
    person resolved replaces the result in a step.
    """
    complete: list[Message] = []
    for message in [*messages, None]:
        if isinstance(message, ToolMessage):
            message = _with_resolved(message, answers)
        last = complete[-1] if complete else None
        if isinstance(last, AssistantMessage) and not _has_result_of(message, last):
            present = tuple(answers[call.id] for call in last.calls if call.id in answers)
            if present:
                complete.append(ToolMessage(answers=present))
        if message is not None:
            complete.append(message)
    return tuple(complete)


def _has_result_of(message: Message | None, batch: AssistantMessage) -> bool:
    """Return whether a message contains results of this batch, not of a batch whose calls were lost."""
    if not isinstance(message, ToolMessage):
        return False
    ids = {call.id for call in batch.calls}
    return not ids.isdisjoint(answer.id for answer in message.answers)


def _with_resolved(message: ToolMessage, answers: Mapping[str, ToolAnswer]) -> ToolMessage:
    resolved = {id_: answer for id_, answer in answers.items() if answer.resolved_by}
    if resolved.keys().isdisjoint(answer.id for answer in message.answers):
        return message
    return ToolMessage(answers=tuple(resolved.get(answer.id, answer) for answer in message.answers))


def answers_of(messages: Iterable[Message]) -> dict[str, ToolAnswer]:
    """Return the results in the messages, by call ID."""
    return {
        answer.id: answer
        for message in messages
        if isinstance(message, ToolMessage)
        for answer in message.answers
    }


def _plain(value: object) -> object:
    """Return a JSON value for a value that JSON does not have."""
    names = _field_names(type(value))  # type: ignore[arg-type]  # classes are hashable
    if names is not None:
        return {name: getattr(value, name) for name in names}
    return to_jsonable_python(value)


@lru_cache(maxsize=64)
def _field_names(kind: type) -> tuple[str, ...] | None:
    """Return the field names of a dataclass; None for another class."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


_ENCODER: Final = json.JSONEncoder(default=_plain, separators=(",", ":"))
