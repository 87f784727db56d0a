"""What a model reads of a call, also of one without a result yet, and how many answers an interface takes.

A bad answer ends no call: it waits on, and somebody else may answer it.
"""

from __future__ import annotations

import json
from typing import Final

from toolgen.calls.errors import ToolError
from toolgen.calls.results import Suspended, ToolResult
from toolgen.contract.names import UNAVAILABLE

from .errors import SuspensionError

MOST_MISFITS: Final = 3
"""Number of rejected answers to one question after which interfaces stop asking; the call stays suspended."""


def asks_again(before: Suspended, after: Suspended | None) -> bool:
    """Return whether a call asks the same question after an answer, which was not taken then."""
    if after is None:
        return False
    keys = [
        (question.run_id, question.tool_call_id, question.number, question.tool)
        for question in (before, after)
    ]
    return keys[0] == keys[1]


def waiting_message(asked: Suspended) -> str:
    """Return the message for a model about a suspended call, with the id under which people find it."""
    why = f": {asked.reason}" if asked.reason else ""
    return f"the call waits for a person's answer ({asked.id}){why}. Do not repeat the call"


def text_for_model(result: ToolResult) -> str:
    """Return the JSON text that a model reads of a result; it is never empty.

    Usually it is `ToolResult.json`. If the call waits for a person, it says so, with the id under which
    somebody answers it. Without a result or an acknowledgement, it is the status, such as `pending`.
    """
    asked = result.suspension
    if asked is not None and asked.kind != "pending":
        facts = {"error": waiting_message(asked), "code": UNAVAILABLE, "id": asked.id}
        return json.dumps(facts, ensure_ascii=False)
    if result.json and result.status != "running":
        return result.json.decode()
    return f'{{"status":"{result.status if asked is None else "pending"}"}}'


def unverified_error(error: SuspensionError) -> ToolError:
    """Return the error for a model about a suspended call whose record cannot be verified."""
    why = f"the call is suspended, but nobody can answer it: {error.message}"
    return ToolError(f"{why}. Do not repeat the call")
