"""Errors for rejected answers. The call has not run.

SuspensionError
├── UnknownSuspensionError       no suspended call has this token
├── ForeignAnswerError           it belongs to another session
├── NotAllowedAnswerError        the host's rule does not allow this person's answer
├── LateAnswerError              the request expired, or its run or session has ended
├── BadAnswerError               the answer does not fit; the token is still valid
├── OtherQuestionError           it names another question than the open one
├── ConflictingAnswerError       the call already has a different answer
├── MissingToolError             this process lacks the tool; the call is still suspended
├── TamperedSuspensionError      the journal of the run differs from the frozen call
├── UnsealedSuspensionError      the author of the call's record in the journal is unknown
├── UnsharedToolError            only the caller has the tool, and the engine has many workers
├── MissingSecretError           suspended calls were sealed with a secret that is gone
├── UnknownGrantError            no grant has this id, or it belongs to another session
└── NoEngineError                the runtime cannot suspend calls
"""

from __future__ import annotations

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.shapes.issues import FieldIssue


class SuspensionError(ToolgenError):
    """Base class of errors of answers. Nothing has run."""


class UnknownSuspensionError(SuspensionError):
    """No suspended call has this token: no host with the secret issued it, or its run was deleted."""


def unknown_suspension() -> UnknownSuspensionError:
    """Return the error for a token whose run is gone."""
    return UnknownSuspensionError(
        "the call with this token is no longer suspended", hint="its run has ended and was deleted"
    )


class ForeignAnswerError(SuspensionError):
    """The call belongs to another session."""


class NotAllowedAnswerError(SuspensionError):
    """The host's rule does not allow this answer by this person. Somebody else can answer."""


class LateAnswerError(SuspensionError):
    """The request has expired, after seven days by default, or its run or session has ended."""


class OtherQuestionError(SuspensionError):
    """The answer names another question than the open one, or none although it must name one."""


class ConflictingAnswerError(SuspensionError):
    """The call was answered before, with a different answer."""

    def __init__(
        self,
        message: str = "this was already answered, with a different answer",
        *,
        hint: str = "the first answer counts; if it cannot be used, the question is asked again",
    ) -> None:
        super().__init__(message, hint=hint)


class MissingToolError(SuspensionError):
    """This process does not have the tool. The call is still suspended."""


class TamperedSuspensionError(SuspensionError):
    """The journal of the run differs from the stored call. The message names the run."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"the journal of run {run_id!r} does not match the suspended call: it was changed",
            hint=f"cancel the run: toolgen runs cancel {printable(run_id)}",
        )


class UnsealedSuspensionError(SuspensionError):
    """The stored call has no seal of a secret of this host. The message names the run. An operator can adopt
    it."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id!r} has a suspended call that was not sealed with a secret of this host",
            hint=f"review it, then adopt it: toolgen runs check --adopt {printable(run_id)}",
        )


class MissingSecretError(SuspensionError):
    """The engine has lost the secret that sealed its suspended calls."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"the key that sealed the suspended calls, such as the call of run {run_id!r}, is missing",
            hint="restore it from a backup, next to the run database (runs.db.key); without a backup, "
            "review the suspended calls and seal them with a new key: toolgen runs check --adopt",
        )


class UnsharedToolError(SuspensionError):
    """The tool belongs only to the caller's snapshot, and the other workers of the engine would not find
    it."""

    def __init__(self, tool: str, toolset: str) -> None:
        super().__init__(
            f"{tool} is not in a toolset of the runtime, so other workers of its engine could not "
            "resume the call",
            hint=f"add the toolset {toolset!r} to the runtime of every worker: Runtime.tools.add_toolset(…)",
        )


class UnknownGrantError(SuspensionError):
    """No grant has this ID, or it belongs to another session."""

    def __init__(self, grant_id: str) -> None:
        super().__init__(
            f"there is no grant {grant_id!r}",
            hint="it expired or was revoked; `toolgen grants list` and `suspensions.grants()` list the "
            "others",
        )


class NoEngineError(SuspensionError):
    """The runtime has no engine, so calls cannot be suspended."""

    def __init__(self, message: str = "this runtime cannot suspend calls: it has no engine") -> None:
        super().__init__(message, hint="pass an engine: Runtime(engine=InProcessEngine())")


class BadAnswerError(SuspensionError):
    """The answer does not fit its schema. Give another one."""

    def __init__(
        self,
        message: str,
        issues: tuple[FieldIssue, ...] = (),
        *,
        hint: str = "the answer must fit `Suspended.answer_schema`; `toolgen approve ID` shows the schema",
    ) -> None:
        super().__init__(message, hint=hint)
        self.issues = issues
