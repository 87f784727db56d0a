"""The steps of one call with their times, for callers that pass a `Trace` to `Runtime.call`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

if TYPE_CHECKING:
    from ..errors import ToolError

Step = Literal["lookup", "decode", "inject", "execute", "encode", "check", "after"]

_STEPS: Final[tuple[Step, ...]] = get_args(Step)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One step of a call."""

    name: Step
    duration_s: float
    value: Any
    """What the step gave: the tool's id, the payload, the names of the injected fields, what the executor
    returned, the JSON, the bounds; or the `ToolError` that ended the call here. A step `after` has only an
    error: the after-hooks, the size of the result, its artifacts."""


class Trace:
    """The steps of one call, in order. Its clock starts when it is made."""

    __slots__ = ("_since", "steps")

    def __init__(self) -> None:
        self.steps: list[TraceStep] = []
        self._since = time.perf_counter()

    def require_unused(self) -> None:
        """Raise where this is the trace of another call, before anything runs.

        Raises:
            ValueError: as said.
        """
        if self.steps:
            raise ValueError("this trace has the steps of another call; make a Trace() for each call")

    def mark(self, name: Step, value: object) -> None:
        """Add a step that has ended now."""
        now = time.perf_counter()
        self.steps.append(TraceStep(name=name, duration_s=now - self._since, value=value))
        self._since = time.perf_counter()

    def fail(self, error: ToolError) -> None:
        """Add the step in which the call failed: the first that is missing."""
        self.mark(_STEPS[len(self.steps)], error)
