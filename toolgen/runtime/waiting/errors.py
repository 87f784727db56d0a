"""Why an answer to a suspended call is not taken. Nothing has run then.

SuspensionError
├── UnknownSuspensionError       no suspension has this token
├── ForeignAnswerError           it belongs to another session
├── LateAnswerError              its time is over
├── BadAnswerError               the answer does not fit; the token is still good
├── ReplayedAnswerError          it was answered already, and what came of it is not known
├── ConflictingAnswerError       it was answered already, otherwise
├── ChangedToolError             the tool is another one than the one that was asked about
└── TamperedSuspensionError      the store does not hold what was frozen
"""

from __future__ import annotations

from toolgen.contract.errors import ToolgenError
from toolgen.shapes.issues import FieldIssue


class SuspensionError(ToolgenError):
    """The answer is not taken; the class says why."""


class UnknownSuspensionError(SuspensionError):
    """No suspension has this token."""


class ForeignAnswerError(SuspensionError):
    """The suspension belongs to another session."""


class LateAnswerError(SuspensionError):
    """The time to answer is over."""


class ReplayedAnswerError(SuspensionError):
    """This answer was given before, and what came of it is not known; it is never run twice."""


class ConflictingAnswerError(SuspensionError):
    """Another answer was given before."""


class ChangedToolError(SuspensionError):
    """The tool is gone, or has another contract or other behaviour hints than when it was asked about."""


class TamperedSuspensionError(SuspensionError):
    """What the store holds is not what was frozen."""


class BadAnswerError(SuspensionError):
    """The answer does not fit; another one may be given."""

    def __init__(self, message: str, issues: tuple[FieldIssue, ...] = ()) -> None:
        super().__init__(message, hint="answer as the suspension's answer_schema says")
        self.issues = issues
