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
    """The answer is rejected; the class says why."""


class UnknownSuspensionError(SuspensionError):
    """No call waits under this token."""


def unknown_suspension() -> UnknownSuspensionError:
    """Return the error of a token whose run is gone."""
    return UnknownSuspensionError(
        "no suspended call has this token any more", hint="its run is over and forgotten"
    )


class ForeignAnswerError(SuspensionError):
    """The call belongs to another session."""


class NotAllowedAnswerError(SuspensionError):
    """The host's rule does not allow this person to give this answer; somebody else may."""


class LateAnswerError(SuspensionError):
    """The time to answer is over, the run of the call is, or its session has ended."""


class OtherQuestionError(SuspensionError):
    """The answer names another question than the one that waits, or none where it has to; nothing changed."""


class ConflictingAnswerError(SuspensionError):
    """Another answer was given before."""

    def __init__(
        self,
        message: str = "this was answered already, and differently",
        *,
        hint: str = "the first answer counts; where it is not used, it is asked again",
    ) -> None:
        super().__init__(message, hint=hint)


class MissingToolError(SuspensionError):
    """The tool is not available here: its toolset is missing or does not list it. The call still waits."""


class TamperedSuspensionError(SuspensionError):
    """The journal of the run differs from the frozen call; the message names the run."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id!r} has a journal that differs from the frozen call",
            hint=f"cancel the run: toolgen runs cancel {printable(run_id)}",
        )


class UnsealedSuspensionError(SuspensionError):
    """The frozen call has no seal, or that of a secret that this host has not; the message names the run."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id!r} waits for a call that no secret of this host has sealed",
            hint=f"look at it, and adopt it: toolgen runs check --adopt {printable(run_id)}",
        )


class MissingSecretError(SuspensionError):
    """Calls wait that are sealed with the secret of the engine, and it has none any more."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"the key is missing that has sealed what waits, such as the call of run {run_id!r}",
            hint="restore it from a backup, beside the file of the runs (runs.db.key); where there is none, "
            "look at what waits and seal it with a new key: toolgen runs check --adopt",
        )


class UnsharedToolError(SuspensionError):
    """The engine has many workers, and they would not find the tool of a snapshot that a caller gave."""

    def __init__(self, tool: str, toolset: str) -> None:
        super().__init__(
            f"no toolset of the runtime has {tool}, so no other worker of its engine could resume the call",
            hint=f"add the toolset {toolset!r} to the runtime of every worker: Runtime.tools.add_toolset(…)",
        )


class UnknownGrantError(SuspensionError):
    """No grant has this id, or it belongs to another session."""

    def __init__(self, grant_id: str) -> None:
        super().__init__(
            f"no grant has the id {grant_id!r}",
            hint="it expired or was revoked; `toolgen grants list` and `waits.grants()` list the rest",
        )


class NoEngineError(SuspensionError):
    """No call of this runtime can wait."""

    def __init__(self, message: str = "no call of this runtime can wait") -> None:
        super().__init__(message, hint="give it an engine: Runtime(engine=InProcessEngine())")


class BadAnswerError(SuspensionError):
    """The answer does not fit its schema; another one may be given."""

    def __init__(
        self,
        message: str,
        issues: tuple[FieldIssue, ...] = (),
        *,
        hint: str = "answer as `Suspended.answer_schema` says; `toolgen approve ID` shows it after `answer:`",
    ) -> None:
        super().__init__(message, hint=hint)
        self.issues = issues
