"""The conversation as one planning sees it: the turns before, what the run said, and what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolgen.contract.policy import History
from toolgen.runtime.call.boundary import Contained, name_of
from toolgen.runtime.call.failures import log
from toolgen.runtime.engine import NonRetryableError
from toolgen.runtime.results import ToolStatus

from ..catalogue import Agent
from ..loop.documents import RunFacts
from ..planner.history import visible
from ..planner.messages import AssistantMessage, Message, ToolAnswer, ToolMessage, without_artifacts
from ..planner.planner import PlanInput
from ..sessions.sessions import Said, SessionStore, Summary, Turn

_CANCELED: ToolStatus = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What was said before a planning."""

    messages: tuple[Message, ...]
    """As the planning sees them, oldest first."""
    call_ids: frozenset[str]
    """Of all calls so far, those of messages that the history policy hides too."""


async def conversation(
    sessions: SessionStore, agent: Agent, facts: RunFacts, given: PlanInput, now: float
) -> Heard:
    """Return the conversation of a planning; what is new is written already."""
    own = await sessions.run_messages(given.run_id)
    if facts["in_conversation"] and facts["session_id"]:
        earlier = await _earlier(sessions, agent, given, now)
        before = await _visible(sessions, agent, facts, given, earlier)
    else:
        heard = [await sessions.run_messages(run_id) for run_id in facts.get("heard", ())]
        earlier, before = [], [message for messages in heard for message in messages]
    said = [*before, *own, *(message for run in earlier for message in run.messages)]
    return Heard(messages=paired([*before, *own]), call_ids=frozenset(_call_ids(said)))


def _call_ids(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from (call.id for call in message.calls)


async def _earlier(sessions: SessionStore, agent: Agent, given: PlanInput, now: float) -> list[Said]:
    """Return the runs of the session before this one, which joins it and has the conversation now."""
    session_id = given.session_id
    if given.step == 0:
        turn = Turn(
            id=given.turn_id,
            session_id=session_id,
            run_id=given.run_id,
            agent=agent.spec.id,
            started_at=now,
        )
        await sessions.begin(turn)
    session = await sessions.get(session_id)
    if session.agent != agent.spec.id:  # it took the conversation over, or has it back
        await sessions.hand_over(session_id, agent.spec.id)
    return [run for run in await sessions.transcript(session_id) if run.turn.run_id != given.run_id]


async def _visible(
    sessions: SessionStore, agent: Agent, facts: RunFacts, given: PlanInput, earlier: Sequence[Said]
) -> Sequence[Message]:
    """Return what the history policy shows of the runs before this one."""
    session_id = given.session_id
    policy: Any = facts["policy"]["history"]
    history = History(**policy) if policy else None
    seen = visible(earlier, await sessions.summary(session_id), history)
    summarize = getattr(agent.planner, "summarize", None)
    if not seen.to_summarize or history is None or summarize is None or given.step > 0:
        return seen.messages
    try:
        with Contained():
            text = await summarize(paired(seen.to_condense), given, history)
    except Exception as error:  # the turn can do without; the next one tries again
        is_told = isinstance(error, NonRetryableError) or getattr(error, "is_told", False)
        why, trace = (str(error), None) if is_told else (name_of(error), error)
        log.error("the turns before run %s were not summarized: %s", given.run_id, why, exc_info=trace)
        return seen.messages
    summary = Summary(text=text, through=seen.to_summarize[-1].turn.run_id)
    await sessions.summarize(session_id, summary)
    return visible(earlier, summary, history).messages


def paired(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages for a planner: with a result for every call, and without artifacts.

    A run that was canceled leaves calls without a result.
    """
    found: list[Message] = []
    for message in messages:
        _answer(found, message)
        found.append(without_artifacts(message))
    _answer(found, None)
    return tuple(found)


def _answer(found: list[Message], following: Message | None) -> None:
    """Add results for the calls of the last message, if what follows does not bring them."""
    last = found[-1] if found else None
    if not isinstance(last, AssistantMessage) or not last.calls or isinstance(following, ToolMessage):
        return
    text = '{"error":"the run ended before this call did"}'
    answers = (ToolAnswer(id=call.id, name=call.name, status=_CANCELED, text=text) for call in last.calls)
    found.append(ToolMessage(answers=tuple(answers)))
