"""Errors of the runtime.

    Exception
    ├── ToolgenError                 a mistake of the host, raised immediately
    │   ├── RegistrationError        a toolset, hook or interceptor is invalid
    │   ├── FormatError              the generated code has another format
    │   ├── EventLoopError           a second event loop uses a runtime whose own is still running
    │   ├── UnknownToolError         no registered tool has the ID or name
    │   └── UnknownArtifactError     nothing has the URI, or it belongs to another session
    ├── ToolError                    a failure whose message the model reads
    │   ├── DeclaredError            a failure that the design declares, with a name and typed details
    │   ├── OutcomeUnknownError      the work was begun, and it is unknown whether it was completed
    │   ├── CredentialNeededError    a service needs a credential that is missing
    │   ├── UnfitAnswerError         a lenient service returned an answer that does not fit
    │   └── NotBegunError            the scheduler did not admit the call
    │       ├── BusyError            too many calls are queued
    │       │   └── StuckLockError   an executor that runs on after its call holds the lock
    │       ├── DeadlockError        the call would wait for one that waits for it
    │       └── RuntimeClosedError   the runtime is closed
    ├── ToolValidationError          a document is invalid; has the issues
    ├── MalformedResultError         a value of an executor violates its contract
    │   └── MalformedReportError     a value that an executor reported before its result does
    └── NotInjectedError             an injected field was read before it was set

A call raises only errors of the first family; the others become its result.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import field
from typing import TYPE_CHECKING

from pydantic import BaseModel

from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import FORMAT, RetryReason
from toolgen.contract.record import sparse_record
from toolgen.shapes.design.model import NotInjectedError as NotInjectedError

if TYPE_CHECKING:
    from types import CodeType

    from toolgen.contract.transport import Requirement
    from toolgen.shapes.issues import FieldIssue, Findings


@sparse_record
class RetryHint:
    """How a planner can repair or repeat a failed call."""

    reason: RetryReason
    """Kind of the failure."""
    tool: str
    """ID of the tool."""
    restrict_to_tool: bool = False
    """Whether the next attempt should offer only this tool."""
    missing_fields: tuple[str, ...] = ()
    """Paths of the required fields that are missing."""
    issues: tuple[FieldIssue, ...] = ()
    """First issues of the arguments, at most `Limits.issues`."""
    more_issues: int = 0
    """Minimum number of further issues."""
    example_input: str | None = None
    """Arguments that the tool accepts, as JSON text."""
    prior_input: str | None = field(default=None, repr=False)
    """Rejected arguments; only their beginning if they are longer than `Limits.result_bytes`."""
    clarifying_question: str | None = None
    """Question whose answer would help to repair the call."""
    message: str | None = None
    """Text for the model."""
    retry_after: float | None = None
    """Seconds to wait before the next attempt."""


class RegistrationError(ToolgenError):
    """The toolset, its executor, a hook or an interceptor is invalid; nothing of it was registered."""


class FormatError(ToolgenError):
    """The generated code has another format than this runtime supports."""


class EventLoopError(ToolgenError):
    """The runtime is used in a second event loop while its own is still running."""


class UnknownToolError(ToolgenError, KeyError):
    """No registered tool has this ID or name."""

    __str__ = ToolgenError.__str__  # KeyError would print the repr


class UnknownArtifactError(ToolgenError):
    """No artifact has this URI, or it belongs to another session."""


class ToolError(Exception):
    """A failure whose message the model reads. Raise it in an executor, a hook or an interceptor.

    If an executor raises any other exception, the model reads only "… failed" and an ID under which the log
    has the traceback.
    """

    # The defaults serve subclasses that do not call this class's __init__.
    message: str = "the tool failed"
    """Text for the model."""
    cause: ToolError | None = None
    """Failure that caused this one, for example in the run of an agent."""
    retry_hint: RetryHint | None = None
    """How to repair or repeat the call."""
    correlation_id: str | None = None
    """ID under which the log has the traceback; None for an error that was raised on purpose."""
    is_retryable: bool = False
    """Whether the same call can succeed a moment later. The runtime retries read-only and idempotent
    tools."""

    def __init__(
        self,
        message: str,
        *,
        cause: ToolError | None = None,
        retry_hint: RetryHint | None = None,
        correlation_id: str | None = None,
        is_retryable: bool = False,
    ) -> None:
        super().__init__(message)
        text = str(message)  # models read it as UTF-8
        self.message = text if text.isascii() else text.encode(errors="replace").decode()
        self.cause = cause
        self.retry_hint = retry_hint
        self.correlation_id = correlation_id
        self.is_retryable = is_retryable

    def __str__(self) -> str:
        return self.message


class DeclaredError(ToolError):
    """A failure that the tool's design declares with `Error`. Create it with `of` of the generated
    constant."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        details: BaseModel | None = None,
        details_json: bytes = b"",
        cause: ToolError | None = None,
        retry_hint: RetryHint | None = None,
        is_retryable: bool = False,
    ) -> None:
        super().__init__(message, cause=cause, retry_hint=retry_hint, is_retryable=is_retryable)
        self.code = code
        """Name of the error."""
        self.details = details
        """Details, of the type that the design declares; None for an error without details."""
        self.details_json = details_json
        """Details as canonical JSON; set by the runtime."""


class OutcomeUnknownError(ToolError):
    """The work was begun, but it is unknown whether it was completed: the result has the status `unknown`.

    Raise it if a connection breaks before the answer. The call is not repeated.
    """


class CredentialNeededError(ToolError):
    """A service needs a credential that is missing, so the call is suspended until somebody provides it.

    It has the effect of `ToolOutcome.need_credential`. If nobody can be asked, it is the error of the call.
    """

    def __init__(
        self, service: str, requirement: Requirement, address: str = "", *, is_refused: bool = False
    ) -> None:
        """Construct the error for a credential that is missing, or that the service rejected.

        `address` is the resource that the credential is for, or the address at which a person authorizes it.
        """
        from toolgen.contract.credentials import needed_text, request_of  # no other call needs them

        super().__init__(needed_text(service, requirement, is_refused=is_refused))
        self.service, self.requirement, self.address = service, requirement, address
        self.request = request_of(service, requirement, address)
        """Description of the missing credential for the person who can provide it, as JSON."""


class UnfitAnswerError(ToolError):
    """The response of a lenient service does not fit its design. The call was executed.

    Code that calls a client can catch it and use the received response.
    """

    is_shown: bool = False
    """Whether the model receives the response in addition to the message; your own code can set it."""

    def __init__(
        self,
        message: str,
        document: bytes,
        value: object,
        warnings: tuple[FieldIssue, ...],
        *,
        retry_hint: RetryHint | None = None,
        is_sensitive: bool = False,
    ) -> None:
        super().__init__(message, retry_hint=retry_hint)
        self.is_sensitive = is_sensitive
        """Whether the design marks an attribute of the response as sensitive."""
        self.document = document
        """The response as received, as JSON."""
        self.value = value
        """The typed response, with values as received where the warnings apply."""
        self.warnings = warnings
        """Issues of the response."""


class NotBegunError(ToolError):
    """The scheduler did not admit the call: nothing has been executed, and the call can be repeated."""

    code: str

    def __init__(self, tool: str, why: str) -> None:
        """Construct the error of a call; `tool` is the ID of its tool."""
        message = f"{tool.rpartition('.')[2]} was not run: {why}"
        hint = RetryHint(reason="tool_unavailable", tool=tool, message=message)
        super().__init__(message, retry_hint=hint, is_retryable=True)


class BusyError(NotBegunError):
    """Too many calls are queued; code `busy`. The call has not begun."""

    code = "busy"
    """Internal: code in the result."""

    def __init__(self, tool: str, of_run: int, waiting: int, limit: int) -> None:
        """Construct the error for a call beyond `Scheduling.max_queued`, or beyond the share of its run."""
        share = (
            ""
            if waiting >= limit
            else ", and one run can use at most half of the places that other runs leave"
        )
        super().__init__(
            tool,
            f"too many calls are queued: {waiting}, {of_run} of them from the same run; the limit is "
            f"max_queued={limit} in Runtime(scheduling=Scheduling(…)){share}",
        )


class StuckLockError(BusyError):
    """An executor that is still running after its call, perhaps forever, holds the lock of a sequential
    tool."""

    def __init__(self, tool: str, holder: str) -> None:
        name = holder.rpartition(".")[2]
        NotBegunError.__init__(
            self,
            tool,
            f"the executor of {name} is still running after its call ended, and sequential calls "
            "that need its lock cannot run until it returns",
        )


class DeadlockError(NotBegunError):
    """A sequential call would wait for a call that waits for it or its caller; code `deadlock`. It has not
    begun."""

    code = "deadlock"
    """Internal: code in the result."""

    def __init__(self, tool: str, holder: str, waiting_for: str) -> None:
        super().__init__(
            tool,
            f"deadlock: it would wait for {holder}, which waits for {waiting_for}, which waits for {tool}",
        )


class RuntimeClosedError(NotBegunError):
    """The runtime is closed or is being closed; code `closed`. The call has not begun."""

    code = "closed"
    """Internal: code in the result."""

    def __init__(self, tool: str) -> None:
        super().__init__(tool, "the runtime is closed")


def causes_of(error: ToolError | None) -> tuple[ToolError, ...]:
    """Return the causes of a failure, the nearest first, up to the first that is not a `ToolError`."""
    causes: list[ToolError] = []
    cause: object = None if error is None else error.cause
    while isinstance(cause, ToolError) and cause not in causes:
        causes.append(cause)
        cause = cause.cause
    return tuple(causes)


class ToolValidationError(ValueError):
    """A document is invalid."""

    _findings: Findings | None = None
    """Findings of the codec, from which the issues and their JSON are created; None without a codec."""

    def __init__(self, issues: tuple[FieldIssue, ...], more: int = 0, *, is_counted: bool = True) -> None:
        self.args = (issues,)  # for copying and pickling, independent of the arguments
        self.issues = issues
        """Issues in the order of the document, at most `Limits.issues`."""
        self.more = more
        """Number of further issues."""
        self.is_counted = is_counted
        """Whether `more` is exact; otherwise it is a minimum."""

    def without_other_keys(self, allowed: Set[str]) -> ToolValidationError:
        """Internal: return the error whose issues quote only these keys."""
        issues = tuple(issue.without_other_keys(allowed) for issue in self.issues)
        return ToolValidationError(issues, self.more, is_counted=self.is_counted)

    def __str__(self) -> str:
        text = "; ".join(map(str, self.issues))
        return f"{text}; and {'' if self.is_counted else 'at least '}{self.more} more" if self.more else text


class MalformedResultError(RuntimeError):
    """A value of an executor violates its contract. The message has the place and the reason."""

    _returned_by: tuple[CodeType, str] | None = None
    """The author's function that returned it, and a clause about it; None for the method of the tool."""


class MalformedReportError(MalformedResultError):
    """An executor reported a value during the call that violates its contract; it has not returned."""


def check_format(name: str, format: int) -> None:
    """Raise if this runtime does not support the format of the generated code with this name.

    A generated package calls this before it imports its other modules, because modules of a later format may
    use features that this runtime lacks. So the signature must not change.

    Raises:
        FormatError: the format is not supported.
    """
    if type(format) is not int or format != FORMAT:
        raise FormatError(
            f"{name!r} was generated with format {format!r}, but this runtime supports format {FORMAT}",
            hint="run `toolgen gen`, or install the version of toolgen that generated it",
        )
