"""A planner that follows a script: for tests, and for demos without a model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from ..activities.model_hooks import PlannerError
from .planner import FinalResponse, PlanInput, PlanResult

ScriptStep: TypeAlias = PlanResult | str | Callable[[PlanInput], "PlanResult | str | Awaitable[PlanResult]"]
"""What one planning returns: a result, a text as the final response, or what makes one of the input."""


class ScriptedPlanner:
    """Plays one list of steps a run; the last list again for every further run.

    Runs are told apart by their id, in the order in which they are first seen.
    """

    def __init__(self, *runs: Sequence[ScriptStep]) -> None:
        self._scripts = runs
        self._order: dict[str, int] = {}
        self.inputs: list[PlanInput] = []
        """What it was asked, in order."""

    async def plan_start(self, given: PlanInput) -> PlanResult:
        """Return the first step of the run's list; raises as `plan_resume`."""
        return await self._step(given)

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        """Return the step of the run's list that this planning is.

        Raises:
            PlannerError: the list has no such step.
        """
        return await self._step(given)

    async def _step(self, given: PlanInput) -> PlanResult:
        self.inputs.append(given)
        place = self._order.setdefault(given.run_id, len(self._order))
        script = self._scripts[min(place, len(self._scripts) - 1)] if self._scripts else ()
        if given.step >= len(script):
            raise PlannerError(
                f"the script of run {place} has {len(script)} steps, and step {given.step} is asked"
            )
        step = script[given.step]
        if callable(step):
            made = step(given)
            step = await made if inspect.isawaitable(made) else made
        return FinalResponse(text=step) if isinstance(step, str) else step
