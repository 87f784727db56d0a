"""Texts about calls for models, even without a result, and the maximum number of rejected answers.

A rejected answer does not end a call: it stays suspended, and another person can answer it.
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
    """Return whether a call asks the same question again, because its answer was not used."""
    if after is None:
        return False
    keys = [
        (question.run_id, question.tool_call_id, question.number, question.tool)
        for question in (before, after)
    ]
    return keys[0] == keys[1]


def waiting_message(suspension: Suspended) -> str:
    """Return the message for a model about a suspended call, with the id under which people find it."""
    why = f": {suspension.reason}" if suspension.reason else ""
    return f"the call waits for a person's answer ({suspension.id}){why}. Do not repeat the call"


def text_for_model(result: ToolResult) -> str:
    """Return the JSON text of a result for a model; it is never empty.

    Usually it is `ToolResult.json`. If the call waits for a person, the text says so, with the id that a
    person needs to answer it. Without a result or an acknowledgement, it is the status, for example
    `pending`.
    """
    suspension = result.suspension
    if suspension is not None and suspension.kind != "pending":
        facts = {"error": waiting_message(suspension), "code": UNAVAILABLE, "id": suspension.id}
        return json.dumps(facts, ensure_ascii=False)
    if result.json and result.status != "running":
        return result.json.decode()
    return f'{{"status":"{result.status if suspension is None else "pending"}"}}'


def unverified_error(error: SuspensionError) -> ToolError:
    """Return the error for a model about a suspended call whose record cannot be verified."""
    why = f"the call is suspended, but nobody can answer it: {error.message}"
    return ToolError(f"{why}. Do not repeat the call")
