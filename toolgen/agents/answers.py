"""Answers to what planners ask, by the handle of the run."""

from __future__ import annotations

from toolgen.contract.json_value import Json
from toolgen.waiting.asking import answer_question as give_answer
from toolgen.waiting.errors import BadAnswerError, TamperedSuspensionError, UnsealedSuspensionError

from .host import AgentHost
from .output import Awaiting


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
    about = {
        "kind": awaiting.kind,
        "id": awaiting.id,
        "question": awaiting.question,
        "answer_schema": awaiting.answer_schema,
    }
    await give_answer(host.waits, host.tools.limits, awaiting.run_id, about, answer, by)
