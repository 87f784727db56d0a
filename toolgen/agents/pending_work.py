"""Results of work that outlived its run: each starts a turn of its session, or ends with the session."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from toolgen.calls.call import FrozenCall
from toolgen.calls.documents.results import result_text
from toolgen.calls.steps.failures import log
from toolgen.engines import ActivityInfo
from toolgen.waiting.frozen import read_call
from toolgen.waiting.reporting import verified_intermediate
from toolgen.waiting.work_texts import INTERMEDIATE_RESULT, NO_RESULT, OUTCOMES, work_text

from .host import AgentHost
from .loop.documents import RunFacts
from .planner.messages import UserMessage
from .run_facts import conversation_of
from .runs import AgentRuns
from .sessions.sessions import EndedSessionError, UnknownSessionError, with_those_above
from .turns import SessionBusyError


class PendingWork:
    """Delivers the results of pending work to the conversations of one host.

    The constructor makes the host's waits refuse answers in sessions that have ended.
    """

    def __init__(self, host: AgentHost, runs: AgentRuns) -> None:
        self._host = host
        self._runs = runs
        host.waits.has_ended = self._has_ended

    async def _has_ended(self, session_id: str, run_id: str) -> bool:
        """Return whether a session accepts no answers to a run any more: it is over, or was dropped.

        A direct call can name a session that never existed.
        """
        host = self._host
        try:
            return (await host.sessions.get(session_id)).is_over
        except UnknownSessionError:
            if not host.sees_sessions:
                return False
        run_input: Any = (await host.engine.status(run_id)).input
        return "frozen" in run_input and "facts" in run_input and bool(conversation_of(run_input["facts"]))

    async def open_turn(self, info: ActivityInfo, argument: Any) -> str:
        """Start the turn that receives a result of pending work; return `busy` while another turn runs."""
        frozen = read_call(info.run_id, argument["frozen"])
        facts, turns = argument["facts"], self._host.turns
        if not await turns.is_next(facts["session_id"], info.run_id):
            started = "busy"
        elif "outcome" in argument:
            outcome = argument["outcome"]
            what = OUTCOMES.get(outcome["status"], NO_RESULT)
            started = await self._start(
                facts, frozen, f"done:{frozen.meta.tool_call_id}", what, result_text(outcome)
            )
        elif (sent := await verified_intermediate(self._host.waits, info.run_id, argument)) is not None:
            key = f"sent:{frozen.meta.tool_call_id}:{argument['number']}"
            started = await self._start(facts, frozen, key, INTERMEDIATE_RESULT, sent)
        else:
            started = "dropped"
        if started == "busy":
            turns.enqueue(facts["session_id"], info.run_id)
        else:
            turns.leave(facts["session_id"], info.run_id)
        return started

    async def _start(self, facts: RunFacts, frozen: FrozenCall, key: str, what: str, result: str) -> str:
        """Start the turn with a result; if the session is over, store the result in the conversation.

        The turn is for the same person as the run that made the call or the run above it, with the same
        labels and within the same tags. `key` names the turn within that run, and `what` describes the
        result.

        Returns:
            `busy` while another turn of the session is running, otherwise the ID of the run; `ended` if the
            session is over.
        """
        name = frozen.tool.rpartition(".")[2]
        of = "" if facts["in_conversation"] else f" of {facts['agent']}"
        text = work_text(name, f"{frozen.meta.tool_call_id}{of}", what, result)
        try:
            return await self._runs.start(
                conversation_of(facts),
                text,
                session_id=facts["session_id"],
                run_id=f"{frozen.meta.run_id}/{key}",
                labels=facts["labels"],
                requested_by=facts.get("requested_by", ""),
                allowed_tags=facts["allowed_tags"],
                denied_tags=facts["denied_tags"],
                source="runtime",
            )
        except SessionBusyError:
            return "busy"
        except (EndedSessionError, UnknownSessionError) as error:
            above, why = frozen.meta.run_id, error.message
            log.warning("run %s: no turn was started with the result of %s: %s", above, name, why)
        with suppress(UnknownSessionError):  # the session was dropped with all its messages
            await self._say(facts["session_id"], frozen, key, text)
        return "ended"

    async def _say(self, session_id: str, frozen: FrozenCall, key: str, text: str) -> None:
        """Store the result of the work in its conversation, after the run of its turn; idempotent.

        Raises:
            UnknownSessionError: there is no such session.
        """
        sessions = self._host.sessions
        runs = {turn.run_id for turn in await sessions.turns(session_id)}
        for run_id in reversed(with_those_above(frozen.meta.run_id)):  # a call may be of a run below a turn
            if run_id in runs:
                id_ = f"{frozen.meta.run_id}:{key}"
                await sessions.speak(run_id, id_, UserMessage(text=text, source="runtime"))
                self._host.conversations.forget(run_id)
                return
