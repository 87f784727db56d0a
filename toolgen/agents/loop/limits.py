"""Usage of the limits of a run, and the calls of a batch that its caps and tags allow. Pure.

Callers pass the time. Calls of a run that answers a call count against the cap of the calling run. The
remaining calls of the calling run are divided among the runs of a batch, and the first runs get the
remainder, so the cap holds no matter which run ends first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from toolgen.contract.record import frozen_record

from .documents import RunFacts, StepCall

_FAILED: Final = ("error", "denied", "unknown")
"""Statuses of calls that failed."""


class LimitCounter:
    """Counts what a run has used of its limits: calls, failures, time."""

    def __init__(self, *, now: float, policy: Mapping[str, Any]) -> None:
        self._began = now
        self._budget: float | None = policy["time_budget"]
        self._most_failures: int | None = policy["max_consecutive_failed_tool_calls"]
        self._failures = 0
        self._waits: list[tuple[float, float]] = []
        """Waiting intervals that do not overlap, oldest first."""
        self.tool_calls = 0
        """Number of calls that count against the cap."""

    @property
    def waited_s(self) -> float:
        """Seconds that the run waited for a person; they are not part of its budget."""
        return sum(ended - began for began, ended in self._waits)

    def add_wait(self, began: float, ended: float) -> None:
        """Add an interval of waiting; overlapping intervals count once.

        The sum does not depend on the order of the intervals, because calls of a batch can end in another
        order in a replay.
        """
        if ended <= began:
            return
        apart: list[tuple[float, float]] = []
        for other in self._waits:
            if other[1] < began or ended < other[0]:
                apart.append(other)
            else:
                began, ended = min(began, other[0]), max(ended, other[1])
        self._waits = sorted([*apart, (began, ended)])

    def time_left(self, now: float) -> float | None:
        """Return the remaining seconds of the budget, always above 0; None without a budget."""
        if self._budget is None:
            return None
        return max(0.01, self._budget - (now - self._began - self.waited_s))

    def count_batch(self, statuses: Sequence[str]) -> None:
        """Count a batch: one more consecutive failure if all its calls failed; otherwise reset the count."""
        is_failure = all(status in _FAILED for status in statuses)
        self._failures = self._failures + 1 if is_failure else 0

    def exhausted(self, now: float) -> Literal["failure_cap", "time_budget", ""]:
        """Return the name of the limit that was reached; "" if none."""
        if self._most_failures is not None and self._failures >= self._most_failures:
            return "failure_cap"
        if self._budget is not None and now - self._began - self.waited_s >= self._budget:
            return "time_budget"
        return ""


@frozen_record
class BatchAdmission:
    """The decision about the calls of one batch."""

    refused: dict[str, str]
    """Reasons by ID of the calls that do not run; all other calls run."""
    is_over_cap: bool
    """Whether the batch has more calls than the run has left; then none runs (Goa-AI: atomic batches)."""
    counted: int
    """Calls that count against the cap."""
    shares: dict[str, int] = field(default_factory=dict)
    """Call budgets of child runs, by ID of the call that the run answers; empty without a cap.

    The entry "" is the budget of any other run that answers a call of the batch.
    """


def admit(calls: Sequence[StepCall], facts: RunFacts, used: int, restrict_to_tool: str) -> BatchAdmission:
    """Return which calls run; `used` is the number of calls that the run has counted so far."""
    refused = {call["id"]: why for call in calls if (why := _refusal(call, facts, restrict_to_tool))}
    counted = [call for call in calls if not call["is_bookkeeping"] and call["id"] not in refused]
    cap = facts["policy"]["max_tool_calls"]
    if cap is None:
        return BatchAdmission(refused=refused, is_over_cap=False, counted=len(counted))
    if used + len(counted) <= cap:
        shares = _shares([call for call in calls if call["id"] not in refused], cap - used - len(counted))
        return BatchAdmission(refused=refused, is_over_cap=False, counted=len(counted), shares=shares)
    remaining = cap - used
    why = f"not run: the batch has {len(counted)} calls, and the run may make {remaining} more of {cap}"
    return BatchAdmission(refused={call["id"]: why for call in calls}, is_over_cap=True, counted=0)


def _shares(admitted: Sequence[StepCall], remaining: int) -> dict[str, int]:
    """Return how many of the remaining calls each run that answers a call of the batch can make."""
    runs = [call["id"] for call in admitted if call["starts_run"]]
    each, more = divmod(remaining, max(1, len(runs)))
    return {"": each, **{id_: each + (place < more) for place, id_ in enumerate(runs)}}


def is_unrestricted(facts: RunFacts) -> bool:
    """Return whether the run can use tools with any tags and without tags."""
    return not facts["allowed_tags"] and not facts["denied_tags"]


def is_allowed(tags: Sequence[str], facts: RunFacts) -> bool:
    """Return whether the run can use a tool with these tags."""
    allowed, denied = facts["allowed_tags"], facts["denied_tags"]
    if denied and not set(denied).isdisjoint(tags):
        return False
    return not allowed or not set(allowed).isdisjoint(tags)


def _refusal(call: StepCall, facts: RunFacts, restrict_to_tool: str) -> str:
    if restrict_to_tool and call["name"] != restrict_to_tool:
        return f"not run: only {restrict_to_tool} may be called now"
    if not is_allowed(call["tags"], facts):
        return f"not run: this run may not use {call['name']}"
    return ""
