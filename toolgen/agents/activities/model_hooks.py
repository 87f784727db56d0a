"""Hooks of models and runs: before a run, before and after a planner is called, and after its failure."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Final

from toolgen.calls.errors import ToolError
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.hooks import (
    Hook,
    HookMethod,
    Stage,
    Stop,
    Verdict,
    checked_verdict,
    overridden_methods,
)
from toolgen.contract.boundary import Contained, run_with_timeout
from toolgen.contract.logs import log_failure

from ..planner.plan_faults import PlannerError, checked_plan
from ..planner.planner import PlanInput, PlanResult
from ..recent_runs import MOST_RUNS, RecentRuns


class ModelHooks:
    """Runs the model hooks of one host."""

    def __init__(self, hooks: Sequence[Hook], stage_timeout: float | None) -> None:
        """Construct the stages of the hooks; each hook has at most `stage_timeout` seconds."""
        self._before = overridden_methods(hooks, "before_model")
        self._after = overridden_methods(hooks, "after_model")
        self._on_error = overridden_methods(hooks, "on_model_error")
        self._before_run = overridden_methods(hooks, "before_run")
        self._begun: RecentRuns[bool] = RecentRuns(MOST_RUNS)
        """The runs that hooks have allowed to begin in this process."""
        self._stage_timeout = stage_timeout

    async def before(self, plan_input: PlanInput) -> PlanInput | Stop[PlanResult]:
        """Run the before-hooks; return the planner's input, or the plan that a hook returns instead.

        Raises:
            PlannerError: a hook refused.
        """
        return await _BEFORE.run(self._before, self._run_hook, None, plan_input)

    async def begin(self, plan_input: PlanInput) -> Stop[PlanResult] | None:
        """Run the hooks before a run, once in this process; return a plan if a hook returns one instead.

        Raises:
            PlannerError: a hook refused the run.
        """
        if not self._before_run or plan_input.step or self._begun.get(plan_input.run_id):
            return None
        outcome = await _BEFORE_RUN.run(self._before_run, self._run_hook, None, plan_input)
        if isinstance(outcome, Stop):
            return outcome
        self._begun.put(plan_input.run_id, True)
        return None

    async def after(self, plan_input: PlanInput, result: PlanResult) -> PlanResult:
        """Run the after-hooks; return the planner's plan, or the plan that a hook returns instead.

        Raises:
            PlannerError: a hook refused.
        """

        def ask(step: HookMethod, result: PlanResult) -> Awaitable[Verdict]:
            return self._run_hook(step, plan_input, result)

        outcome = await _AFTER.run(self._after, ask, None, result)
        return outcome.result if isinstance(outcome, Stop) else outcome

    async def run_on_error(self, plan_input: PlanInput, error: Exception) -> PlanResult:
        """Run the hooks for a failed planning and return the plan of a hook that recovers.

        Raises:
            PlannerError: a hook refused.
            Exception: the original failure, if no hook recovers.
        """

        def ask(step: HookMethod, error: Exception) -> Awaitable[Verdict]:
            return self._run_hook(step, plan_input, error)

        outcome = await _ON_ERROR.run(self._on_error, ask, None, error)
        if isinstance(outcome, Stop):
            return outcome.result
        raise outcome

    async def _run_hook(self, step: HookMethod, *arguments: object) -> Verdict:
        """Run a model hook with its time limit; a failure of the hook is not retried.

        Raises:
            PlannerError: the hook raised, timed out or returned no verdict; the log has the details.
        """
        try:
            with Contained():
                return checked_verdict(step, await run_with_timeout(self._stage_timeout, step(*arguments)))
        except Exception as error:
            correlation_id = log_failure(log, error, "a model hook failed")
            raise PlannerError(f"a model hook failed (reference {correlation_id})") from error


async def _stop_with_plan(around: None, subject: object, answer: PlanResult) -> Stop[PlanResult]:
    return Stop(result=checked_plan(answer, _HOOK))


async def _replace_plan(around: None, result: PlanResult, answer: PlanResult) -> PlanResult:
    return checked_plan(answer, _HOOK)


def _replace_input(around: None, plan_input: PlanInput, payload: object) -> PlanInput:
    return payload if isinstance(payload, PlanInput) else plan_input


def _refuse_input(around: None, plan_input: PlanInput, payload: object) -> PlanInput:
    """Raise for a hook that replaces the request of a run, because each planning attempt rebuilds it.

    Raises:
        PlannerError: always.
    """
    raise PlannerError("a hook cannot replace the request of a run; before_model can")


def _raise_denial(around: None, subject: object, message: str) -> Stop[PlanResult]:
    """Raise for a hook that denies; the cause is the failure that was passed to the hook, if any.

    Raises:
        PlannerError: always.
    """
    raise PlannerError(message) from (subject if isinstance(subject, Exception) else None)


def _raise_error(around: None, subject: object, error: ToolError) -> Stop[PlanResult]:
    """Raise for a hook that aborts, as `_raise_denial`.

    Raises:
        PlannerError: always.
    """
    return _raise_denial(around, subject, error.message)


_HOOK: Final = "a model hook"

_BEFORE: Final[Stage[None, PlanInput, PlanResult]] = Stage(
    on_continue=_replace_input, on_answer=_stop_with_plan, on_deny=_raise_denial, on_abort=_raise_error
)
_BEFORE_RUN: Final[Stage[None, PlanInput, PlanResult]] = replace(_BEFORE, on_continue=_refuse_input)
_AFTER: Final[Stage[None, PlanResult, PlanResult]] = Stage(
    on_answer=_replace_plan, on_deny=_raise_denial, on_abort=_raise_error
)
_ON_ERROR: Final[Stage[None, Exception, PlanResult]] = Stage(
    on_answer=_stop_with_plan, on_deny=_raise_denial, on_abort=_raise_error
)
