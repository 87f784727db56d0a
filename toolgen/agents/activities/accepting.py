"""The activity `accept`: whether an answer to a planner's question was given through a host of this secret.

It is answer as the answers to calls are, over the run, the wait, the question and what its answer may be.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.runs import ActivityInfo
from toolgen.waiting.resuming import UNSEALED
from toolgen.waiting.sealing import question_claims

from ..host import AgentHost
from ..loop.documents import AcceptArgument


def accept(host: AgentHost) -> Callable[[ActivityInfo, AcceptArgument], Awaitable[Json]]:
    """Return the activity `accept` for the runs of a host."""

    async def check(info: ActivityInfo, argument: AcceptArgument) -> Json:
        about, answer = argument["about"], argument["given"]
        claims = question_claims(info.run_id, about)
        text: Any = (
            answer["answer"] if isinstance(answer, dict) and host.sealer.is_sealed(claims, answer) else None
        )
        return {"text": text, "reason": "" if isinstance(text, str) else UNSEALED}

    return check
