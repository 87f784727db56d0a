"""The client of an episode: it leads conversations, answers what is asked, and delivers what was ordered.

It may be killed at any time and begins again from the start then: starting a run that was started, and an
answer that was given, are the same again. What it decides is made of its seed and of the call.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Final, TypeVar

from toolgen.agents import (
    AssistantMessage,
    EndedSessionError,
    RunHandle,
    RunPolicy,
    SessionBusyError,
    UnknownSessionError,
    agents_of,
)
from toolgen.engines import EngineError, UnknownRunError
from toolgen.runtime import CallMeta, Runtime, Suspended
from toolgen.stores import StoreError
from toolgen.waiting.errors import LateAnswerError, SuspensionError

from .agents import TOP
from .ledger import Ledger
from .plans import Conversation, Turn

T = TypeVar("T")
_PAUSE_S: Final = 0.05
_PATIENCE_S: Final = 30.0
"""For what has to come by itself; after that the checker says that it did not."""
_END_S: Final = 0.05
"""Into the last turn of a session that ends in the middle."""


class Client:
    """Leads conversations to their ends."""

    def __init__(self, runtime: Runtime, ledger: Ledger, seed: int) -> None:
        self._runtime, self._ledger, self._seed = runtime, ledger, seed
        self._agents = agents_of(runtime)

    async def lead(self, conversations: Sequence[Conversation]) -> None:
        """Return when all turns, and those that deliveries open, are over."""
        async with asyncio.TaskGroup() as group:
            for one in conversations:
                group.create_task(self._converse(one))
                group.create_task(self._call(one))
        sessions = [name for one in conversations for name in (one.session, one.beside)]
        await _within_patience(lambda: self._is_all_over(sessions))

    async def _converse(self, conversation: Conversation) -> None:
        session = conversation.session
        with suppress(EndedSessionError):
            for turn in conversation.turns:
                handle = await self._started(turn, session)
                is_last = turn is conversation.turns[-1]
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._led(handle, turn))
                    if is_last and conversation.is_ended:
                        group.create_task(self._end(session))
        await self._delivered(session)

    async def _call(self, conversation: Conversation) -> None:
        """Make calls that no agent makes, and answer those that wait, of a life before too."""
        for tool, arguments in conversation.calls:
            meta = CallMeta(session_id=conversation.beside, tool_call_id=f"{tool}-{uuid.uuid4().hex}")
            await _patiently(partial(self._runtime.call, tool, arguments, meta))
        await self._delivered(conversation.beside)

    async def _started(self, turn: Turn, session: str) -> RunHandle:
        """Start a turn once the session has room for it.

        Raises:
            EndedSessionError: the session was ended by a life before.
        """
        policy = None if turn.time_budget_s is None else RunPolicy(time_budget=turn.time_budget_s)
        self._ledger.write("starting", run=turn.run_id, session=session)

        async def start() -> RunHandle:
            while True:
                try:
                    return await self._agents.client(TOP).start(
                        turn.message, session_id=session, run_id=turn.run_id, policy=policy
                    )
                except SessionBusyError:
                    await asyncio.sleep(_PAUSE_S)

        handle = await _patiently(start)
        self._ledger.write("started", run=turn.run_id, session=session)
        return handle

    async def _led(self, handle: RunHandle, turn: Turn) -> None:
        canceling = asyncio.create_task(self._cancel(handle, turn))
        while (output := await _patiently(handle.settled)).status == "waiting":
            await asyncio.gather(*(self._answer(asked, output.session_id) for asked in output.awaiting))
        canceling.cancel()

    async def _cancel(self, handle: RunHandle, turn: Turn) -> None:
        if turn.cancel_after_s is not None:
            await asyncio.sleep(turn.cancel_after_s)
            self._ledger.write("canceling", run=handle.run_id)
            await _patiently(lambda: handle.cancel("the person has had enough"))

    async def _end(self, session: str) -> None:
        await asyncio.sleep(_END_S)
        self._ledger.write("ended", session=session)
        with suppress(EndedSessionError, UnknownSessionError):  # an older file may not have it
            await _patiently(lambda: self._agents.sessions.end(session))

    async def _delivered(self, session: str) -> None:
        """Answer what still waits in a session, and return when each delivery was heard there."""
        while await self._answer_all(session):
            pass
        answered = (entry for entry in self._ledger.read() if entry.kind == "answered")
        ordered = {
            f"{entry.run}/done:{entry.call}"
            for entry in answered
            if (entry.session, entry.tool) == (session, "order")
        }
        await _within_patience(lambda: self._is_heard(session, ordered))

    async def _is_heard(self, session: str, ordered: Collection[str]) -> bool:
        """Return whether these turns, which tell of orders, are over, or none can begin any more."""
        try:
            if (await self._agents.sessions.get(session)).is_over:
                return True
        except UnknownSessionError:
            return not ordered
        said = await self._agents.sessions.transcript(session)
        over = {one.turn.run_id for one in said if isinstance(one.messages[-1], AssistantMessage)}
        return over.issuperset(ordered)

    async def _answer_all(self, session: str) -> bool:
        """Answer what waits in a session, and return whether anything did."""
        waiting = await _patiently(lambda: self._runtime.suspensions.list(session))
        await asyncio.gather(*(self._answer(asked, session) for asked in waiting))
        return bool(waiting)

    async def _is_all_over(self, sessions: Iterable[str]) -> bool:
        """Return whether no run goes on; a Temporal server may be late to list one, so ask again."""
        for session in sessions:
            await self._answer_all(session)
        assert self._runtime.engine is not None
        return all(status.is_over for status in await self._runtime.engine.list_runs(limit=100_000))

    async def _answer(self, asked: Suspended, session: str) -> None:
        """Answer a call, and sometimes say two things at once, of which one counts."""
        chance = Random(f"{self._seed}/{asked.tool_call_id}/{asked.id}")
        where: dict[str, Any] = {
            "run": _run_of(asked),
            "session": session,
            "call": asked.tool_call_id,
            "tool": asked.tool.rpartition(".")[2],
            "wait": asked.id,
        }
        self._ledger.write("shown", **where, arguments=dict(asked.arguments))
        answers = [_answer_of(asked, chance) for _ in range(1 if chance.random() < 0.8 else 2)]
        await asyncio.gather(*(self._say(asked.token, where, answer) for answer in answers))

    async def _say(self, token: str, where: dict[str, Any], answer: Any) -> None:
        async def deliver() -> str:
            return (await self._runtime.suspensions.answer(token, answer, by="jo", wait_s=1.0)).status

        self._ledger.write("answering", **where, answer=answer)
        try:
            status = await _patiently(deliver)
        except (SuspensionError, UnknownRunError) as error:
            self._ledger.write("refused", **where, answer=answer, error=type(error).__name__)
            if isinstance(error, LateAnswerError):  # of an ended session, it waits until it is taken back
                with suppress(SuspensionError, UnknownRunError):
                    await _patiently(lambda: self._runtime.suspensions.cancel(token, "nobody hears of it"))
        else:
            self._ledger.write("answered", **where, answer=answer, status=status)


def _run_of(asked: Suspended) -> str:
    """Return the run of an agent that has made a call, or "" where a client made it."""
    run_id = asked.run_id.partition("/work:")[0]
    return "" if run_id.startswith("call_") and "/" not in run_id else run_id


def _answer_of(asked: Suspended, chance: Random) -> Any:
    match asked.kind:
        case "confirmation":
            return {"approved": chance.random() < 0.75}
        case "pending":
            return f"delivery {chance.randrange(1000)}" if chance.random() < 0.85 else {"error": "it broke"}
        case _:
            return f"person {chance.randrange(1000)}"


async def _patiently(step: Callable[[], Awaitable[T]]) -> T:
    """Do something as often as it takes while servers are away, and a worker is dead."""
    while True:
        try:
            return await step()
        except (SuspensionError, UnknownRunError):
            raise
        except (StoreError, EngineError, ConnectionError):
            await asyncio.sleep(_PAUSE_S)


async def _within_patience(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Return when something holds, or when it took too long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            while not await _patiently(is_so):  # noqa: ASYNC110  # another process brings it about
                await asyncio.sleep(_PAUSE_S)
