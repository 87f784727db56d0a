"""Sessions in the memory of the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import ClassVar, Literal

from ..planner.messages import Message, ToolAnswer, ToolMessage, UserMessage
from .kept_messages import answers_of, messages_as_text, messages_from_text, with_answers
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
from .unused import UnusedSession, not_kept


@dataclass(slots=True, kw_only=True)
class _Written:
    """The messages of one run as text, by step, so that no reader can change them."""

    steps: dict[int, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    """By call."""
    spoken: dict[str, str] = field(default_factory=dict)
    """By id, in their order."""
    at: float = 0.0
    """When the newest of it was written, in seconds since 1970."""


class MemorySessionStore:
    """Keeps sessions in dicts. Its calls may come from many threads."""

    shared_instead: ClassVar = "PostgresSessionStore(database)"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[str, Session] = {}
        self._runs: dict[str, list[Turn]] = {}
        """By session, in their order."""
        self._turns: dict[str, Turn] = {}
        """By run id."""
        self._written: dict[str, _Written] = {}
        """By run id."""
        self._summaries: dict[str, Summary] = {}
        self._active: dict[str, tuple[str, str, float]] = {}
        """By session, the run that has its turn, the engine of the run, and when it took it."""
        self._engines: dict[str, tuple[bool, float]] = {}
        """By engine, whether it is durable, and until when its lease is."""

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Session:
        check_ids(session_id, agent)
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None:
                session = Session(
                    id=session_id, agent=agent, created_at=self._clock(), labels=dict(labels or {})
                )
                self._sessions[session_id] = session
                self._runs[session_id] = []
            if session.is_over:
                raise ended_session(session_id)
            return session

    async def get(self, session_id: str) -> Session:
        with self._lock:
            return self._session(session_id)

    async def list(
        self, *, state: Literal["open", "ended"] | None = None, limit: int = 100
    ) -> tuple[Session, ...]:
        with self._lock:
            made = [
                one for one in self._sessions.values() if state is None or one.is_over == (state == "ended")
            ]
        made.reverse()
        return tuple(sorted(made, key=lambda session: -session.created_at)[: max(limit, 0)])

    async def end(self, session_id: str) -> Session:
        with self._lock:
            session = self._session(session_id)
            if not session.is_over:
                session = self._sessions[session_id] = replace(session, ended_at=self._clock())
            return session

    async def hand_over(self, session_id: str, agent: str) -> None:
        check_ids(agent)
        with self._lock:
            self._sessions[session_id] = replace(self._session(session_id), agent=agent)

    async def begin(self, turn: Turn) -> None:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent)
        with self._lock:
            self._begin(turn)

    async def take(
        self, turn: Turn, engine: EngineLease, messages: Sequence[Message], *, instead_of: str = ""
    ) -> TurnHolder:
        check_ids(turn.id, turn.session_id, turn.run_id, turn.agent, engine.engine_id)
        text = messages_as_text(messages)
        with self._lock:
            now = self._clock()
            self._engines[engine.engine_id] = (engine.is_durable, now + engine.seconds)
            held = self._active.get(turn.session_id)
            if held is None or held[0] in (turn.run_id, instead_of):
                if self._begin(turn):
                    written = self._written.setdefault(turn.run_id, _Written())
                    written.steps[0], written.at = text, now
                held = self._active[turn.session_id] = (turn.run_id, engine.engine_id, now)
            return self._holder(held, now)

    async def holder(self, session_id: str) -> TurnHolder | None:
        with self._lock:
            held = self._active.get(session_id)
            return None if held is None else self._holder(held, self._clock())

    async def release(self, session_id: str, run_id: str) -> None:
        with self._lock:
            held = self._active.get(session_id)
            if held is not None and held[0] == run_id:
                del self._active[session_id]

    async def beat(self, engine: EngineLease) -> None:
        check_ids(engine.engine_id)
        with self._lock:
            self._engines[engine.engine_id] = (engine.is_durable, self._clock() + engine.seconds)

    async def leave(self, engine_id: str) -> None:
        with self._lock:
            if engine_id in self._engines:
                self._engines[engine_id] = (self._engines[engine_id][0], self._clock())

    async def speak(self, run_id: str, id: str, message: UserMessage) -> None:
        check_ids(run_id, id)
        text = messages_as_text([message])
        with self._lock:
            written = self._written.setdefault(run_id, _Written())
            written.spoken[id], written.at = text, self._clock()

    async def write(
        self, run_id: str, step: int, messages: Sequence[Message], *, heard: Sequence[str] = ()
    ) -> None:
        check_ids(run_id)
        text = messages_as_text(messages)
        with self._lock:
            written = self._written.setdefault(run_id, _Written())
            written.steps[step] = text
            written.at = self._clock()
            for id_ in heard:
                written.spoken.pop(id_, None)

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        check_ids(run_id, answer.id)
        text = messages_as_text([ToolMessage(answers=(answer,))])
        with self._lock:
            written = self._written.setdefault(run_id, _Written())
            written.answers[answer.id] = text
            written.at = self._clock()

    async def run_messages(self, run_id: str, *, before: int | None = None) -> tuple[Message, ...]:
        with self._lock:
            said = self._said(run_id, before)
        return said.messages()

    async def transcript(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        with self._lock:
            self._session(session_id)
            shown = newest_turns(reversed(self._runs[session_id]), newest, after)
            found = [(turn, self._said(turn.run_id)) for turn in shown]
        return tuple(RunMessages(turn=turn, messages=said.messages()) for turn, said in found)

    async def turns(self, session_id: str) -> tuple[Turn, ...]:
        with self._lock:
            self._session(session_id)
            return tuple(self._runs[session_id])

    async def summary(self, session_id: str) -> Summary | None:
        with self._lock:
            return self._summaries.get(session_id)

    async def summarize(self, session_id: str, summary: Summary) -> None:
        check_ids(summary.through)
        with self._lock:
            self._session(session_id)
            self._summaries[session_id] = summary

    async def forget(self, before: float) -> int:
        with self._lock:
            late = [
                session.id
                for session in self._sessions.values()
                if session.ended_at is not None and session.ended_at < before
            ]
            for session_id in late:
                self._drop(session_id)
            alone = [run_id for run_id in self._written if run_id not in self._turns]
            for run_id in alone:
                if self._written[run_id].at < before:
                    del self._written[run_id]
            return len(late)

    async def unused(
        self, *, keep: int | None = None, keep_s: float | None = None
    ) -> tuple[UnusedSession, ...]:
        before = None if keep_s is None else self._clock() - keep_s
        with self._lock:
            return not_kept([(one, self._used_at(one)) for one in self._sessions], keep, before)

    async def retire(self, session: UnusedSession) -> bool:
        id_ = session.session_id
        with self._lock:
            found = self._sessions.get(id_)
            if found is None or id_ in self._active or self._used_at(id_) != session.used_at:
                return False
            if not found.is_over:
                self._sessions[id_] = replace(found, ended_at=session.used_at)
            return True

    async def drop(self, session_id: str) -> None:
        with self._lock:
            found = self._sessions.get(session_id)
            if found is not None and found.is_over:
                self._drop(session_id)

    def _drop(self, session_id: str) -> None:
        del self._sessions[session_id]
        self._summaries.pop(session_id, None)
        self._active.pop(session_id, None)
        for turn in self._runs.pop(session_id):
            del self._turns[turn.run_id]
            self._written.pop(turn.run_id, None)
            for child in [one for one in self._written if one.startswith(f"{turn.run_id}/")]:
                del self._written[child]

    def _used_at(self, session_id: str) -> float:
        session, turns = self._sessions[session_id], self._runs[session_id]
        newest = [turn.run_id for turn in turns if turn.id == turns[-1].id]
        written = (self._written[run_id].at for run_id in newest if run_id in self._written)
        return max(session.created_at, session.ended_at or 0.0, *written)

    def _begin(self, turn: Turn) -> bool:
        """Return whether the run is new in its session; as `begin`."""
        session = self._session(turn.session_id)
        there = self._turns.get(turn.run_id)
        if there is not None and there.session_id != turn.session_id:
            raise foreign_run(turn)
        if there is not None:
            return False
        if session.is_over:
            raise ended_session(turn.session_id)
        if session.agent != turn.agent:
            self._sessions[turn.session_id] = replace(session, agent=turn.agent)
        self._turns[turn.run_id] = turn
        self._runs[turn.session_id].append(turn)
        return True

    def _holder(self, held: tuple[str, str, float], now: float) -> TurnHolder:
        run_id, engine_id, taken_at = held
        is_durable, alive_until = self._engines[engine_id]
        return TurnHolder(
            run_id=run_id,
            engine_id=engine_id,
            age_s=now - taken_at,
            is_durable=is_durable,
            is_alive=now < alive_until,
        )

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise unknown_session(session_id)
        return session

    def _said(self, run_id: str, before: int | None = None) -> _Texts:
        written = self._written.get(run_id)
        if written is None:
            return _Texts((), (), ())
        steps = sorted(written.steps.items())
        return _Texts(
            [text for step, text in steps if before is None or step < before],
            [*written.answers.values()],
            [*written.spoken.values()] if before is None else (),
        )


@dataclass(frozen=True, slots=True)
class _Texts:
    """The messages of a run as text, which is read without the lock."""

    steps: Sequence[str]
    answers: Sequence[str]
    spoken: Sequence[str]

    def messages(self) -> tuple[Message, ...]:
        said = with_answers(_messages(self.steps), answers_of(_messages(self.answers)))
        return (*said, *_messages(self.spoken))


def _messages(texts: Sequence[str]) -> tuple[Message, ...]:
    return tuple(message for text in texts for message in messages_from_text(text))
