"""Sessions, their turns, and the messages of each run.

A turn is a person's message and everything that follows from it. The planning of each run writes its
messages, once per step, no matter how often the step is retried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

from ..planner.messages import Message, ToolAnswer, UserMessage


class SessionError(ToolgenError):
    """A session does not exist, is over, or is not the expected one; the message tells which."""


class UnknownSessionError(SessionError):
    """There is no session with this ID."""

    is_told = True  # a run whose session is in another store reports it


class EndedSessionError(SessionError):
    """The session is over."""


@frozen_record
class Session:
    """A conversation."""

    id: str
    agent: str
    """ID of the agent that has the conversation now."""
    created_at: float
    """Seconds since 1970."""
    ended_at: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.ended_at is not None


@frozen_record
class Turn:
    """A run that belongs to a conversation."""

    id: str
    """ID of the turn; a run that took the conversation over has the ID of the previous run's turn."""
    session_id: str
    run_id: str
    agent: str
    started_at: float


@frozen_record
class RunMessages:
    """The messages of one run, in their order."""

    turn: Turn
    messages: tuple[Message, ...]


@frozen_record
class Summary:
    """A summary of all turns up to and including one turn."""

    text: str
    through: str
    """Run ID of the last turn in the summary."""


@frozen_record
class EngineLease:
    """The lease of an engine: it counts as running until its lease expires without renewal."""

    engine_id: str
    is_durable: bool
    """Whether its runs survive its process, so that its unfinished runs will be resumed."""
    seconds: float


@frozen_record
class TurnHolder:
    """The run that has the turn of a session: no other run can begin before it is over."""

    run_id: str
    engine_id: str
    age_s: float
    """Seconds since it took the turn."""
    is_durable: bool
    """Whether the engine is durable."""
    is_alive: bool
    """Whether the lease of the engine has not expired."""


class SessionStore(Protocol):
    """Stores conversations. Each method is one atomic step, across all processes.

    Data is committed when the method returns. A store in the same file as the runs can commit the data that
    an operation of a run passes to `write`, `answer` and `release` later, but before the end of that
    operation; readers in the same process see the data at once.
    """

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Session:
        """Return the session; create it if it does not exist. An existing session keeps its agent and labels.

        Raises:
            EndedSessionError: it is over.
        """
        ...

    async def get(self, session_id: str) -> Session:
        """Return a session.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def list(
        self, *, state: Literal["open", "ended"] | None = None, after: str = "", limit: int = 100
    ) -> tuple[Session, ...]:
        """Return sessions, newest first; only sessions after `after`, and none if that session is gone."""
        ...

    async def end(self, session_id: str) -> Session:
        """End a session and return it; a session that is over stays unchanged.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def hand_over(self, session_id: str, agent: str) -> None:
        """Hand the conversation over to another agent.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def begin(self, turn: Turn) -> None:
        """Append a run to its session; the run's agent then has the conversation.

        A run that is already in the session keeps its position, even after the end of the session, and
        changes nothing.

        Raises:
            UnknownSessionError: there is no such session.
            EndedSessionError: it is over.
            SessionError: the run belongs to another session.
        """
        ...

    async def take(
        self, turn: Turn, engine: EngineLease, messages: Sequence[Message], *, instead_of: str = ""
    ) -> TurnHolder:
        """Assign the turn of a session to a run if it is free; return the run that holds it.

        The run gets the turn if no run has it, or if the run `instead_of` has it. It is then appended to the
        session as with `begin`, and a new run stores these messages as its step 0. The lease of the engine is
        renewed in any case.

        Raises:
            SessionError: as `begin`.
        """
        ...

    async def holder(self, session_id: str) -> TurnHolder | None:
        """Return the run that has the turn of a session; None if there is none."""
        ...

    async def release(self, session_id: str, run_id: str) -> None:
        """Release the turn of a session that this run holds; no effect if another run holds it."""
        ...

    async def beat(self, engine: EngineLease) -> None:
        """Renew the lease of an engine."""
        ...

    async def leave(self, engine_id: str) -> None:
        """End the lease of an engine."""
        ...

    async def write(
        self, run_id: str, step: int, messages: Sequence[Message], *, message_ids: Sequence[str] = ()
    ) -> None:
        """Store the messages of one step of a run; replaces earlier messages of the step.

        The messages that `speak` stored under `message_ids` are part of the step and no longer listed
        separately.
        """
        ...

    async def speak(self, run_id: str, id: str, message: UserMessage) -> None:
        """Store the message of a person to a running run, after its other messages."""
        ...

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        """Store the result of a call of a run; replaces an earlier result of the call.

        It is part of the run's messages as long as no step has the results of the call's batch. A result that
        a person resolved (`ToolAnswer.resolved_by`) replaces the result in the step even then.
        """
        ...

    async def run_messages(self, run_id: str, *, before: int | None = None) -> tuple[Message, ...]:
        """Return the messages of a run, by step; with `before`, only the messages of earlier steps.

        Messages from `speak` that are in no step come last; with `before`, they are left out. The result is
        empty for a run without messages.
        """
        ...

    async def transcript(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        """Return the runs of a session with their messages, oldest first.

        Args:
            session_id: The session.
            newest: Only the runs of this number of newest turns.
            after: Only the runs after this run; all runs if the session has no such run.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def turns(self, session_id: str, *, limit: int | None = None) -> tuple[Turn, ...]:
        """Return the runs of a session without their messages, oldest first; only the first `limit` runs.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def summary(self, session_id: str) -> Summary | None:
        """Return the newest summary; None if there is none."""
        ...

    async def summarize(self, session_id: str, summary: Summary) -> None:
        """Store a summary; it replaces the previous one.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def forget(self, before: float) -> int:
        """Drop sessions that ended before this time, in seconds since 1970; return their number.

        Their messages are dropped too, and the messages of runs without a session whose newest step was
        written before this time.
        """
        ...

    async def unused(
        self, *, keep: int | None = None, keep_s: float | None = None
    ) -> tuple[UnusedSession, ...]:
        """Return the sessions beyond the retention limits, longest unused first; open and ended ones.

        Args:
            keep: Maximum number of sessions to keep; the most recently used are kept.
            keep_s: Sessions unused for more than this number of seconds are not kept either.
        """
        ...

    async def retire(self, session: UnusedSession) -> bool:
        """End a session as of its last use.

        Returns:
            False if the session does not exist, was used since, or has a run with its turn; it is unchanged
            then.
        """
        ...

    async def drop(self, session_id: str) -> None:
        """Drop a session that is over, with its messages; no effect on a session that is not over."""
        ...

    async def forget_runs(self, run_ids: Sequence[str]) -> None:
        """Drop the messages of the runs that are in no conversation, nor below a run in a conversation.

        For example a run of `one_shot`, or a run that answers a direct call of an agent's tool.
        """
        ...


def newest_turns(newest_first: Iterable[Turn], newest: int | None, after: str) -> tuple[Turn, ...]:
    """Return the runs that `SessionStore.transcript` shows, oldest first.

    It consumes only as many of the session's runs as needed; they are passed newest first.
    """
    shown: list[Turn] = []
    ids: set[str] = set()
    for turn in newest_first:
        ids.add(turn.id)
        if turn.run_id == after or (newest is not None and len(ids) > newest):
            break
        shown.append(turn)
    return tuple(reversed(shown))


def with_those_above(run_id: str) -> list[str]:
    """Return the ID of a run and the possible IDs of the runs above it; a child's ID is `PARENT/…`."""
    parts = run_id.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def unknown_session(session_id: str) -> UnknownSessionError:
    """Return the error for an ID that no session has."""
    return UnknownSessionError(
        f"the session {session_id!r} is not in this store; all processes that share runs must share the "
        "store",
        hint="create the session, or look up its id with list()",
    )


def ended_session(session_id: str) -> EndedSessionError:
    """Return the error for a session that is over."""
    return EndedSessionError(f"the session {session_id!r} has ended", hint="start a session with a new id")


def foreign_run(turn: Turn) -> SessionError:
    """Return the error for a run that belongs to another session, without naming that session."""
    return SessionError(
        f"the run {turn.run_id!r} does not belong to the session {turn.session_id!r}",
        hint="give each run an id of its own",
    )


def check_ids(*ids: str) -> None:
    """Raise for IDs that cannot be stored in a file.

    Raises:
        SessionError: an ID contains a lone surrogate.
    """
    for id_ in ids:
        try:
            id_.encode()
        except UnicodeEncodeError as error:
            raise SessionError(
                f"the id {id_!r} holds a lone surrogate", hint="use ids that UTF-8 can encode"
            ) from error


@frozen_record
class UnusedSession:
    """A session beyond the retention limits."""

    session_id: str
    used_at: float
    """Time of its last use, in seconds since 1970.

    It is the latest of the times of its creation, its end, and the newest data of its newest turn.
    """


def beyond_retention(
    used: Iterable[tuple[str, float]], keep: int | None, before: float | None
) -> tuple[UnusedSession, ...]:
    """Return the sessions beyond the retention limits, longest unused first.

    Args:
        used: The sessions in order of creation, each with the time of its last use.
        keep: Maximum number of sessions to keep; the most recently used are kept.
        before: Sessions last used before this time, in seconds since 1970, are not kept either.
    """
    oldest = sorted(used, key=lambda session: session[1])
    many = 0 if keep is None else len(oldest) - keep
    return tuple(
        UnusedSession(session_id=session_id, used_at=at)
        for place, (session_id, at) in enumerate(oldest)
        if place < many or (before is not None and at < before)
    )
