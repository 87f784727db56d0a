"""A planner that follows a script: for tests, and for demos without a model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from toolgen.contract.errors import ToolgenError

from .messages import AssistantMessage, UserMessage
from .plan_faults import PlannerError
from .planner import FinalResponse, PlanInput, PlanResult

ScriptStep: TypeAlias = PlanResult | str | Callable[[PlanInput], "PlanResult | str | Awaitable[PlanResult]"]
"""Result of one planning: a plan, a string as the final response, or a function of the input.

A function returns a plan or a string.
"""


class ScriptedPlanner:
    """Plays one list of steps for each run; all further runs play the last list again.

    Runs are distinguished by ID, in the order in which this process first sees them. A process that continues
    the runs of another process starts counting again; use `by_message`, which needs no counting.
    """

    def __init__(
        self,
        *runs: Sequence[ScriptStep],
        by_message: Mapping[str, Sequence[ScriptStep]] | None = None,
    ) -> None:
        """Construct the planner with these lists.

        Args:
            runs: The list for the first run, for the second run, and so on.
            by_message: Lists by the beginning of the message that the run answers. That message is the newest
                of the run's own messages, from a person, an agent or the runtime, that begins with one of the
                keys; messages of earlier turns do not count. The longest matching key wins. A run without a
                match plays one of `runs`.

        Raises:
            ToolgenError: a run is a string instead of a list of steps.
        """
        for run in (*runs, *(by_message or {}).values()):
            if isinstance(run, str):
                raise ToolgenError(
                    f"a run of the ScriptedPlanner is the string {run!r}, not a list of steps",
                    hint=f"write ScriptedPlanner([{run!r}])",
                )
        self._scripts = runs
        self._by_message = dict(by_message or {})
        self._order: dict[str, int] = {}
        self.inputs: list[PlanInput] = []
        """Inputs of all plannings, in order."""

    async def plan_start(self, plan_input: PlanInput) -> PlanResult:
        """Return the first step of the run's list; raises as `plan_resume`."""
        return await self._step(plan_input)

    async def plan_resume(self, plan_input: PlanInput) -> PlanResult:
        """Return the next step of the run's list.

        Raises:
            PlannerError: the list has no such step, or there is no list for the run.
        """
        return await self._step(plan_input)

    async def _step(self, plan_input: PlanInput) -> PlanResult:
        self.inputs.append(plan_input)
        beginning = self._beginning(plan_input)
        if beginning is not None:
            name, script = repr(beginning), self._by_message[beginning]
        elif self._by_message and not self._scripts:
            texts, keys = _texts_to(plan_input), ", ".join(map(repr, self._by_message))
            about = repr(texts[-1]) if texts else "the run, which answers no message"
            raise PlannerError(f"by_message has no list for {about}; it has {keys}")
        else:
            place = self._order.setdefault(plan_input.run_id, len(self._order))
            name = f"run {place}"
            script = self._scripts[min(place, len(self._scripts) - 1)] if self._scripts else ()
        if plan_input.step >= len(script):
            is_counted = beginning is None and len(self._scripts) > 1
            hint = "; by_message tells runs apart after a restart too" if is_counted else ""
            raise PlannerError(
                f"the script of {name} has {len(script)} steps, and step {plan_input.step} was "
                f"requested{hint}"
            )
        step = script[plan_input.step]
        if callable(step):
            returned = step(plan_input)
            step = await returned if inspect.isawaitable(returned) else returned
        return FinalResponse(text=step) if isinstance(step, str) else step

    def _beginning(self, plan_input: PlanInput) -> str | None:
        """Return the key of the list for a run; None if no list matches."""
        for text in reversed(_texts_to(plan_input)):
            keys = [key for key in self._by_message if text.startswith(key)]
            if keys:
                return max(keys, key=len)
        return None


def _texts_to(plan_input: PlanInput) -> list[str]:
    """Return the messages to the run, oldest first; each of its plannings has added one message too."""
    texts, plannings = list[str](), plan_input.step
    for message in reversed(plan_input.messages):
        if isinstance(message, UserMessage):
            texts.append(message.text)
        elif isinstance(message, AssistantMessage):
            if not plannings:
                break
            plannings -= 1
    return texts[::-1]
