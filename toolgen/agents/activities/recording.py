"""Activities that only change the conversation of a run, or accept an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.engines import ActivityInfo
from toolgen.waiting.resuming import UNSEALED
from toolgen.waiting.sealing import question_claims

from ..host import AgentHost
from ..loop.documents import TRANSFER, AcceptArgument, KeepArgument
from ..planner.messages import ToolMessage, messages_from_json
from ..sessions.sessions import Turn
from .conversation import record_position


class Recording:
    """The activities `record`, `store`, `restore_agent` and `accept` of the runs of a host."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host

    async def record(self, info: ActivityInfo, argument: Any) -> Json:
        """Store the messages of a step."""
        messages = messages_from_json(argument["new"])
        place, message_ids = record_position(argument["step"]) - 1, argument.get("message_ids", ())
        await self._host.sessions.write(info.run_id, place, messages, message_ids=message_ids)
        return None

    async def store(self, info: ActivityInfo, argument: KeepArgument) -> Json:
        """Store the result of a call that the loop did not execute."""
        (message,) = messages_from_json([{"type": "tools", "answers": [argument["answer"]]}])
        if isinstance(message, ToolMessage):
            await self._host.conversations.answer(info.run_id, message.answers[0])
        return None

    async def restore_agent(self, info: ActivityInfo, argument: Any) -> Json:
        """Return the conversation to the agent that handed it over; the result is its ID, or None."""
        session_id = argument["facts"]["session_id"]
        agent = previous_agent(await self._host.sessions.turns(session_id))
        if agent is not None:
            await self._host.sessions.hand_over(session_id, agent)
        return agent

    async def accept(self, info: ActivityInfo, argument: AcceptArgument) -> Json:
        """Return the text of an answer to a planner's question, or the reason to ask again.

        The answer is sealed like the answers to calls: over the run, the wait, the question and its answer
        schema. An answer that a host with another secret accepted is rejected.
        """
        claims, answer = question_claims(info.run_id, argument["about"]), argument["answer"]
        text: Json = None
        if isinstance(answer, dict) and self._host.waits.sealer.is_sealed(claims, answer):
            text = answer["answer"]
        return {"text": text, "reason": "" if isinstance(text, str) else UNSEALED}


def previous_agent(turns: Iterable[Turn]) -> str | None:
    """Return the agent that handed the conversation to the newest agent; None if that is the first agent.

    The turns are in the order in which their runs began. The ID of a run that took the conversation over is
    the ID of the previous run followed by the key of the hand-over. If a run continues after its agent handed
    the conversation over, that agent has it back.
    """
    agents: dict[str, str] = {}
    below: list[str] = []
    has_it = ""
    for turn in turns:
        agents[turn.run_id] = turn.agent
        before, _, op = turn.run_id.rpartition("/")
        is_taken = op.startswith(TRANSFER) and before in agents
        goes_on = agents[before] if is_taken else turn.agent
        while below and has_it != goes_on:
            has_it = below.pop()
        has_it = goes_on
        if is_taken:
            below.append(has_it)
            has_it = turn.agent
    return below[-1] if below else None
