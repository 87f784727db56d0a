"""The activity `accept`: whether an answer to a planner's question was given through a host of this secret.

It is sealed as the answers to calls are, over the run, the wait, the question and what its answer may be.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import ActivityInfo
from toolgen.runtime.waiting.resuming import UNSEALED
from toolgen.runtime.waiting.tokens import TokenClaims

from ..host import AgentHost
from ..loop.documents import AcceptArgument


def question_ticket(
    run_id: str, *, id: str, kind: str, question: str, answer_schema: Mapping[str, Json]
) -> TokenClaims:
    """Return the ticket that a sealed answer to a planner's question is bound to."""
    seen = json.dumps([kind, question, dict(answer_schema)], sort_keys=True)
    return TokenClaims(run_id, f"wait:{id}", "", 0.0, hashlib.sha256(seen.encode()).hexdigest())


def accept(host: AgentHost) -> Callable[[ActivityInfo, AcceptArgument], Awaitable[Json]]:
    """Return the activity `accept` for the runs of a host."""

    async def check(info: ActivityInfo, argument: AcceptArgument) -> Json:
        about, given = argument["about"], argument["given"]
        ticket = question_ticket(
            info.run_id,
            id=about["id"],
            kind=about["kind"],
            question=about["question"],
            answer_schema=about["answer_schema"],
        )
        text: Any = (
            given["answer"] if isinstance(given, dict) and host.sealer.is_sealed(ticket, given) else None
        )
        return {"text": text, "reason": "" if isinstance(text, str) else UNSEALED}

    return check
