"""Answers that do not fit: how many a door takes that asks a person, and what a model is told then.

A bad answer ends no call: it waits on, and somebody else may answer it.
"""

from __future__ import annotations

from typing import Final

from toolgen.calls.errors import ToolError
from toolgen.calls.results import Suspended

from .errors import SuspensionError

MOST_MISFITS: Final = 3
"""Answers to one question that are not taken, after which a door asks no more: the call waits on."""


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
    """Return what a model is told of a call that waits, with the id under which a person finds it."""
    why = f": {asked.reason}" if asked.reason else ""
    return f"it waits for a person as {asked.id}{why}. Do not call it again for the same"


def unverified_error(error: SuspensionError) -> ToolError:
    """Return what a model is told of a call that waits, and whose record no host has sealed as it stands."""
    why = f"it waits, and nobody can answer it: {error.message}"
    return ToolError(f"{why}. Do not call it again for the same")
