"""Subjects of the waits of runs, as their journals record them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from toolgen.calls.call import CALL
from toolgen.contract.json_value import Json

_CHILD: Final = "child:"
"""Prefix of the key of the operation by which a run lets another agent answer a call."""


def is_call(about: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a wait is about a suspended call; what is kept of it is another question."""
    return isinstance(about, dict) and "frozen" in about


def planner_question(about: Json) -> dict[str, Any] | None:
    """Return the question of a planner that a wait is about; None where it is about something else."""
    return about if isinstance(about, dict) and "answer_schema" in about else None


def top_run(run_id: str) -> str:
    """Return the run of the direct call that waits for a run, by their ids; the run itself where none does.

    Work that was acknowledged is waited for by none, although its id begins with that of the run.
    """
    top, *below = run_id.split("/")
    is_below = top.startswith(CALL) and all(part.startswith(_CHILD) for part in below)
    return top if is_below else run_id
