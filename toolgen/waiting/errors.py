"""Errors of answers that are rejected. Nothing has run then.

SuspensionError
├── UnknownSuspensionError       no call waits under this token
├── ForeignAnswerError           it belongs to another session
├── NotAllowedAnswerError        the host's rule does not let this person give it
├── LateAnswerError              its time is over, its run is, or its session has ended
├── BadAnswerError               the answer does not fit; the token is still good
├── OtherQuestionError           it names another question than the one that waits
├── ConflictingAnswerError       it was answered already, otherwise
├── MissingToolError             the tool is not here now; the call still waits
├── TamperedSuspensionError      the run has a journal that differs from the frozen call
├── UnsealedSuspensionError      nobody knows who wrote what the journal keeps of the call
├── UnsharedToolError            only who makes the call has the tool, and the engine has many workers
├── MissingSecretError           calls wait that are sealed with a secret that is gone
├── UnknownGrantError            no grant has this id, or it belongs to another session
└── NoEngineError                no call of this runtime can wait
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
    """Return the error of a token whose run is gone."""
    return UnknownSuspensionError(
        "no suspended call has this token any more", hint="its run is over and forgotten"
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
        message: str = "this was answered already, and differently",
        *,
        hint: str = "the first answer counts; where it is not used, it is asked again",
    ) -> None:
        super().__init__(message, hint=hint)


class MissingToolError(SuspensionError):
    """This process does not have the tool. The call is still suspended."""


class TamperedSuspensionError(SuspensionError):
    """The journal of the run differs from the stored call. The message names the run."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id!r} has a journal that differs from the frozen call",
            hint=f"cancel the run: toolgen runs cancel {printable(run_id)}",
        )


class UnsealedSuspensionError(SuspensionError):
    """The stored call has no seal of a secret of this host. The message names the run. An operator can adopt
    it."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id!r} waits for a call that no secret of this host has sealed",
            hint=f"look at it, and adopt it: toolgen runs check --adopt {printable(run_id)}",
        )


class MissingSecretError(SuspensionError):
    """The engine has lost the secret that sealed its suspended calls."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"the key is missing that has sealed what waits, such as the call of run {run_id!r}",
            hint="restore it from a backup, beside the file of the runs (runs.db.key); where there is none, "
            "look at what waits and seal it with a new key: toolgen runs check --adopt",
        )


class UnsharedToolError(SuspensionError):
    """The tool belongs only to the caller's snapshot, and the other workers of the engine would not find
    it."""

    def __init__(self, tool: str, toolset: str) -> None:
        super().__init__(
            f"no toolset of the runtime has {tool}, so no other worker of its engine could resume the call",
            hint=f"add the toolset {toolset!r} to the runtime of every worker: Runtime.tools.add_toolset(…)",
        )


class UnknownGrantError(SuspensionError):
    """No grant has this ID, or it belongs to another session."""

    def __init__(self, grant_id: str) -> None:
        super().__init__(
            f"no grant has the id {grant_id!r}",
            hint="it expired or was revoked; `toolgen grants list` and `waits.grants()` list the rest",
        )


class NoEngineError(SuspensionError):
    """The runtime has no engine, so calls cannot be suspended."""

    def __init__(self, message: str = "no call of this runtime can wait") -> None:
        super().__init__(message, hint="give it an engine: Runtime(engine=InProcessEngine())")


class BadAnswerError(SuspensionError):
    """The answer does not fit its schema. Give another one."""

    def __init__(
        self,
        message: str,
        issues: tuple[FieldIssue, ...] = (),
        *,
        hint: str = "answer as `Suspended.answer_schema` says; `toolgen approve ID` shows it after `answer:`",
    ) -> None:
        super().__init__(message, hint=hint)
        self.issues = issues
