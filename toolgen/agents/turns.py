"""The turns of sessions: one of a session goes on at a time, over all processes that have the store.

The store names the run that has the turn, and its engine. Engines say now and then that they are at work;
nothing is said for each run.
"""

from __future__ import annotations

import asyncio
from typing import Final

from toolgen.contract.tasks import start_task
from toolgen.runtime.call.failures import log
from toolgen.runtime.engine import Engine, UnknownRunError
from toolgen.runtime.waiting.loop import TURN_FREE

from .loop.documents import RunFacts
from .planner.messages import UserMessage
from .sessions.sessions import EngineLease, SessionError, SessionStore, Turn, TurnHolder

LEASE_S: Final = 15.0
"""After which an engine that said nothing is taken to be gone."""
BEAT_S: Final = 5.0
"""Between two beats of an engine that has turns."""
START_S: Final = 10.0
"""In which a run that took a turn is known to its engine, or its start has failed."""


class SessionBusyError(SessionError):
    """Another run of the session is not over."""

    def __init__(self, run_id: str, session_id: str) -> None:
        super().__init__(
            f"run {run_id!r} of session {session_id!r} is not over",
            hint="answer what it waits for, interrupt it, or cancel it",
        )
        self.run_id = run_id
        """Of the run that is not over."""


class Turns:
    """Takes turns for the runs of one engine, and gives them back."""

    def __init__(self, engine: Engine, sessions: SessionStore) -> None:
        self._engine = engine
        self._sessions = sessions
        self._active: set[str] = set()
        """Runs that took a turn and are not over; those of a durable engine keep it without."""
        self._held: set[asyncio.Task[None]] = set()
        self._releases: dict[str, asyncio.Task[None]] = {}
        """By session, the newest."""
        self._beating: asyncio.Task[None] | None = None
        self._queues: dict[str, dict[str, None]] = {}
        """By session, the runs whose results wait for a turn of it, in order."""

    async def take(self, turn: Turn, message: UserMessage) -> None:
        """Take the turn of a session for a run and store its first message; idempotent.

        Raises:
            SessionBusyError: another run has it.
            SessionError: the session is over, or the run is that of another one.
        """
        await self.settled(turn.session_id)
        sessions, lease = self._sessions, self._lease()
        held = await sessions.take(turn, lease, [message])
        while held.run_id != turn.run_id:
            if not await self.is_over(held):
                raise SessionBusyError(held.run_id, turn.session_id)
            held = await sessions.take(turn, lease, [message], instead_of=held.run_id)
        if not self._engine.caps.is_durable:
            self._active.add(turn.run_id)
            self._begin_to_beat()

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
        """Return whether no result waits for a turn of the session longer than that of this run."""
        for earlier in tuple(self._queues.get(session_id, ())):
            if earlier == run_id:
                return True
            if await self._waits_on(session_id, earlier):
                return False
        return True

    def enqueue(self, session_id: str, run_id: str) -> None:
        """Let a run hear when it may take the turn of a busy session; it keeps its place."""
        self._queues.setdefault(session_id, {}).setdefault(run_id)

    def leave(self, session_id: str, run_id: str) -> None:
        """Take a run from the queue of a session."""
        queue = self._queues.get(session_id, {})
        queue.pop(run_id, None)
        if not queue:
            self._queues.pop(session_id, None)

    async def settled(self, session_id: str) -> None:
        """Wait until the store has the released turns of a session."""
        if (task := self._releases.get(session_id)) is not None:
            await asyncio.wait([task])

    async def open(self) -> None:
        """Start renewing the lease of the engine, where it holds turns."""
        if self._active:
            await self._sessions.beat(self._lease())
            self._begin_to_beat()

    async def close(self) -> None:
        """Release the turns of finished runs, and end the lease of the engine."""
        beating, self._beating = self._beating, None
        if beating is None and not self._held:
            return
        ending = set(self._held)
        if beating is not None and beating.cancel():
            ending.add(beating)
        if ending:
            await asyncio.wait(ending)
        if not self._engine.caps.is_durable:
            try:
                await self._sessions.leave(self._engine.id)
            except Exception:  # such as a store that was closed before
                log.warning(
                    "the turns of engine %s are released when its lease expires",
                    self._engine.id,
                    exc_info=True,
                )

    async def is_over(self, held: TurnHolder) -> bool:
        """Return whether a run is over, or lost with an engine that is gone and keeps no runs."""
        if held.engine_id != self._engine.id:
            return not held.is_durable and not held.is_alive
        try:
            return (await self._engine.status(held.run_id)).is_over
        except UnknownRunError:
            return held.age_s > START_S

    def _lease(self) -> EngineLease:
        engine = self._engine
        return EngineLease(engine_id=engine.id, is_durable=engine.caps.is_durable, seconds=LEASE_S)

    async def _release(self, session_id: str, run_id: str) -> None:
        try:
            await self._sessions.release(session_id, run_id)
        except Exception:  # its engine says that the run is over
            log.warning("the turn of run %s was not released", run_id, exc_info=True)
        try:
            await self._signal_next(session_id, run_id)
        except Exception:  # it looks again by itself
            log.warning("session %s is free, and who waits was not told", session_id, exc_info=True)

    async def _signal_next(self, session_id: str, ended: str) -> None:
        """Tell the first run in the queue of a session that the turn of another one has ended."""
        for waiting in tuple(self._queues.get(session_id, ())):
            if await self._waits_on(session_id, waiting):
                await self._engine.signal(waiting, TURN_FREE, None, signal_id=f"{TURN_FREE}:{ended}")
                return

    async def _waits_on(self, session_id: str, run_id: str) -> bool:
        """Return whether a run in the queue is not over; one that is leaves it."""
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

    def _begin_to_beat(self) -> None:
        if self._beating is None or self._beating.done():
            self._beating = asyncio.get_running_loop().create_task(self._beat(), name="beat")

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            if not self._active:
                return
            try:
                await self._sessions.beat(self._lease())
            except Exception:
                log.exception("the lease of engine %s was not renewed", self._engine.id)
