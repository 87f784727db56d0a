"""Conversations in which every call has a result and every result has a call.

This also holds for conversations whose run was ended in the middle of a batch, or whose store lost messages.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from toolgen.calls.documents.results import result_text
from toolgen.calls.steps.failures import log
from toolgen.engines import Engine, EngineError, UnknownRunError
from toolgen.waiting.loop import UNKNOWN

from .loop.documents import RunFacts
from .planner.messages import AssistantMessage, Message, PlannedCall, ToolAnswer, ToolMessage, UserMessage
from .recent_runs import MOST_RUNS, RecentRuns
from .sessions.rows import answers_of
from .sessions.sessions import RunMessages, SessionStore

_Ends = Mapping[str, Mapping[str, Any]]
"""The `tool_end` events of a run, by call ID."""


class Transcripts:
    """Reads conversations from a store.

    A canceled run writes nothing any more, so results that are missing in the store are taken from its log.
    They are not stored: a result that a person resolves later is stored, and takes precedence. Replacements
    for calls that the store lost are not stored either.
    """

    def __init__(self, store: SessionStore, engine: Engine) -> None:
        self._store = store
        self._engine = engine
        self._ends: RecentRuns[_Ends] = RecentRuns(MOST_RUNS)
        """Results of runs that are over."""

    async def of_session(
        self, session_id: str, *, newest: int | None = None, after: str = ""
    ) -> tuple[RunMessages, ...]:
        """Return the runs of a session with their messages, oldest first; as `SessionStore.transcript`."""
        runs = await self._store.transcript(session_id, newest=newest, after=after)
        return tuple(
            [
                run
                if _is_complete(run.messages)
                else replace(run, messages=await self._complete(run.turn.run_id, run.messages, session_id))
                for run in runs
            ]
        )

    async def of_conversation(self, facts: RunFacts) -> tuple[Message, ...]:
        """Return all messages of the session that a run is a part of; empty for a run without a session."""
        if not facts["in_conversation"] or not facts["session_id"]:
            return ()
        runs = await self.of_session(facts["session_id"])
        return tuple([message for run in runs for message in run.messages])

    async def of_run(self, run_id: str) -> tuple[Message, ...]:
        """Return the messages of a run; empty for a run without messages."""
        return await self._complete(run_id, await self._store.run_messages(run_id))

    async def _complete(
        self, run_id: str, messages: tuple[Message, ...], session_id: str = ""
    ) -> tuple[Message, ...]:
        """Return the messages of a run; if it is over, add the results that its log has and the store lacks.

        If its session has released its turn and the engine does not know the run, the outcome of these calls
        is unknown.
        """
        answers = answers_of(messages)
        calls = [
            call for message in messages if isinstance(message, AssistantMessage) for call in message.calls
        ]
        missing = [call for call in calls if call.id not in answers]
        if missing and (ends := await self._ends_of(run_id)) is not None:
            answers |= {call.id: _answer(call, ends.get(call.id)) for call in missing}
        elif missing and session_id and await self._is_gone(session_id, run_id):
            answers |= {call.id: unknown_outcome_answer(call) for call in missing}
        return tuple(_paired(messages, {call.id for call in calls}, answers))

    async def _is_gone(self, session_id: str, run_id: str) -> bool:
        """Return whether a run is over, and only its messages are left."""
        holder = await self._store.holder(session_id)
        if holder is not None and holder.run_id == run_id:
            return False  # it may continue in another engine
        try:
            await self._engine.status(run_id)
        except UnknownRunError:
            return True
        except EngineError:  # `_ends_of` has logged it
            return False
        return False

    async def _ends_of(self, run_id: str) -> _Ends | None:
        """Return how the calls of a run ended; None if the engine has no information about the run."""
        ends = self._ends.get(run_id)
        if ends is not None:
            return ends
        try:
            if not (await self._engine.status(run_id)).is_over:
                return None
            events: list[Any] = [event async for _, event in self._engine.events(run_id, follow=False)]
        except UnknownRunError:  # it was forgotten, or belongs to another engine
            return None
        except EngineError:
            log.exception(
                "the results missing in the conversation of run %s were not read from its log", run_id
            )
            return None
        ends = {
            event["tool_call_id"]: event
            for event in events
            if event.get("type") == "tool_end" and event["status"] != "suspended"
        }
        self._ends.put(run_id, ends)
        return ends


def _is_complete(messages: Iterable[Message]) -> bool:
    """Return whether each batch of calls is followed by all its results, and there are no other results."""
    calls: tuple[PlannedCall, ...] = ()
    for message in messages:
        if isinstance(message, ToolMessage):
            if not calls or [answer.id for answer in message.answers] != [call.id for call in calls]:
                return False
            calls = ()
        elif calls:
            return False
        elif isinstance(message, AssistantMessage):
            calls = message.calls
    return not calls


def _answer(call: PlannedCall, end: Mapping[str, Any] | None) -> ToolAnswer:
    """Return the result of a call; without an end, the run ended before the call was executed."""
    if end is None:
        text = to_json({"error": f"{call.name} was not run: the run ended before"}).decode()
        return ToolAnswer(id=call.id, name=call.name, status="error", text=text)
    return ToolAnswer(id=call.id, name=call.name, status=end["status"], text=result_text(end))


def _paired(
    messages: Iterable[Message], called: Container[str], answers_by_id: Mapping[str, ToolAnswer]
) -> Iterator[Message]:
    """Yield the messages, each batch followed by its known results in call order.

    For results whose calls are not in `called`, a message reports the lost calls.
    """
    for message in messages:
        if isinstance(message, ToolMessage):
            if lost := [answer for answer in message.answers if answer.id not in called]:
                yield lost_calls_message(lost)
            continue  # the other results follow their calls
        yield message
        calls = message.calls if isinstance(message, AssistantMessage) else ()
        if answers := tuple(answers_by_id[call.id] for call in calls if call.id in answers_by_id):
            yield ToolMessage(answers=answers)


def unknown_outcome_answer(call: PlannedCall) -> ToolAnswer:
    """Return the result for planners of a call whose result was not stored.

    It is not an error: an error would tell the provider that the call failed.
    """
    return ToolAnswer(id=call.id, name=call.name, status="unknown", text=to_json(UNKNOWN).decode())


def lost_calls_message(answers: Sequence[ToolAnswer]) -> UserMessage:
    """Return the message that replaces results whose calls a conversation lost; providers reject them.

    It names the calls and their status. It does not contain what their tools returned, because that text is
    not from the runtime.
    """
    calls = ", ".join(f"{answer.name} ({answer.status})" for answer in answers)
    text = f"Part of this conversation was lost. It contained these calls: {calls}."
    return UserMessage(text=text, source="runtime")


def lost_run_message() -> UserMessage:
    """Return the message at the end of a turn whose run is gone from its engine."""
    text = (
        "The run of this turn was lost before it ended. Work that it had started may have been done; its "
        "open questions are closed."
    )
    return UserMessage(text=text, source="runtime")
