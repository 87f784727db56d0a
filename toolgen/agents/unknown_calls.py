"""What a conversation has in the place of what was lost: of the results of calls, and of calls themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from pydantic_core import to_json

from toolgen.calls.results import ToolStatus
from toolgen.waiting.loop import UNKNOWN

from .planner.messages import PlannedCall, ToolAnswer, UserMessage

_STATUS: Final[ToolStatus] = "unknown"
"""Status of a call whose end nobody knows; of an error a provider would be told that the call has failed."""
_STATUS_BEFORE: Final[ToolStatus] = "pending"
"""The same of runs of older versions."""


def unknown_outcome_answer(call: PlannedCall) -> ToolAnswer:
    """Return what planners see of a call whose result was not kept."""
    return ToolAnswer(id=call.id, name=call.name, status=_STATUS, text=to_json(UNKNOWN).decode())


def lost_calls_message(answers: Sequence[ToolAnswer]) -> UserMessage:
    """Return what stands in the place of results whose calls a conversation has lost; no provider takes them.

    It names the calls and how they ended, and shows nothing of what their tools returned, which are not the
    words of the runtime.
    """
    calls = ", ".join(f"{answer.name} ({answer.status})" for answer in answers)
    text = f"A part of this conversation was lost. In it these calls were made: {calls}."
    return UserMessage(text=text, source="runtime")


def lost_run_message() -> UserMessage:
    """Return what stands at the end of a turn whose run is gone from its engine."""
    text = (
        "The run of this turn was lost before it came to its end. What it had begun may have been done;"
        " what it waited for is not asked any more."
    )
    return UserMessage(text=text, source="runtime")


def is_unknown(answer: ToolAnswer) -> bool:
    """Return whether an answer says that the outcome of its call is unknown."""
    if answer.status != _STATUS_BEFORE:
        return answer.status == _STATUS
    document = json.loads(answer.text)
    return isinstance(document, dict) and list(document) == ["unknown"]
