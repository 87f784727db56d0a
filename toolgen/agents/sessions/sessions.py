"""Sessions, their turns, and the messages of each run.

A turn is what a person says and all that follows from it. Its messages are written by the planning of each
run, once for a step however often the step is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

from ..planner.messages import Message, ToolAnswer, UserMessage


class SessionError(ToolgenError):
    """A session does not exist, is over, or is not the expected one; the message says which."""


class UnknownSessionError(SessionError):
    """No session has this id."""

    is_told = True  # a run whose session is in another store has to say so


class EndedSessionError(SessionError):
    """The session is over."""


@frozen_record
class Session:
    """A conversation."""

    id: str
    agent: str
    """Id of the agent that has the conversation now."""
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
    """Id of the turn; a run that another one handed the conversation to has the same."""
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
    """A summary of the turns up to one."""

    text: str
    through: str
    """Run id of the last turn in it."""


@frozen_record
class EngineLease:
    """The time until which an engine counts as running unless it renews the lease."""

    engine_id: str
    is_durable: bool
    """Its runs survive its process, so that a run of it that is not over goes on some day."""
    seconds: float


@frozen_record
class TurnHolder:
    """The run that has the turn of a session: no other one may begin before it is over."""

    run_id: str
    engine_id: str
    age_s: float
    """Seconds since it took the turn."""
    is_durable: bool
    """Whether the engine is durable."""
    is_alive: bool
    """The lease of the engine is not over."""


class SessionStore(Protocol):
    """Keeps conversations. Each method is one atomic step, over all processes.

    What it was given is committed when the method returns. A store in the file of the runs may commit what
    `write`, `answer` and `release` were given by an operation of a run later, but never after the end of that
    operation; whoever reads in the same process sees it at once.
    """

    async def create(self, session_id: str, agent: str, labels: Mapping[str, str] | None = None) -> Session:
        """Return the session, made now unless it is there; its agent and labels stay then.

        Raises:
            EndedSessionError: it is over.
        """
        ...

    async def get(self, session_id: str) -> Session:
        """Return a session.

        Raises:
            UnknownSessionError: there is none.
        """
        ...

    async def list(
        self, *, state: Literal["open", "ended"] | None = None, after: str = "", limit: int = 100
    ) -> tuple[Session, ...]:
        """Return sessions, the newest first; those after `after`; none where that one is gone."""
        ...

    async def end(self, session_id: str) -> Session:
        """End a session and return it; one that is over stays as it is.

        Raises:
            UnknownSessionError: there is none.
        """
        ...

    async def hand_over(self, session_id: str, agent: str) -> None:
        """Give the conversation to another agent.

        Raises:
            UnknownSessionError: there is none.
        """
        ...

    async def begin(self, turn: Turn) -> None:
        """Add a run to its session, at the end; its agent has the conversation then.

        A run that is there stays where it is, even after the end of the session, and changes nothing.

        Raises:
            UnknownSessionError: there is no such session.
            EndedSessionError: it is over.
            SessionError: the run belongs to another session.
        """
        ...

    async def take(
        self, turn: Turn, engine: EngineLease, messages: Sequence[Message], *, instead_of: str = ""
    ) -> TurnHolder:
        """Give the turn of a session to a run if it is free; return the run that holds it.

        The run gets it where no other one has it, or the one to be replaced does. It is then added to the
        session as by `begin`, and what is new of it keeps these messages as its step 0. The lease of the
        engine is renewed in any case.

        Raises:
            SessionError: as `begin`.
        """
        ...

    async def holder(self, session_id: str) -> TurnHolder | None:
        """Return the run that has the turn of a session; None where none has it."""
        ...

    async def release(self, session_id: str, run_id: str) -> None:
        """Release the turn of a session that this run holds; no effect where another run holds it."""
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
        """Store the messages of one step of a run; replaces earlier ones of the step.

        What was spoken into the run under `message_ids` is in the step, and no more beside it.
        """
        ...

    async def speak(self, run_id: str, id: str, message: UserMessage) -> None:
        """Store the message of a person to a running run, after its other messages."""
        ...

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        """Store the result of a call of a run, in the place of the one stored before.

        It is among what was said for as long as no step has the results of the call's batch; a result that
        a person has resolved (`ToolAnswer.resolved_by`) also then, in the place of the one in the step.
        """
        ...

    async def run_messages(self, run_id: str, *, before: int | None = None) -> tuple[Message, ...]:
        """Return the messages of a run, by step; with `before`, only those of earlier steps.

        What was spoken into it and is in no step comes last, or not at all with `before`. The result is
        empty for a run that nobody wrote of.
        """
        ...

    async def transcript(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        """Return the runs of a session with their messages, oldest first.

        Args:
            session_id: The session.
            newest: Only the runs of so many turns, the newest ones.
            after: Only the runs after this one; all of them where the session has no such run.

        Raises:
            UnknownSessionError: there is none.
        """
        ...

    async def turns(self, session_id: str, *, limit: int | None = None) -> tuple[Turn, ...]:
        """Return the runs of a session without their messages, oldest first; the first ones with `limit`.

        Raises:
            UnknownSessionError: there is none.
        """
        ...

    async def summary(self, session_id: str) -> Summary | None:
        """Return the newest summary; None where there is none."""
        ...

    async def summarize(self, session_id: str, summary: Summary) -> None:
        """Store a summary in the place of the previous one.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def forget(self, before: float) -> int:
        """Drop sessions that ended before this second since 1970, with their messages; return how many.

        What was said in runs of no session goes too, where the run's newest step was written before it.
        """
        ...

    async def unused(
        self, *, keep: int | None = None, keep_s: float | None = None
    ) -> tuple[UnusedSession, ...]:
        """Return the sessions that are not to be kept, the longest unused first; open and ended ones.

        Args:
            keep: All but so many are not kept, those that were used last.
            keep_s: Those not used for so many seconds are not kept either.
        """
        ...

    async def retire(self, session: UnusedSession) -> bool:
        """End a session as of its last use.

        Returns:
            False where it is not there, was used since, or a run has its turn; it stays as it is then.
        """
        ...

    async def drop(self, session_id: str) -> None:
        """Drop a session that is over, with its messages; no effect on a session that is not over."""
        ...

    async def forget_runs(self, run_ids: Sequence[str]) -> None:
        """Drop what was said in those of the runs that are in no conversation, nor below a run of one.

        Such as a run of `one_shot`, and one that answers a direct call of an agent's tool.
        """
        ...


def newest_turns(newest_first: Iterable[Turn], newest: int | None, after: str) -> tuple[Turn, ...]:
    """Return the runs that `SessionStore.transcript` shows, oldest first.

    It takes no more of the runs of the session than it has to, which come the newest first.
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
    """Return the id of a run and those that the runs above it may have; a child's is `PARENT/…`."""
    parts = run_id.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def unknown_session(session_id: str) -> UnknownSessionError:
    """Return the error of an id that no session has."""
    return UnknownSessionError(
        f"the session {session_id!r} is not in this store; all processes that share runs must share the "
        "store",
        hint="create the session, or look up its id with list()",
    )


def ended_session(session_id: str) -> EndedSessionError:
    """Return the error of a session that is over."""
    return EndedSessionError(f"the session {session_id!r} has ended", hint="start a session with a new id")


def foreign_run(turn: Turn) -> SessionError:
    """Return the error of a turn whose run belongs to another session, without naming that session."""
    return SessionError(
        f"the run {turn.run_id!r} does not belong to the session {turn.session_id!r}",
        hint="give each run an id of its own",
    )


def check_ids(*ids: str) -> None:
    """Refuse ids that a file could not hold.

    Raises:
        SessionError: one holds a lone surrogate.
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
    """A session that is not to be kept."""

    session_id: str
    used_at: float
    """Time of its creation, its end, or the newest data of its newest turn, whichever is latest; in seconds
    since 1970.
    """


def not_kept(
    used: Iterable[tuple[str, float]], keep: int | None, before: float | None
) -> tuple[UnusedSession, ...]:
    """Return the sessions that are not to be kept, the longest unused first.

    Args:
        used: The sessions, in the order in which they were created, with the time of their last use.
        keep: All but so many are not kept, those that were used last.
        before: Those last used before are not kept either, in seconds since 1970.
    """
    oldest = sorted(used, key=lambda session: session[1])
    many = 0 if keep is None else len(oldest) - keep
    return tuple(
        UnusedSession(session_id=session_id, used_at=at)
        for place, (session_id, at) in enumerate(oldest)
        if place < many or (before is not None and at < before)
    )
