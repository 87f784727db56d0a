"""Calls that wait for a person or for work elsewhere."""

from .errors import (
    BadAnswerError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    MissingSecretError,
    MissingToolError,
    NoEngineError,
    NotAllowedAnswerError,
    OtherQuestionError,
    SuspensionError,
    TamperedSuspensionError,
    UnknownSuspensionError,
    UnsealedSuspensionError,
    UnsharedToolError,
)
from .options import AnswerRule, WaitOptions, requester_may_not_approve

__all__ = [
    "AnswerRule",
    "BadAnswerError",
    "ConflictingAnswerError",
    "ForeignAnswerError",
    "LateAnswerError",
    "MissingSecretError",
    "MissingToolError",
    "NoEngineError",
    "NotAllowedAnswerError",
    "OtherQuestionError",
    "SuspensionError",
    "TamperedSuspensionError",
    "UnknownSuspensionError",
    "UnsealedSuspensionError",
    "UnsharedToolError",
    "WaitOptions",
    "requester_may_not_approve",
]
