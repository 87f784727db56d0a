"""Calls that end in an error: the texts for the model, the result for the host, the log record.

The location of a method that is still a stub is only in the log, not in texts for models.
"""

from __future__ import annotations

from dataclasses import replace
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, get_args

from toolgen.contract.boundary import as_exception
from toolgen.contract.limits import decode_truncated, truncate_text
from toolgen.contract.logs import MethodFault, log_failure, logger
from toolgen.contract.record import copied
from toolgen.contract.secrets import current, scrubbed
from toolgen.shapes.issues import FieldIssue

from ..call import Arguments, arguments_json_or_empty
from ..errors import (
    DeclaredError,
    MalformedResultError,
    NotBegunError,
    OutcomeUnknownError,
    ToolError,
    ToolValidationError,
    UnfitAnswerError,
    causes_of,
)
from ..results import RetryHint, RetryReason, ToolResult
from .result_encoding import error_document, issues_document, truncate_hint, unknown_document

if TYPE_CHECKING:
    from ..call import CallMeta
    from ..specs import ErrorSpec, ToolSpec

_REASONS: Final = get_args(RetryReason)
_TEXT: Final = str | None
_HINTED: Final[dict[str, Any]] = {
    "tool": str, "restrict_to_tool": bool, "missing_fields": tuple, "issues": tuple, "more_issues": int,
    "example_input": _TEXT, "prior_input": _TEXT, "clarifying_question": _TEXT, "message": _TEXT,
    "retry_after": int | float | None,
}  # fmt: skip
"""Types of the attributes of a retry hint."""

_UNDECLARED: Final = (
    "%s raised the error %s, which its design does not declare, so the model gets only the message, "
    'without code and details; add Error("%s", …) to the tool, or to the method that it is bound to'
)

log = logger("toolgen.runtime")


def invalid_arguments_result(
    spec: ToolSpec,
    error: ToolValidationError,
    data: Arguments,
    meta: CallMeta,
    limit: int,
    *,
    message: str = "",
) -> ToolResult:
    """Return the error result of invalid arguments: the issues, an example, and a retry hint.

    `message` is passed if the model made no mistake. The document for the model and each text of the hint
    have at most `limit` bytes.
    """
    if current():
        issues = tuple(map(_scrubbed_issue, error.issues))
        error = ToolValidationError(issues, error.more, is_counted=error.is_counted)
    findings: Any = error._findings
    refusal: Any = findings.refusal if findings and findings.issues is error.issues and not message else False
    key, may_recur = (spec.id, spec.name, spec.example, limit), refusal is not False
    if not refusal or refusal[0] != key:
        refusal = key, *_refusal(spec, error, limit, message or f"the arguments of {spec.name} do not fit")
        if findings and may_recur:
            findings.refusal = refusal
    hint: Any = copied(refusal[1]) if may_recur else refusal[1]
    document = arguments_json_or_empty(data)
    hint.prior_input = decode_truncated(document, limit) if document else None
    failure: Any = ToolError.__new__(ToolError, hint.message)  # equal to the constructor for ASCII text
    failure.message, failure.retry_hint = hint.message, hint
    result: Any = object.__new__(ToolResult)  # the constructor takes three times as long
    result.tool, result.status, result.json = spec.id, "error", refusal[2]
    result.error, result.retry_hint, result.tool_call_id = failure, hint, meta.tool_call_id
    return result  # type: ignore[no-any-return]  # created as one


def _refusal(spec: ToolSpec, error: ToolValidationError, limit: int, message: str) -> tuple[RetryHint, bytes]:
    """Return the parts that depend only on the issues: the retry hint without the arguments, and the
    document."""
    issues = error.issues
    missing = tuple([issue.path for issue in issues if issue.constraint == "missing_field"])
    question = None
    if missing:
        names = ", ".join([path.removeprefix("$.") for path in missing])
        question = truncate_text(f"To call {spec.name} I need {names}.", limit)
    hint = RetryHint(
        reason="missing_fields" if len(missing) == len(issues) + error.more else "invalid_arguments",
        tool=spec.id,
        restrict_to_tool=True,
        missing_fields=missing,
        issues=issues,
        more_issues=error.more,
        example_input=spec.example,
        clarifying_question=question,
        message=message,
    )
    return hint, issues_document(message, limit, error, spec.example)


def declared(spec: ToolSpec, error: ToolError) -> ToolError:
    """Return a failure as the declared error of its tool's design, if it is one.

    A declared error gets its details as JSON. An error that this tool does not declare keeps only its
    message. If the details do not fit, the executor has a bug, and an internal error is returned.
    """
    if not isinstance(error, DeclaredError):
        return error
    code: object = error.code  # an executor may have set any value
    error_spec = spec.errors.get(code) if isinstance(code, str) else None
    if error_spec is None:
        log.warning(_UNDECLARED, spec.id, error.code, error.code)
        return ToolError(
            error.message, cause=error.cause, retry_hint=error.retry_hint, is_retryable=error.is_retryable
        )
    try:
        details = _details(error_spec, error.details)
    except MalformedResultError as malformed:
        return internal_error(spec, malformed)
    return DeclaredError(
        error.message,
        code=error_spec.name,
        details=error.details,
        details_json=details,
        cause=error.cause,
        retry_hint=error.retry_hint,
        is_retryable=error_spec.is_retryable,
    )


def _details(error_spec: ErrorSpec, details: object) -> bytes:
    """Return the details of a declared error as JSON; empty for an error without details.

    Raises:
        MalformedResultError: the details are not of the type that the design declares.
    """
    if error_spec.codec is not None:
        return error_spec.codec.encode(details)
    if details is not None:
        raise MalformedResultError(f"the error {error_spec.name} has details, but its design declares none")
    return b""


def error_result(tool: str, error: ToolError, meta: CallMeta, limit: int) -> ToolResult:
    """Return the error result of a `ToolError`, truncated to `limit` bytes.

    An `OutcomeUnknownError` has the status `unknown` and no retry hint. The sensitive values of the running
    call are redacted in the texts.
    """
    error = error if current() is None else _scrubbed_error(error)
    is_unknown = isinstance(error, OutcomeUnknownError)
    return ToolResult(
        tool=tool,
        status="unknown" if is_unknown else "error",
        json=_document(error, limit),
        tool_call_id=meta.tool_call_id,
        error=error,
        retry_hint=None if is_unknown else _hint(tool, error.retry_hint, limit),
    )


def _scrubbed_error(error: ToolError) -> ToolError:
    """Return an error with its sensitive values redacted; the same error if it has none."""
    cause: ToolError | None = None
    for error_below in reversed(causes_of(error)):  # an executor may have chained them in a cycle
        cause = _without_secrets(error_below, cause)
    return _without_secrets(error, cause)


def _without_secrets(error: ToolError, cause: ToolError | None) -> ToolError:
    """Return a failure with this cause, with sensitive values redacted in its own texts."""
    message = scrubbed(str(error.message))
    hint = error.retry_hint
    if isinstance(hint, RetryHint) and _is_well_typed(hint):
        question = hint.clarifying_question and scrubbed(hint.clarifying_question)
        redacted = replace(
            hint, message=hint.message and scrubbed(hint.message), clarifying_question=question
        )
        hint = hint if redacted == hint else redacted
    if message == error.message and cause is error.cause and hint is error.retry_hint:
        return error
    if isinstance(error, DeclaredError):
        return DeclaredError(
            message,
            code=error.code,
            details=error.details,
            details_json=error.details_json,
            cause=cause,
            retry_hint=hint,
            is_retryable=error.is_retryable,
        )
    kind = OutcomeUnknownError if isinstance(error, OutcomeUnknownError) else ToolError
    return kind(
        message,
        cause=cause,
        retry_hint=hint,
        correlation_id=error.correlation_id,
        is_retryable=error.is_retryable,
    )


def _scrubbed_issue(issue: FieldIssue) -> FieldIssue:
    keys = tuple(scrubbed(key) if isinstance(key, str) else key for key in issue.keys)
    return replace(issue, keys=keys, message=scrubbed(issue.message))


def _document(error: ToolError, limit: int) -> bytes:
    if isinstance(error, OutcomeUnknownError):
        return unknown_document(str(error.message), limit)
    if isinstance(error, NotBegunError):
        return error_document(str(error.message), limit, code=error.code, is_retryable=True)
    if isinstance(error, UnfitAnswerError) and error.is_shown:
        return error_document(str(error.message), limit, details=error.document, about="answer")
    if not isinstance(error, DeclaredError):
        return error_document(str(error.message), limit)
    return error_document(
        str(error.message),
        limit,
        code=error.code,
        details=error.details_json,
        is_retryable=error.is_retryable,
    )


def _hint(tool: str, hint: object, limit: int) -> RetryHint | None:
    """Return the hint of an error with truncated texts; None for a value that is not a hint."""
    if hint is None or (isinstance(hint, RetryHint) and _is_well_typed(hint)):
        return hint and truncate_hint(hint, limit)
    log.warning("the retry hint of an error of %s has a value of the wrong type; the hint is ignored", tool)
    return None


def _is_well_typed(hint: RetryHint) -> bool:
    """Return whether each attribute of a hint has the right type; an executor can set any value."""
    values = {name: getattr(hint, name) for name in _HINTED}
    return (
        hint.reason in _REASONS
        and all(isinstance(values[name], kind) for name, kind in _HINTED.items())
        and (
            all(isinstance(path, str) for path in hint.missing_fields)
            and all(isinstance(issue, FieldIssue) for issue in hint.issues)
        )
    )


def denied_result(
    spec: ToolSpec, message: str, meta: CallMeta, limit: int, *, code: str = "denied"
) -> ToolResult:
    """Return the result of a denied call, with the reason for the model.

    The code is the kind of denial: `denied`, `approval_unavailable`, `canceled`. The document has at most
    `limit` bytes.
    """
    message = scrubbed(message)
    return ToolResult(
        tool=spec.id,
        status="denied",
        json=error_document(message, limit, code=code),
        tool_call_id=meta.tool_call_id,
        error=ToolError(message),
    )


def internal_error(spec: ToolSpec, error: BaseException) -> ToolError:
    """Log an internal error and return a `ToolError` that shows only its reference."""
    from toolgen.contract.method_faults import service_fault

    fault = service_fault(spec.id, error)
    correlation_id = log_failure(log, error, "tool %s failed", spec.id, fault=fault)
    message = (
        f"{spec.name} failed with an internal error; the arguments were valid (reference {correlation_id})"
    )
    hint = _malformed_hint(spec, message) if isinstance(error, MalformedResultError) else None
    return ToolError(message, retry_hint=hint, correlation_id=correlation_id)


def unreadable_result(spec: ToolSpec, error: BaseException, execute: object = None) -> ToolError:
    """Log the error of an unreadable result, and return the `ToolError` of a call that has run.

    The log record names the tool's own method if it is `execute`. A retry hint is added only if the tool may
    be called again.
    """
    code: object = getattr(execute, "__code__", None)
    fault = None
    if isinstance(error, MalformedResultError):
        if error._returned_by is not None:
            fault = MethodFault.of(error._returned_by[0], spec.id, scrubbed(error._returned_by[1]))
        elif type(code) is CodeType:
            fault = MethodFault.of(code, spec.id, f"returned a malformed result: {scrubbed(str(error))}")
    correlation_id = log_failure(log, error, "the result of tool %s is malformed", spec.id, fault=fault)
    message = f"{spec.name} ran; its result could not be read (reference {correlation_id})"
    return ToolError(message, retry_hint=_malformed_hint(spec, message), correlation_id=correlation_id)


def _malformed_hint(spec: ToolSpec, message: str) -> RetryHint | None:
    """Return the hint to repeat a call with a malformed result; None if it must not run twice."""
    if not spec.may_repeat:
        return None
    return RetryHint(reason="malformed_response", tool=spec.id, message=message)


def readable(spec: ToolSpec, error: ToolError) -> ToolError:
    """Return the error, or an internal error if reading its texts or attributes raises.

    Raises:
        KeyboardInterrupt: it was raised there.
    """
    try:
        for failure in (error, *causes_of(error)):
            _facts_of(failure)
    except BaseException as broken:  # noqa: BLE001 - an author's error may raise when read; that is the bug
        return internal_error(spec, as_exception(broken))
    return error


def _facts_of(error: ToolError) -> tuple[object, ...]:
    """Return the attributes of an error that a result contains; a subclass of an executor can compute
    them."""
    own = (error.code, error.details, error.details_json) if isinstance(error, DeclaredError) else ()
    texts = str(error), str(error.message)
    return (*texts, error.retry_hint, error.correlation_id, error.is_retryable, *own)


def tool_error_of(spec: ToolSpec, error: BaseException) -> ToolError:
    """Return an exception as a `ToolError`; an exception that is not for the model is logged and hidden."""
    if isinstance(error, ToolError):
        return readable(spec, error)
    from toolgen.contract.method_faults import unimplemented

    if stub := unimplemented(spec.id, spec.method, error):
        return unavailable(spec, stub)
    return internal_error(spec, error)


def unavailable(spec: ToolSpec, stub: MethodFault) -> ToolError:
    """Log the location of an unimplemented method, and return a `ToolError` without the location."""
    stub.log(log)
    message = f"{spec.name} is not implemented"
    return ToolError(message, retry_hint=RetryHint(reason="tool_unavailable", tool=spec.id, message=message))
