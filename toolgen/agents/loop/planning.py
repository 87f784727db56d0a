"""One planning within the loop, with further attempts if the planner fails."""

from __future__ import annotations

from typing import Any, Final

from toolgen.contract.tasks import GRACE_S
from toolgen.engines.context import CallOptions, RunContext
from toolgen.engines.errors import ActivityFailed
from toolgen.events.records import MemoryPreloaded, PlanRetry, ToolsetDropped, Usage

from .documents import ModelUsage, PlanArgument, Retry, RetryStep, RunFacts, Step, as_plain_json
from .events import RunEvents
from .limits import LimitCounter

_CLOSING_S: Final = 60.0
"""Seconds for the last planning, if the policy sets no planning time."""
_GRACE_S: Final = 2 * GRACE_S
"""Seconds for an attempt to stop by itself after its time is over, before the engine stops it."""
_CUT_SHORT: Final = ("timeout", "CancelledError")
"""Failure kinds of an attempt that was interrupted."""
_MOST_CUT_SHORT: Final = 3
"""Maximum number of interrupted attempts at one planning."""
STORE_FAILED: Final = "StoreError"
"""Failure kind of a planning whose store failed."""


class Attempts:
    """Counts the attempts at one planning; callers pass the time."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._counted = 0
        self.count = 0
        """Number of attempts that have begun."""

    def record_failure(self, retry: Retry, now: float) -> bool:
        """Record a failed attempt and return whether it was the last."""
        if most := retry["most_attempts"]:
            self._counted += 1
            if self._counted >= most:
                return True
        return now - self._began + retry["delay_s"] >= retry["total_s"]

    def summary(self, retry: Retry, now: float) -> str:
        """Return a text with the number of attempts and their duration."""
        if retry["delay_s"] >= retry["total_s"]:
            return f"the next attempt would be in {retry['delay_s']:.0f} s"
        if self.count == 1:
            return "1 attempt"
        return f"{self.count} attempts in {now - self._began:.0f} s"


class Plannings:
    """Executes the plannings of one run."""

    def __init__(self, ctx: RunContext, facts: RunFacts, progress: LimitCounter, events: RunEvents) -> None:
        self._ctx = ctx
        self._progress = progress
        self._events = events
        self._timeout: float | None = facts["policy"]["plan_timeout"]
        self.usage: list[ModelUsage] = []
        """Model usage of all attempts, including failed ones."""
        self.has_memory = False
        """Whether the host has a memory for the run."""

    async def step(self, argument: PlanArgument) -> Step:
        """Return the planner's step, after as many attempts as needed.

        Raises:
            ActivityFailed: there is no further attempt; its kind is `LatePlanError` if the time of the run is
                over, and `STORE_FAILED` if a store has failed.
        """
        began = self._ctx.now()
        deadline = self._deadline(began, argument)
        attempts = Attempts(began)
        while True:
            attempts.count += 1
            op = f"plan:{argument['step']}" + (f":{attempts.count}" if attempts.count > 1 else "")
            step = await self._attempt(op, argument, attempts.count, deadline)
            await self._spend(op, step["usage"])
            for number, dropped in enumerate(step.get("dropped", ())):
                await self._events.publish(f"dropped:{op}:{number}", ToolsetDropped(**dropped))
            if step["kind"] != "retry":
                await self._note_memory(op, step)
                return step
            self._require_retry(op, step, attempts, deadline)
            delay = step["retry"]["delay_s"]
            retry = PlanRetry(attempt=attempts.count, delay_s=delay, reason=step["reason"])
            await self._events.publish(f"retry:{op}", retry)
            await self._ctx.wait(f"pause:{op}", timeout_s=delay)

    async def _note_memory(self, op: str, step: Step) -> None:
        if (memory := step.get("memory")) is None:
            return
        self.has_memory = True
        if (count := memory.get("preloaded")) is not None:
            preloaded = MemoryPreloaded(count=count, has_failed=memory.get("has_failed", False))
            await self._events.publish(f"memory:{op}", preloaded)

    def _deadline(self, now: float, argument: PlanArgument) -> float | None:
        """Return the time by which all attempts must end; None if the run has no time limit."""
        if argument["closing"]:
            return now + (self._timeout or _CLOSING_S)
        time_left = self._progress.time_left(now)
        return None if time_left is None else now + time_left

    async def _attempt(
        self, op: str, argument: PlanArgument, attempt: int, deadline: float | None
    ) -> Step | RetryStep:
        limit = self._timeout
        if attempt > 1:
            argument = {**argument, "attempt": attempt}
        if deadline is not None:
            time_left = max(0.01, deadline - self._ctx.now())
            argument = {**argument, "time_left": time_left}
            limit = time_left + _GRACE_S if limit is None else min(limit, time_left + _GRACE_S)
        options = CallOptions(attempts=1, timeout=limit, is_durable_later=True)
        try:
            step: Any = await self._ctx.start(op, "plan", as_plain_json(argument), options)
        except ActivityFailed as error:
            is_late = deadline is not None and self._ctx.now() >= deadline
            if error.kind not in _CUT_SHORT or is_late:
                raise
            return _retry_at_once(error)
        return step  # type: ignore[no-any-return]  # the activity `plan` returns it

    def _require_retry(self, op: str, step: RetryStep, attempts: Attempts, deadline: float | None) -> None:
        """Count a failed attempt, and raise if no further attempt follows.

        Raises:
            ActivityFailed: no further attempt follows.
        """
        now = self._ctx.now()
        if attempts.record_failure(step["retry"], now):
            why = attempts.summary(step["retry"], now)
            kind = STORE_FAILED if step.get("is_store") else "PlannerError"
            raise ActivityFailed(op, kind, f"{step['reason']} ({why})")
        if deadline is not None and now + step["retry"]["delay_s"] >= deadline:
            raise ActivityFailed(op, "LatePlanError", f"{step['reason']} (no time for another attempt)")

    async def _spend(self, op: str, usage: list[ModelUsage]) -> None:
        self.usage += usage
        for number, spent in enumerate(usage):
            await self._events.publish(f"usage:{op}:{number}", Usage(**spent))


def _retry_at_once(error: ActivityFailed) -> RetryStep:
    """Return the retry without a delay that follows an interrupted attempt."""
    return {
        "kind": "retry",
        "reason": error.message or f"it raised {error.kind}",
        "retry": {"delay_s": 0.0, "total_s": float("inf"), "most_attempts": _MOST_CUT_SHORT},
        "usage": [],
    }
