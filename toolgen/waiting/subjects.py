"""Subjects of run waits, as recorded in journals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from toolgen.calls.call import CALL
from toolgen.contract.json_value import Json

_CHILD: Final = "child:"
"""Operation key prefix for a child run in which another agent answers a call."""


def is_call(about: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a wait is for a suspended call; this does not verify the record."""
    return isinstance(about, dict) and "frozen" in about


def planner_question(about: Json) -> dict[str, Any] | None:
    """Return the question of a planner that a wait is for; None for all other waits."""
    return about if isinstance(about, dict) and "answer_schema" in about else None


def top_run(run_id: str) -> str:
    """Return the id of the direct call's run that waits for a run, by their ids; otherwise the run itself.

    Nothing waits for acknowledged work, although its id begins with the id of the run.
    """
    top, *below = run_id.split("/")
    is_below = top.startswith(CALL) and all(part.startswith(_CHILD) for part in below)
    return top if is_below else run_id
