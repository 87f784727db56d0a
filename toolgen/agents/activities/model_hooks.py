"""Hooks of models: before a planner is asked, after it, and after its failure; and what a plan has to be."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from pydantic_core import to_json

from toolgen.calls.errors import ToolError
from toolgen.calls.steps.boundary import Contained, run_with_timeout
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.hooks import Hook, HookMethod, Stage, Stop, Verdict, overridden_methods, run_hook
from toolgen.contract.logs import log_failure
from toolgen.runs import NonRetryableError

from ..loop.documents import AwaitKind
from ..planner.messages import PlannedCall
from ..planner.planner import Await, CallTools, FinalResponse, FinalResult, HandOver, PlanInput, PlanResult
from ..planner.portable import escaped_text, portable_text

_KINDS: Final = get_args(AwaitKind)


class PlannerError(NonRetryableError):
    """A planner cannot plan, and a retry would fail as well; the message says why."""


class ModelHooks:
    """Runs the model hooks of one host."""

    def __init__(self, hooks: Sequence[Hook], stage_timeout: float | None) -> None:
        """Construct the stages of the hooks; each hook may take `stage_timeout` seconds."""
        self._before = overridden_methods(hooks, "before_model")
        self._after = overridden_methods(hooks, "after_model")
        self._on_error = overridden_methods(hooks, "on_model_error")
        self._stage_timeout = stage_timeout

    async def before(self, plan_input: PlanInput) -> PlanInput | Stop[PlanResult]:
        """Run the before-hooks; return the planner's input, or the plan that a hook gives instead.

        Raises:
            PlannerError: a hook refused.
        """
        return await _BEFORE.run(self._before, self._run_hook, None, plan_input)

    async def after(self, plan_input: PlanInput, result: PlanResult) -> PlanResult:
        """Run the after-hooks; return the planner's plan, or the one that a hook gives instead.

        Raises:
            PlannerError: a hook refused.
        """

        def ask(step: HookMethod, result: PlanResult) -> Awaitable[Verdict]:
            return self._run_hook(step, plan_input, result)

        left = await _AFTER.run(self._after, ask, None, result)
        return left.result if isinstance(left, Stop) else left

    async def run_on_error(self, plan_input: PlanInput, error: Exception) -> PlanResult:
        """Run the hooks for a failed planning and return the plan of one that recovers.

        Raises:
            PlannerError: a hook refused.
            Exception: the failure, where no hook has anything.
        """

        def ask(step: HookMethod, error: Exception) -> Awaitable[Verdict]:
            return self._run_hook(step, plan_input, error)

        left = await _ON_ERROR.run(self._on_error, ask, None, error)
        if isinstance(left, Stop):
            return left.result
        raise left

    async def _run_hook(self, step: HookMethod, *arguments: Any) -> Verdict:
        """Run a model hook with its time limit; a failure of the hook is not retried.

        Raises:
            PlannerError: it raised, took too long or said nothing; the log has why.
        """
        try:
            with Contained():
                return await run_with_timeout(self._stage_timeout, run_hook(step, *arguments))
        except Exception as error:
            correlation_id = log_failure(log, error, "a model hook failed")
            raise PlannerError(f"a model hook failed (reference {correlation_id})") from error


def checked_plan(result: PlanResult) -> PlanResult:
    """Validate the value that a planner returned, and return it.

    Raises:
        PlannerError: it is none of the five, or not what it says.
    """
    if wrong := "; ".join(faults(result)):
        raise PlannerError(f"the planner returned {type(result).__name__}; {wrong}")
    return without_surrogates(result)


async def _stop_with_plan(around: None, subject: object, answer: PlanResult) -> Stop[PlanResult]:
    return Stop(result=checked_plan(answer))


async def _replace_plan(around: None, result: PlanResult, answer: PlanResult) -> PlanResult:
    return checked_plan(answer)


def _replace_input(around: None, plan_input: PlanInput, payload: object) -> PlanInput:
    return payload if isinstance(payload, PlanInput) else plan_input


def _raise_denial(around: None, subject: object, message: str) -> Stop[PlanResult]:
    """Raise for a hook that denies; the cause is the failure that the hook was asked about.

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


_BEFORE: Final[Stage[None, PlanInput, PlanResult]] = Stage(
    on_continue=_replace_input, on_answer=_stop_with_plan, on_deny=_raise_denial, on_abort=_raise_error
)
_AFTER: Final[Stage[None, PlanResult, PlanResult]] = Stage(
    on_answer=_replace_plan, on_deny=_raise_denial, on_abort=_raise_error
)
_ON_ERROR: Final[Stage[None, Exception, PlanResult]] = Stage(
    on_answer=_stop_with_plan, on_deny=_raise_denial, on_abort=_raise_error
)


def faults(result: object) -> Iterator[str]:
    """Yield the type errors of the value that a planner returned."""
    match result:
        case CallTools():
            yield from _no_texts(result, "text")
            yield from _wrong_calls(result.calls)
        case FinalResponse():
            yield from _no_texts(result, "text")
            truncated: object = result.is_truncated
            if not isinstance(truncated, bool):
                yield f"its is_truncated is a {type(truncated).__name__}, and no bool"
        case FinalResult():
            yield from _no_texts(result, "text")
            yield from _no_json(result.result)
        case Await():
            yield from _no_texts(result, "question", "restrict_to_tool", "text")
            if result.kind not in _KINDS:
                yield f"its kind is {result.kind!r}; kinds are {', '.join(_KINDS)}"
            if not _is_row(result.missing_fields, str):
                yield "its missing_fields are no tuple of texts"
            schema: object = result.schema
            if not isinstance(schema, Mapping | None):
                yield f"its schema is a {type(schema).__name__}, and no mapping"
        case HandOver():
            yield from _no_texts(result, "agent", "message")
        case _:
            yield "it returns CallTools, FinalResponse, FinalResult, Await or HandOver"


def without_surrogates(result: PlanResult) -> PlanResult:
    """Return the result without lone surrogates, which no log and no store takes."""
    match result:
        case CallTools():
            calls = tuple(
                replace(call, name=portable_text(call.name), arguments=escaped_text(call.arguments))
                for call in result.calls
            )
            return replace(result, text=portable_text(result.text), calls=calls)
        case FinalResponse() | FinalResult():
            return replace(result, text=portable_text(result.text))
        case Await():
            missing = tuple(map(portable_text, result.missing_fields))
            question, text = portable_text(result.question), portable_text(result.text)
            return replace(result, question=question, text=text, missing_fields=missing)
        case HandOver():
            return replace(result, agent=portable_text(result.agent), message=portable_text(result.message))


def _no_texts(result: object, *names: str) -> Iterator[str]:
    for name in names:
        value = getattr(result, name)
        if not isinstance(value, str):
            yield f"its {name} is a {type(value).__name__}, and no text"


def _wrong_calls(calls: Any) -> Iterator[str]:
    if not _is_row(calls, PlannedCall):
        yield f"its calls are {_shown(calls)}, not a tuple of PlannedCall"
        return
    for call in calls:
        yield from _no_texts(call, "name", "arguments", "id")


def _shown(calls: object) -> str:
    """Return the type of what stands for calls, with the types of its items where it is a tuple or a list."""
    kind = type(calls).__name__
    if not isinstance(calls, tuple | list):
        return f"a value of type {kind}"
    return f"a {kind} of {', '.join(dict.fromkeys(type(call).__name__ for call in calls))}"


def _no_json(value: object) -> Iterator[str]:
    try:
        to_json(value)
    except Exception as error:
        yield f"its result is no JSON: {error}"


def _is_row(values: object, kind: type) -> bool:
    return isinstance(values, tuple | list) and all(isinstance(value, kind) for value in values)
