"""The three stages of the hooks of a tool: before it, after it, and where it failed."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, Final

from ..calls import ToolCall
from ..errors import ToolError, ToolValidationError
from ..results import ToolResult
from .boundary import contain
from .deadlines import limited
from .failures import Arguments, as_document, failure_of, hidden
from .finishing import finished
from .frame import Frame
from .hooks import Stage, Step, Stop, Verdict, told


async def before_hooks(frame: Frame, call: ToolCall) -> ToolCall | Stop[ToolResult]:
    """Return the call as the hooks before it leave it, or the result that one of them has in its place.

    Raises:
        Exception: what a hook raises or aborts with, or what does not fit of a payload of its own.
    """

    context, seconds = frame.context, frame.host.stage_timeout

    def ask(step: Step, call: ToolCall) -> Awaitable[Verdict]:
        return limited(seconds, told(step, call, call.payload, context))

    return await _BEFORE.run(frame.entry.before, ask, frame, call)


async def error_hooks(frame: Frame, call: ToolCall, failure: ToolError) -> ToolResult:
    """Return the result of a failure, or what a hook has in its place."""

    def ask(step: Step, failure: ToolError) -> Awaitable[Verdict]:
        return _asked(frame, step, call, failure, frame.context)

    try:
        left = await _ON_ERROR.run(frame.entry.on_error, ask, frame, failure)
    except BaseException as error:
        left = hidden(frame.spec, contain(error))
    return left.result if isinstance(left, Stop) else frame.failed(left)


async def after_hooks(frame: Frame, result: ToolResult) -> ToolResult:
    """Return the result, or the one that a hook has in its place; each hook sees what the one before left.

    A denial stands, whatever a hook says, does or raises; `Deny` puts it in other words. A call that is
    suspended has its hooks when it has its result.
    """
    if not frame.entry.after or result.status == "suspended":
        return result
    call = ToolCall(tool=frame.spec.id, payload_json=_as_it_came(frame.arguments), meta=frame.meta)

    def ask(step: Step, result: ToolResult) -> Awaitable[Verdict]:
        return _asked(frame, step, call, result, frame.context)

    for step in frame.entry.after:  # one at a time: the failure of one is the result that the next one sees
        try:
            left = await _AFTER.run((step,), ask, frame, result)
            result = left.result if isinstance(left, Stop) else left
        except BaseException as error:
            exception = contain(error)
            if result.status == "denied":
                hidden(frame.spec, exception)
            else:
                result = frame.failed(failure_of(frame.spec, exception))
    return result


def _asked(frame: Frame, step: Step, *arguments: Any) -> Awaitable[Verdict]:
    """Return what gives the verdict of a hook, within its time."""
    return limited(frame.host.stage_timeout, told(step, *arguments))


def _replaced(frame: Frame, call: ToolCall, payload: Any) -> ToolCall:
    """Return the call with a hook's payload, which has to be one that a model could have sent.

    Raises:
        MalformedResultError: it is of another class.
        ToolValidationError: it does not fit.
    """
    if payload is None:
        return call
    codec = frame.spec.payload
    document = codec.encode(payload)
    return replace(call, payload_json=document, payload=codec.decode(document, frame.host.limits))


async def _answered(frame: Frame, subject: object, answer: object) -> Stop[ToolResult]:
    return Stop(result=await finished(frame, answer))


def _denied(frame: Frame, subject: object, message: str) -> Stop[ToolResult]:
    return Stop(result=frame.denied(message))


def _raised(frame: Frame, call: ToolCall, error: ToolError) -> ToolCall:
    """Fail the call.

    Raises:
        ToolError: always.
    """
    raise error


def _instead(frame: Frame, failure: ToolError, error: ToolError) -> ToolError:
    return error


async def _other(frame: Frame, result: ToolResult, answer: object) -> ToolResult:
    _refuse_denied(result, "Answer")
    return await finished(frame, answer)


def _reworded(frame: Frame, result: ToolResult, message: str) -> ToolResult:
    """Return a denial; one that was one already keeps its code."""
    code = json.loads(result.json).get("code", "denied") if result.status == "denied" else "denied"
    return frame.denied(message, code=code)


def _aborted(frame: Frame, result: ToolResult, error: ToolError) -> ToolResult:
    _refuse_denied(result, "Abort")
    return frame.failed(error)


def _refuse_denied(result: ToolResult, verdict: str) -> None:
    """Refuse what no hook may say to a denied call.

    Raises:
        TypeError: the call was denied.
    """
    if result.status == "denied":
        raise TypeError(f"a hook said {verdict} to a denied call, which stays denied")


def _as_it_came(data: Arguments) -> bytes:
    """Return the arguments for hooks after the call; nothing of a mapping that is not JSON."""
    try:
        return as_document(data)
    except ToolValidationError:
        return b""


_BEFORE: Final[Stage[Frame, ToolCall, ToolResult]] = Stage(
    on_continue=_replaced, on_answer=_answered, on_deny=_denied, on_abort=_raised
)
_ON_ERROR: Final[Stage[Frame, ToolError, ToolResult]] = Stage(
    on_answer=_answered, on_deny=_denied, on_abort=_instead
)
_AFTER: Final[Stage[Frame, ToolResult, ToolResult]] = Stage(
    on_answer=_other, on_deny=_reworded, on_abort=_aborted
)
