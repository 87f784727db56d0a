"""The activity `accept`: whether an answer to a planner's question was given through a host of this secret.

It is sealed as the answers to calls are, over the run, the wait, the question and what its answer may be.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import ActivityInfo
from toolgen.runtime.waiting.resuming import UNSEALED
from toolgen.runtime.waiting.wait_registry import question_claims

from ..host import AgentHost
from ..loop.documents import AcceptArgument


def accept(host: AgentHost) -> Callable[[ActivityInfo, AcceptArgument], Awaitable[Json]]:
    """Return the activity `accept` for the runs of a host."""

    async def check(info: ActivityInfo, argument: AcceptArgument) -> Json:
        about, given = argument["about"], argument["given"]
        ticket = question_claims(info.run_id, about)
        text: Any = (
            given["answer"] if isinstance(given, dict) and host.sealer.is_sealed(ticket, given) else None
        )
        return {"text": text, "reason": "" if isinstance(text, str) else UNSEALED}

    return check
