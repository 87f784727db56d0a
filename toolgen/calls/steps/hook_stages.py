"""Stages of tool hooks: before the tool, after it, after a failure, and for unknown tools."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic_core import from_json, to_json

from toolgen.contract.boundary import SuspendedWork, as_task_exception, run_first_step, run_with_timeout
from toolgen.contract.logs import log_failure

from ..call import CallMeta, FrozenCall, ToolCall, arguments_json_or_empty
from ..errors import ToolError
from ..results import Suspended, ToolResult
from .attempts import mark_state as mark_state
from .attempts import restart_state
from .failures import error_result, internal_error, log, tool_error_of, unreadable_result
from .hooks import STRICTNESS, Continue, HookMethod, Stage, Stop, Verdict, checked_verdict, notify
from .result_encoding import encode_result, error_document, truncation_marker
from .result_storing import store_and_truncate

if TYPE_CHECKING:
    from .frame import Frame, RuntimeServices

S = TypeVar("S")


async def run_error_hooks(frame: Frame, call: ToolCall, failure: ToolError) -> ToolResult:
    """Run the error hooks of a failed call, after dropping its state changes, and return its result."""

    def ask(hook: HookMethod, failure: ToolError) -> Awaitable[Verdict]:
        return run_with_timeout(frame.services.stage_timeout, hook(call, failure, frame.context))

    restart_state(frame.context)
    try:
        outcome = await _ON_ERROR.run(frame.tool.on_error, ask, frame, failure)
    except BaseException as error:  # noqa: BLE001 - author code; its failure is the error of the call
        outcome = internal_error(frame.spec, as_task_exception(error))
    return outcome.result if isinstance(outcome, Stop) else frame.error_result(outcome)


async def run_after_hooks(frame: Frame, returned: ToolResult | Awaitable[ToolResult]) -> ToolResult:
    """Run the after-hooks one by one, on a result or an awaitable of it, and return the last result.

    A denial stands, no matter what a hook returns or raises; `Deny` changes its message. The hooks of a
    suspended call run when it has its result.
    """
    result = returned if isinstance(returned, ToolResult) else await returned
    call = frame.tool_call(arguments_json_or_empty(frame.arguments))
    if result.status == "suspended":
        await _notify_suspended(frame, call, result.frozen)
        return result
    if result.status != "ok" and result.status != "pending":  # a hook may give a failed call a result
        restart_state(frame.context)
    for hook in frame.tool.after:  # if a hook fails, the next hook receives the failure as the result
        try:
            verdict: Any = run_first_step(hook(call, result, frame.context))
            if verdict.__class__ is not Continue or verdict.payload is not None:
                outcome = await apply(_AFTER, frame, hook, verdict, result)
                result = outcome.result if isinstance(outcome, Stop) else outcome
        except BaseException as error:  # noqa: BLE001 - author code; the next hook receives its failure
            exception = as_task_exception(error)
            if result.status in _FINAL:
                internal_error(frame.spec, exception)
            elif result.status == "ok" and frame.context.has_begun and not isinstance(exception, ToolError):
                result = frame.error_result(unreadable_result(frame.spec, exception))
            else:
                result = frame.error_result(tool_error_of(frame.spec, exception))
    return result


async def _notify_suspended(frame: Frame, call: ToolCall, frozen: FrozenCall | None) -> None:
    """Run the hooks of a call that waits for an answer; their failures are logged."""
    if frozen is None:  # an agent answers it
        return
    suspension = Suspended(**frozen.shown(), token="", run_id=frame.meta.run_id)
    for hook in frame.tool.on_suspend:
        try:
            await notify(hook, hook(call, suspension, frame.context), frame.services.stage_timeout)
        except BaseException as error:  # noqa: BLE001 - author code; the call waits nevertheless
            internal_error(frame.spec, as_task_exception(error))


async def run_unknown_hooks(call: ToolCall, result: ToolResult, services: RuntimeServices) -> ToolResult:
    """Run the hooks of a call whose tool does not exist; without hooks, its result is an error."""

    def ask(hook: HookMethod, result: ToolResult) -> Awaitable[Verdict]:
        return run_with_timeout(services.stage_timeout, hook(call))

    try:
        outcome = await _UNKNOWN.run(services.unknown_tool_hooks, ask, services, result)
        return outcome.result if isinstance(outcome, Stop) else outcome
    except BaseException as error:  # noqa: BLE001 - author code; the call has failed in any case
        log_failure(log, as_task_exception(error), "a hook for unknown tools failed")
        return result


async def _answer_unknown(services: RuntimeServices, result: ToolResult, answer: object) -> Stop[ToolResult]:
    document, limit = to_json(answer), services.limits.result_bytes
    from_json(document, allow_inf_nan=False)  # rejects NaN, which is not JSON
    shown = document if len(document) <= limit else truncation_marker(document, limit)
    return Stop(
        result=ToolResult(tool=result.tool, status="ok", json=shown, tool_call_id=result.tool_call_id)
    )


def _deny_unknown(services: RuntimeServices, result: ToolResult, message: str) -> ToolResult:
    document = error_document(message, services.limits.result_bytes, code="denied")
    return replace(result, status="denied", json=document, error=ToolError(message), retry_hint=None)


def _fail_unknown(services: RuntimeServices, result: ToolResult, error: ToolError) -> ToolResult:
    meta = CallMeta(tool_call_id=result.tool_call_id)
    return error_result(result.tool, error, meta, services.limits.result_bytes)


async def _encode_answer(frame: Frame, returned: object) -> ToolResult:
    """Check, encode and truncate the result that a hook returns, and return it as a `ToolResult`.

    Raises:
        MalformedResultError: it violates the tool's contract.
    """
    return await store_and_truncate(frame, encode_result(frame.spec, returned, frame.meta))


async def apply(
    stage: Stage[Frame, S, ToolResult], frame: Frame, hook: HookMethod, first: Any, subject: S
) -> S | Stop[ToolResult]:
    """Return the subject after the verdict of a hook, or the result that stops the stage.

    Raises:
        Exception: an exception of the hook, or the exception that its verdict stands for in this stage.
    """
    verdict = await first.rest(frame.services.stage_timeout) if isinstance(first, SuspendedWork) else first
    return await stage.apply(hook, verdict, frame, subject)


async def apply_strictest(
    frame: Frame, hook: HookMethod, first: Any, call: ToolCall, later_hooks: Iterator[HookMethod]
) -> ToolCall | Stop[ToolResult]:
    """Return the call as the hooks changed it, or the result of the strictest verdict.

    If the hook stops the call, the later hooks run on the call as it was at that point. `Deny` is stricter
    than `Abort`, and `Abort` is stricter than `Answer`.

    Raises:
        Exception: an exception of a hook, or the exception that its verdict stands for in this stage.
    """
    limit_s = frame.services.stage_timeout
    verdict = await first.rest(limit_s) if isinstance(first, SuspendedWork) else first
    if not isinstance(checked_verdict(hook, verdict), Continue):
        for other in later_hooks:
            later_verdict = run_with_timeout(limit_s, other(call, call.payload, frame.context))
            if _strictness(second := checked_verdict(other, await later_verdict)) > _strictness(verdict):
                hook, verdict = other, second
    return await BEFORE.apply(hook, verdict, frame, call)


def _strictness(verdict: Verdict) -> int:
    return next(at for at, kind in enumerate(STRICTNESS) if isinstance(verdict, kind))


def _replace_payload(frame: Frame, call: ToolCall, payload: object) -> ToolCall:
    """Replace the payload of a call with a hook's payload, validated like arguments of a model.

    Raises:
        MalformedResultError: it is of another class.
        ToolValidationError: it does not fit.
        TypeError: a person has already seen the arguments.
    """
    if frame.resumption is not None:
        raise TypeError("a hook cannot replace the arguments of a resumed call")
    codec = frame.spec.payload
    document = codec.encode(payload)
    return replace(
        call, payload_json=document, payload=codec.decode_null_as_absent(document, frame.services.limits)
    )


async def _stop_with_answer(frame: Frame, subject: object, answer: object) -> Stop[ToolResult]:
    return Stop(result=await _encode_answer(frame, answer))


def _stop_with_denial(frame: Frame, subject: object, message: str) -> Stop[ToolResult]:
    return Stop(result=frame.denied_result(message))


def _raise_error(frame: Frame, call: ToolCall, error: ToolError) -> ToolCall:
    """Raise the error with which a hook aborts.

    Raises:
        ToolError: always.
    """
    raise error


def _replace_error(frame: Frame, failure: ToolError, error: ToolError) -> ToolError:
    return error


async def _replace_result(frame: Frame, result: ToolResult, answer: object) -> ToolResult:
    _refuse_denied(result, "Answer")
    return await _encode_answer(frame, answer)


def _deny_result(frame: Frame, result: ToolResult, message: str) -> ToolResult:
    """Return a denied result; an earlier denial keeps its code."""
    code = json.loads(result.json).get("code", "denied") if result.status == "denied" else "denied"
    return frame.denied_result(message, code=code)


def _fail_result(frame: Frame, result: ToolResult, error: ToolError) -> ToolResult:
    _refuse_denied(result, "Abort")
    return frame.error_result(error)


def _refuse_denied(result: ToolResult, verdict: str) -> None:
    """Raise for a verdict that no hook may return for a denied call.

    Raises:
        TypeError: the call was denied.
    """
    if result.status == "denied":
        raise TypeError(f"a hook returned {verdict} for a denied call; a denied call stays denied")


_FINAL: Final = ("denied", "unknown")
"""Statuses of results that a failing hook does not change."""
BEFORE: Final[Stage[Frame, ToolCall, ToolResult]] = Stage(
    on_continue=_replace_payload,
    on_answer=_stop_with_answer,
    on_deny=_stop_with_denial,
    on_abort=_raise_error,
)
_ON_ERROR: Final[Stage[Frame, ToolError, ToolResult]] = Stage(
    on_answer=_stop_with_answer, on_deny=_stop_with_denial, on_abort=_replace_error
)
_AFTER: Final[Stage[Frame, ToolResult, ToolResult]] = Stage(
    on_answer=_replace_result, on_deny=_deny_result, on_abort=_fail_result
)
_UNKNOWN: Final[Stage[RuntimeServices, ToolResult, ToolResult]] = Stage(
    on_answer=_answer_unknown, on_deny=_deny_unknown, on_abort=_fail_unknown
)
