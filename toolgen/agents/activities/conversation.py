"""The conversation as the plannings of a run see it: earlier turns, the run's messages, new messages.

It is read once for a run, and each message of the run is appended to it, so that every planning of a run
costs the same. If several workers plan for a run, it is read for each planning, because another worker may
have planned in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from toolgen.calls.errors import ToolError
from toolgen.calls.steps.failures import log
from toolgen.contract.boundary import Contained, name_of
from toolgen.contract.policy import History
from toolgen.engines import NonRetryableError
from toolgen.stores import StoreError

from ..loop.documents import RunFacts
from ..planner.history import visible_history
from ..planner.message_sizes import tokens_of
from ..planner.messages import (
    AssistantMessage,
    Message,
    PlannedCall,
    ToolAnswer,
    ToolMessage,
    without_artifacts,
)
from ..planner.planner import PlanInput
from ..recent_runs import MOST_RUNS, RecentRuns
from ..registered_agents import RegisteredAgent
from ..sessions.sessions import RunMessages, SessionStore, Summary, Turn, UnknownSessionError
from ..transcripts import Transcripts, lost_calls_message, unknown_outcome_answer
from .plan_secrets import note_messages

_FIRST_TURNS: Final = 8
"""Turns to read first if a policy counts tokens; doubled each time they are not enough."""


def record_position(step: int) -> int:
    """Return the position of a planning in the stored messages of its run."""
    return 2 * step + 1


class Conversation:
    """The messages before a planning, with a result for every call."""

    def __init__(
        self, messages: Iterable[Message], call_ids: Iterable[str], step: int, *, is_begun: bool = False
    ) -> None:
        """Construct the conversation of the messages before the planning of this step, oldest first.

        `call_ids` are the IDs of calls that the messages do not show. If `is_begun`, the messages already
        contain the first message of the run.
        """
        self._is_begun = is_begun
        self._messages: list[Message] = []
        self._tried: tuple[Message, ...] = ()
        self._step = step
        self.call_ids = set(call_ids)
        """IDs of all calls so far, including calls in messages that the history policy hides."""
        self.answered: set[str] = set()
        """Calls of the newest batch whose results are in the store."""
        self._add(messages)

    def is_before(self, step: int) -> bool:
        """Return whether the conversation has all messages before the planning of this step."""
        if self._step == step - 1 and self._tried:  # that planning failed before it stored its new messages
            self._add(self._tried)
            self._step, self._tried = step, ()
        return self._step == step

    def missing_messages(self, new: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages that are not yet in the session store."""
        self._tried = tuple(new[1:] if self._is_begun and self._step == 0 else new)
        return self._tried

    @property
    def is_kept(self) -> bool:
        """Whether the store has all new messages of the planning; a message from a person may be missing."""
        answers = [message.answers if isinstance(message, ToolMessage) else None for message in self._tried]
        return all(
            answers_ is not None and self.answered.issuperset(a.id for a in answers_) for answers_ in answers
        )

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages that the planning sees, oldest first."""
        messages = list(self._messages)
        for message in self._tried:
            _add(messages, message)
        _answer(messages)
        return tuple(messages)

    def say(self, message: AssistantMessage) -> None:
        """Append the new messages and the planner's own message."""
        self._add((*self._tried, message))
        self._step, self._tried = self._step + 1, ()
        self.answered.clear()

    def _add(self, messages: Iterable[Message]) -> None:
        for message in messages:
            _add(self._messages, message)
            if isinstance(message, AssistantMessage):
                self.call_ids.update(call.id for call in message.calls)


class Conversations:
    """The conversations of the runs that this process plans for."""

    def __init__(self, sessions: SessionStore, transcripts: Transcripts, *, is_shared: bool) -> None:
        """Construct without conversations.

        Args:
            sessions: Store of the session's messages.
            transcripts: Reads the messages of other runs.
            is_shared: Other processes plan for the same runs, so each planning reads the messages again.
        """
        self._sessions = sessions
        self._transcripts = transcripts
        self._is_shared = is_shared
        self._conversations: RecentRuns[Conversation] = RecentRuns(MOST_RUNS)

    async def answer(self, run_id: str, answer: ToolAnswer, *, ends_at: float | None = None) -> None:
        """Store the result of a call at once, before the whole batch is recorded.

        If the store fails, or is not done by `ends_at` in event loop time, the call does not fail: its run
        has the result.
        """
        try:
            async with asyncio.timeout_at(ends_at):
                await self._sessions.answer(run_id, answer)
        except Exception:  # noqa: BLE001 - logged; its run has the result all the same
            log.exception("the result of the call %s of run %s was not stored yet", answer.id, run_id)
            return
        if (conversation := self._conversations.get(run_id)) is not None:
            conversation.answered.add(answer.id)

    async def require_session(self, run_id: str, facts: RunFacts, name: str) -> None:
        """Raise if the session of a run is lost, before a call takes effect: the run cannot continue.

        The session is looked up if this process has not planned for the run. While the store is unavailable,
        the session is assumed to exist and the call is made.

        Raises:
            ToolError: the session is lost; `name` is the tool name of the call.
        """
        if not facts["in_conversation"] or self._conversations.get(run_id) is not None:
            return
        try:
            await self._sessions.get(facts["session_id"])
        except UnknownSessionError as error:
            log.error("run %s: %s was not run: %s", run_id, name, error.message)
            raise ToolError(f"{name} was not run: {error.message}") from error
        except StoreError:
            log.warning("run %s: its session could not be looked up", run_id, exc_info=True)

    def forget(self, run_id: str) -> None:
        """Drop the conversation of a run from memory."""
        self._conversations.pop(run_id)

    async def of(
        self,
        agent: RegisteredAgent,
        facts: RunFacts,
        plan_input: PlanInput,
        now: float,
        *,
        is_again: bool = False,
        is_back: bool = False,
    ) -> Conversation:
        """Return the conversation before a planning.

        Args:
            agent: The agent that plans.
            facts: Facts of its run.
            plan_input: Input of the planning.
            now: Seconds since 1970.
            is_again: An attempt at the planning has failed, so nothing is summarized: if the store rejects
                writes, each attempt would lose its summary.
            is_back: Another run had the conversation since the previous planning.
        """
        conversation = self._conversations.pop(plan_input.run_id)
        if conversation is None or is_back or not conversation.is_before(plan_input.step):
            conversation = await self._read(agent, facts, plan_input, now, is_again=is_again, is_back=is_back)
        if not self._is_shared:
            self._conversations.put(plan_input.run_id, conversation)
        return conversation

    async def _read(
        self,
        agent: RegisteredAgent,
        facts: RunFacts,
        plan_input: PlanInput,
        now: float,
        *,
        is_again: bool,
        is_back: bool,
    ) -> Conversation:
        sessions = self._sessions
        runs: Sequence[RunMessages] = ()
        if facts["in_conversation"] and facts["session_id"]:
            await _join_session(sessions, agent, facts, plan_input, now, is_back=is_back)
            before, runs = await _before(
                sessions, self._transcripts, agent, facts, plan_input, is_again=is_again
            )
        else:
            run_ids = facts.get("history_run_ids", ())
            transcripts = [await self._transcripts.of_run(run_id) for run_id in run_ids]
            before = [message for messages in transcripts for message in messages]
        own = _first_message(runs, facts, plan_input)
        is_turn = facts["in_conversation"] and facts["parent"] is None  # the store has its first message
        if not own and (is_turn or plan_input.step > 0):
            own = await sessions.run_messages(plan_input.run_id, before=record_position(plan_input.step))
        ids = (
            call.id for run in runs for call in _calls(run.messages) if run.turn.run_id != plan_input.run_id
        )
        return Conversation([*before, *own], ids, plan_input.step, is_begun=bool(own))


async def _join_session(
    sessions: SessionStore,
    agent: RegisteredAgent,
    facts: RunFacts,
    plan_input: PlanInput,
    now: float,
    *,
    is_back: bool,
) -> None:
    """Add a run to the session if it takes the conversation over or gets it back."""
    if is_back:
        await sessions.hand_over(plan_input.session_id, agent.spec.id)
    elif plan_input.step == 0 and facts["parent"] is not None:
        turn = Turn(
            id=plan_input.turn_id,
            session_id=plan_input.session_id,
            run_id=plan_input.run_id,
            agent=agent.spec.id,
            started_at=now,
        )
        await sessions.begin(turn)


async def _before(
    sessions: SessionStore,
    transcripts: Transcripts,
    agent: RegisteredAgent,
    facts: RunFacts,
    plan_input: PlanInput,
    *,
    is_again: bool,
) -> tuple[Sequence[Message], Sequence[RunMessages]]:
    """Return the messages of earlier runs that the history policy shows, and all runs that were read.

    Turns that the policy does not show are not read.
    """
    session_id = plan_input.session_id
    history = policy_of_history(facts)
    if history is None or (history.summarize_after is None and history.summarize_at is None):
        runs = await _newest(transcripts, session_id, history)
        return visible_history(_others(runs, plan_input), None, history).messages, runs
    summary = await sessions.summary(session_id)
    after = "" if summary is None else summary.through
    runs = await transcripts.of_session(session_id, after=after)
    others = _others(runs, plan_input)
    seen = visible_history(others, summary, history)
    if not seen.to_summarize or plan_input.step > 0 or is_again:
        return seen.messages, runs
    sensitive = {spec.name: spec for spec in plan_input.tools if spec.is_sensitive}
    note_messages(seen.to_condense, sensitive, None)
    try:
        summarize = getattr(agent.ready_planner(), "summarize", None)
        if summarize is None:
            return seen.messages, runs
        with Contained():
            text = await summarize(pair_results(seen.to_condense), plan_input, history)
    except Exception as error:  # noqa: BLE001 - author code; logged, and the next turn tries again
        is_shown = isinstance(error, NonRetryableError) or getattr(error, "is_told", False)
        why, trace = (str(error), None) if is_shown else (name_of(error), error)
        log.error("the turns before run %s were not summarized: %s", plan_input.run_id, why, exc_info=trace)
        return seen.messages, runs
    summary = Summary(text=text, through=seen.to_summarize[-1].turn.run_id)
    await sessions.summarize(session_id, summary)
    return visible_history(others, summary, history).messages, runs


async def _newest(
    transcripts: Transcripts, session_id: str, history: History | None
) -> Sequence[RunMessages]:
    """Return the runs of the newest turns that a policy may show, including the current run."""
    if history is None or (history.keep_turns is None and history.keep_tokens is None):
        return await transcripts.of_session(session_id)
    if history.keep_turns is not None:
        return await transcripts.of_session(session_id, newest=history.keep_turns + 1)
    newest, most = _FIRST_TURNS, history.keep_tokens or 0
    while True:
        runs = await transcripts.of_session(session_id, newest=newest)
        size = sum(tokens_of(message) for run in runs[1:] for message in run.messages)
        if size > most or len({run.turn.id for run in runs}) < newest:
            return runs
        newest *= 2


def policy_of_history(facts: RunFacts) -> History | None:
    policy: Any = facts["policy"]["history"]
    return History(**policy) if policy else None


def hides_calls(facts: RunFacts) -> bool:
    """Return whether the history policy hides calls of the session, so that a run cannot know their IDs."""
    parent = facts["parent"]
    return bool(parent and parent["tool"]) or policy_of_history(facts) is not None


def _first_message(
    runs: Sequence[RunMessages], facts: RunFacts, plan_input: PlanInput
) -> tuple[Message, ...]:
    """Return the first message of a turn if its run has no other message yet; empty otherwise."""
    if plan_input.step > 0 or facts["parent"] is not None:
        return ()
    own = [run.messages for run in runs if run.turn.run_id == plan_input.run_id]
    return own[0] if own and len(own[0]) == 1 else ()


def _others(runs: Sequence[RunMessages], plan_input: PlanInput) -> list[RunMessages]:
    return [run for run in runs if run.turn.run_id != plan_input.run_id]


def _calls(messages: Iterable[Message]) -> Iterable[PlannedCall]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from message.calls


def pair_results(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages for a planner: each call followed by its result, no stray results, no artifacts.

    A canceled run leaves calls without a result; a store that lost messages leaves results without a call.
    """
    joined: list[Message] = []
    for message in messages:
        _add(joined, message)
    _answer(joined)
    return tuple(joined)


def _add(joined: list[Message], message: Message) -> None:
    if isinstance(message, ToolMessage):
        _add_results(joined, message)
    else:
        _answer(joined)
        joined.append(message)


def _add_results(joined: list[Message], message: ToolMessage) -> None:
    """Add results after their calls, replacing those that were stored before the whole batch."""
    is_again = bool(joined) and isinstance(joined[-1], ToolMessage)
    batch = joined[-2] if is_again else joined[-1] if joined else None
    calls = batch.calls if isinstance(batch, AssistantMessage) else ()
    if not is_again and calls and _has_all(message, calls):
        joined.append(without_artifacts(message))
        return
    ids = {call.id for call in calls}
    lost = [answer for answer in message.answers if answer.id not in ids]
    if len(lost) < len(message.answers):
        if is_again:
            joined.pop()
        joined.append(without_artifacts(_complete_batch(message, calls)))
    elif not is_again:
        _answer(joined)
    if lost:
        joined.append(lost_calls_message(lost))


def _answer(joined: list[Message]) -> None:
    """Add results for the calls of the last message if it has unanswered calls."""
    last = joined[-1] if joined else None
    if isinstance(last, AssistantMessage) and last.calls:
        joined.append(_complete_batch(ToolMessage(answers=()), last.calls))


def _has_all(message: ToolMessage, calls: Sequence[PlannedCall]) -> bool:
    return [answer.id for answer in message.answers] == [call.id for call in calls]


def _complete_batch(message: ToolMessage, calls: Sequence[PlannedCall]) -> ToolMessage:
    """Return the results of a batch; a call whose result was lost gets a result that reports the loss."""
    if _has_all(message, calls):
        return message
    answers = {answer.id: answer for answer in message.answers}
    return ToolMessage(answers=tuple(answers.get(call.id) or unknown_outcome_answer(call) for call in calls))
