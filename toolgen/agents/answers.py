"""Answers to what planners ask: checked, sealed, and given to the engine."""

from __future__ import annotations

from pydantic_core import to_json

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import WaitOverError
from toolgen.runtime.waiting.answer_schema import answer_issues
from toolgen.runtime.waiting.answers import answer_key, check_answer_limits, without_optional_nulls
from toolgen.runtime.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
    LateAnswerError,
    TamperedSuspensionError,
    UnsealedSuspensionError,
)

from .activities.accepting import question_ticket
from .host import AgentHost
from .output import Awaiting
from .planner.portable import portable_text


async def answer_question(host: AgentHost, awaiting: Awaiting, answer: Json, by: str) -> None:
    """Give the answer to a question of a planner to its run; `by` says who answers.

    Raises:
        SuspensionError: the answer is not taken; the class says why.
    """
    if awaiting.kind == "pause":
        raise BadAnswerError("the run is paused and asks nothing; handle.resume(…) lets it go on")
    if awaiting.kind == "unsealed":
        raise UnsealedSuspensionError(awaiting.run_id)
    if awaiting.kind == "tampered":
        raise TamperedSuspensionError(awaiting.run_id)
    limits = host.tools.limits
    check_answer_limits(answer, limits)
    answer = without_optional_nulls(awaiting.answer_schema, answer)
    issues = answer_issues(awaiting.answer_schema, answer, limits.issues)
    if issues:
        raise BadAnswerError(f"the answer does not fit: {'; '.join(map(str, issues))}", issues)
    text = portable_text(answer) if isinstance(answer, str) else to_json(answer).decode()
    ticket = question_ticket(
        awaiting.run_id,
        id=awaiting.id,
        kind=awaiting.kind,
        question=awaiting.question,
        answer_schema=awaiting.answer_schema,
    )
    sealed = host.sealer.seal(ticket, text, by)
    try:
        receipt = await host.engine.answer(ticket.run_id, ticket.op, sealed, key=answer_key(text))
    except WaitOverError:
        raise LateAnswerError("the run is over", hint="start another turn") from None
    if receipt == "conflict":
        raise ConflictingAnswerError
