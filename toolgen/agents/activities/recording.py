"""The activities `record`, `keep` and `give_back`: changes of the conversation outside plannings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.runs import ActivityInfo

from ..host import AgentHost
from ..loop.documents import KeepArgument
from ..planner.messages import ToolMessage, messages_from_json
from .conversation import record_position
from .hand_overs import previous_agent


def record(host: AgentHost) -> Callable[[ActivityInfo, Any], Awaitable[Json]]:
    """Return the activity `record` for the runs of a host."""

    async def write(info: ActivityInfo, argument: Any) -> Json:
        messages = messages_from_json(argument["new"])
        place, heard = record_position(argument["step"]) - 1, argument.get("heard", ())
        await host.sessions.write(info.run_id, place, messages, heard=heard)
        return None

    return write


def keep(host: AgentHost) -> Callable[[ActivityInfo, KeepArgument], Awaitable[Json]]:
    """Return the activity `keep`, which stores the result of a call that the loop did not make."""

    async def answer(info: ActivityInfo, argument: KeepArgument) -> Json:
        (message,) = messages_from_json([{"type": "tools", "answers": [argument["answer"]]}])
        if isinstance(message, ToolMessage):
            await host.conversations.answer(info.run_id, message.answers[0])
        return None

    return answer


def give_back(host: AgentHost) -> Callable[[ActivityInfo, Any], Awaitable[Json]]:
    """Return the activity `give_back`, which returns the conversation to the agent that handed it over."""

    async def give(info: ActivityInfo, argument: Any) -> Json:
        session_id = argument["facts"]["session_id"]
        agent = previous_agent(await host.sessions.turns(session_id))
        if agent is not None:
            await host.sessions.hand_over(session_id, agent)
        return agent

    return give
