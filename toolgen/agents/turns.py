"""The turns of sessions: one turn of a session runs at a time, across all processes that share the store.

The store has the run that holds the turn, and its engine. An engine renews one lease for all its runs.
"""

from __future__ import annotations

import asyncio
from typing import Final, Literal

from toolgen.calls.steps.failures import log
from toolgen.contract.tasks import start_task
from toolgen.engines import Engine, UnknownRunError
from toolgen.waiting.later_turns import TURN_FREE

from .loop.documents import RunFacts
from .planner.messages import AssistantMessage, UserMessage
from .sessions.rows import answers_of
from .sessions.sessions import (
    EngineLease,
    SessionError,
    SessionStore,
    Turn,
    TurnHolder,
    UnknownSessionError,
    ended_session,
)
from .transcripts import lost_run_message, unknown_outcome_answer

LEASE_S: Final = 15.0
"""Seconds after which an engine without a heartbeat counts as gone."""
BEAT_S: Final = 5.0
"""Seconds between two heartbeats of an engine that holds turns."""
START_S: Final = 10.0
"""Seconds after which a run that took a turn but is unknown to its engine counts as failed to start."""
_GONE: Final = "gone"
"""ID of the message in the conversation of a run that is gone."""


class SessionBusyError(SessionError):
    """Another run of the session is not over."""

    def __init__(self, run_id: str, session_id: str, *, elsewhere: str = "") -> None:
        """Construct the error; `elsewhere` is the engine that has the run, if it is another engine."""
        hint = "answer its question, interrupt it, or cancel it"
        if elsewhere:
            hint += f"; if its engine {elsewhere} is lost: toolgen runs release --session {session_id}"
        super().__init__(f"run {run_id!r} of session {session_id!r} is not over", hint=hint)
        self.run_id = run_id
        """ID of the run that is not over."""


class Turns:
    """Takes turns for the runs of one engine, and releases them."""

    def __init__(self, engine: Engine, sessions: SessionStore) -> None:
        self._engine = engine
        self._sessions = sessions
        self._active: set[str] = set()
        """Runs that took a turn and are not over; empty for durable engines, whose runs need no heartbeat."""
        self._held: set[asyncio.Task[None]] = set()
        self._releases: dict[str, asyncio.Task[None]] = {}
        """Newest release task by session."""
        self._heartbeat: asyncio.Task[None] | None = None
        self._queues: dict[str, dict[str, None]] = {}
        """Runs by session whose results wait for a turn of the session, in order."""

    async def take(self, turn: Turn, message: UserMessage) -> None:
        """Take the turn of a session for a run and store its first message; idempotent.

        Raises:
            SessionBusyError: another run has the turn.
            SessionError: the session is over, or the run belongs to another session.
        """
        await self.settled(turn.session_id)
        sessions, lease = self._sessions, self._lease()
        holder = await sessions.take(turn, lease, [message])
        while holder.run_id != turn.run_id:
            match await self.fate(holder):
                case "open":
                    raise self.busy(holder, turn.session_id)
                case "gone":
                    await self.record_lost_run(holder.run_id)
            holder = await sessions.take(turn, lease, [message], instead_of=holder.run_id)
        if not self._engine.caps.is_durable:
            self._active.add(turn.run_id)
            self._start_heartbeat()

    async def require_free(self, session_id: str, run_id: str) -> None:
        """Raise if a run could not take the turn of a session now; the turn may still be taken later.

        Raises:
            SessionBusyError: another run has the turn.
            EndedSessionError: the session is over.
        """
        try:
            is_over = (await self._sessions.get(session_id)).is_over
        except UnknownSessionError:
            return
        if is_over:
            raise ended_session(session_id)
        await self.settled(session_id)
        holder = await self._sessions.holder(session_id)
        if holder is not None and holder.run_id != run_id and await self.fate(holder) == "open":
            raise self.busy(holder, session_id)

    def release(self, run_id: str, facts: RunFacts) -> None:
        """Release the turn of a finished run in the background."""
        if not facts["in_conversation"] or facts["parent"] is not None:
            return
        self._active.discard(run_id)
        session_id = facts["session_id"]
        task = start_task(self._held, self._release(session_id, run_id), name=f"release {session_id}")
        self._releases[session_id] = task
        task.add_done_callback(lambda _: self._drop(session_id, task))

    async def is_next(self, session_id: str, run_id: str) -> bool:
        """Return whether no other result has waited longer for the session's turn than this run's."""
        for earlier in tuple(self._queues.get(session_id, ())):
            if earlier == run_id:
                return True
            if await self._waits_on(session_id, earlier):
                return False
        return True

    def enqueue(self, session_id: str, run_id: str) -> None:
        """Queue a run to be notified when it can take the turn of a busy session; it keeps its position."""
        self._queues.setdefault(session_id, {}).setdefault(run_id)

    def leave(self, session_id: str, run_id: str) -> None:
        """Remove a run from the queue of a session."""
        queue = self._queues.get(session_id, {})
        queue.pop(run_id, None)
        if not queue:
            self._queues.pop(session_id, None)

    async def settled(self, session_id: str) -> None:
        """Wait until the store has recorded the newest release of a session's turn."""
        if (task := self._releases.get(session_id)) is not None:
            await asyncio.wait([task])

    async def open(self) -> None:
        """Start renewing the lease of the engine, if it holds turns."""
        if self._active:
            await self._sessions.beat(self._lease())
            self._start_heartbeat()

    async def close(self) -> None:
        """Release the turns of finished runs, and end the lease of the engine."""
        heartbeat, self._heartbeat = self._heartbeat, None
        if heartbeat is None and not self._held:
            return
        ending = set(self._held)
        if heartbeat is not None and heartbeat.cancel():
            ending.add(heartbeat)
        if ending:
            await asyncio.wait(ending)
        if not self._engine.caps.is_durable:
            try:
                await self._sessions.leave(self._engine.id)
            except Exception:  # noqa: BLE001 - logged; the store may be closed already; the lease expires
                log.warning(
                    "the turns of engine %s are released when its lease expires",
                    self._engine.id,
                    exc_info=True,
                )

    async def fate(self, holder: TurnHolder) -> Literal["open", "over", "gone"]:
        """Return the state of a run that has a turn.

        `gone` means that its engine no longer has the run, or that it was lost with a non-durable engine.
        """
        if not self.is_ours(holder):
            return "open" if holder.is_durable or holder.is_alive else "gone"
        try:
            return "over" if (await self._engine.status(holder.run_id)).is_over else "open"
        except UnknownRunError:
            return "gone" if holder.age_s > START_S else "open"

    def busy(self, holder: TurnHolder, session_id: str) -> SessionBusyError:
        """Return the error for a session whose turn is held by an unfinished run."""
        elsewhere = "" if self.is_ours(holder) else holder.engine_id
        return SessionBusyError(holder.run_id, session_id, elsewhere=elsewhere)

    def is_ours(self, holder: TurnHolder) -> bool:
        """Return whether a run that has a turn belongs to this engine."""
        return holder.engine_id == self._engine.id

    async def record_lost_run(self, run_id: str) -> None:
        """Settle the calls of a lost run in its conversation, with a message about the loss; idempotent."""
        messages = await self._sessions.run_messages(run_id)
        newest = messages[-1] if messages else None
        if isinstance(newest, AssistantMessage) and not newest.calls:
            return  # it reached its end, and was forgotten since
        answers = answers_of(messages)
        calls = (
            call for message in messages if isinstance(message, AssistantMessage) for call in message.calls
        )
        for call in calls:
            if call.id not in answers:
                await self._sessions.answer(run_id, unknown_outcome_answer(call))
        await self._sessions.speak(run_id, _GONE, lost_run_message())

    def _lease(self) -> EngineLease:
        engine = self._engine
        return EngineLease(engine_id=engine.id, is_durable=engine.caps.is_durable, seconds=LEASE_S)

    async def _release(self, session_id: str, run_id: str) -> None:
        try:
            await self._sessions.release(session_id, run_id)
        except Exception:  # noqa: BLE001 - logged; its engine reports that the run is over
            log.warning("the turn of run %s was not released", run_id, exc_info=True)
        try:
            await self._signal_next(session_id, run_id)
        except Exception:  # noqa: BLE001 - logged; the next run checks again by itself
            log.warning("session %s is free, but waiting turns were not notified", session_id, exc_info=True)

    async def _signal_next(self, session_id: str, ended: str) -> None:
        """Notify the first run in the queue of a session that the turn of another run has ended."""
        for waiting in tuple(self._queues.get(session_id, ())):
            if await self._waits_on(session_id, waiting):
                await self._engine.signal(waiting, TURN_FREE, None, signal_id=f"{TURN_FREE}:{ended}")
                return

    async def _waits_on(self, session_id: str, run_id: str) -> bool:
        """Return whether a run in the queue is not over; remove it from the queue otherwise."""
        try:
            is_over = (await self._engine.status(run_id)).is_over
        except UnknownRunError:
            is_over = True
        if is_over:
            self.leave(session_id, run_id)
        return not is_over

    def _drop(self, session_id: str, task: asyncio.Task[None]) -> None:
        if self._releases.get(session_id) is task:
            del self._releases[session_id]

    def _start_heartbeat(self) -> None:
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.get_running_loop().create_task(self._renew_lease(), name="beat")

    async def _renew_lease(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            if not self._active:
                return
            try:
                await self._sessions.beat(self._lease())
            except Exception:  # noqa: BLE001 - logged; the next heartbeat tries again
                log.exception("the lease of engine %s was not renewed", self._engine.id)
