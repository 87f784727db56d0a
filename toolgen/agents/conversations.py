"""The sessions of a runtime for hosts, which read and end them; runs write to the store directly."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from toolgen.engines import UnknownRunError

from .planner.messages import Message
from .runs import SESSION_ENDED, AgentRuns
from .sessions.sessions import RunMessages, Session, SessionStore, Summary, Turn
from .transcripts import Transcripts


class Sessions:
    """The conversations with the agents of a runtime."""

    def __init__(self, store: SessionStore, runs: AgentRuns, transcripts: Transcripts) -> None:
        self._store = store
        self._runs = runs
        self._transcripts = transcripts

    async def get(self, session_id: str) -> Session:
        """Return a session.

        Raises:
            UnknownSessionError: there is no such session.
        """
        return await self._store.get(session_id)

    async def list(
        self, *, state: Literal["open", "ended"] | None = None, after: str = "", limit: int = 100
    ) -> tuple[Session, ...]:
        """Return sessions, the newest first; as `SessionStore.list`."""
        return await self._store.list(state=state, after=after, limit=limit)

    async def end(self, session_id: str) -> Session:
        """End a session, cancel the run that has its turn, and return the session.

        Nothing can begin in it any more. If runs are in a file, the run is canceled no matter which process
        executes it. A run of an engine that this process does not have continues to its end.

        Calls that still wait in the session, for example work that an earlier turn left pending, accept no
        answer any more (`LateAnswerError`): each is withdrawn, or waits until its time is over. The result of
        an answer that was accepted before is stored in the conversation, and opens no turn.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ended = await self._store.end(session_id)
        holder = await self._store.holder(session_id)
        if holder is not None:
            with suppress(UnknownRunError):
                await self._runs.cancel(holder.run_id, SESSION_ENDED)
        return ended

    async def transcript(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        """Return the runs of a session with their messages, oldest first; as `SessionStore.transcript`.

        Every call of a finished run has a result. In a canceled run, it is the result in the log, or an
        unknown outcome if the run was forgotten or lost with its journal.
        """
        return await self._transcripts.of_session(session_id, newest=newest, after=after)

    async def turns(self, session_id: str, *, limit: int | None = None) -> tuple[Turn, ...]:
        """Return the runs of a session without their messages, oldest first; only the first `limit` runs.

        Raises:
            UnknownSessionError: there is no such session.
        """
        return await self._store.turns(session_id, limit=limit)

    async def run_messages(self, run_id: str) -> tuple[Message, ...]:
        """Return the messages of a run in the form of `transcript`; empty for a run without messages."""
        return await self._transcripts.of_run(run_id)

    async def summary(self, session_id: str) -> Summary | None:
        """Return the newest summary; None if there is none."""
        return await self._store.summary(session_id)

    async def forget(self, before: float) -> int:
        """Drop sessions that ended before this time, in seconds since 1970; as `SessionStore.forget`."""
        return await self._store.forget(before)
