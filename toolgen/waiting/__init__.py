"""Suspended calls: what is stored of them, how they are answered, and how they resume."""

from typing import TYPE_CHECKING

from toolgen.calls.call import CallName, CallNameError
from toolgen.contract.lazy import lazy_exports
from toolgen.contract.printable import printable, printable_lines

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
    UnknownGrantError,
    UnknownSuspensionError,
    UnsealedSuspensionError,
    UnsharedToolError,
)
from .options import AnswerRule, WaitOptions, requester_may_not_approve

if TYPE_CHECKING:
    from .grants import Grant
    from .once_call import Resolution, ResolveError
    from .unfit import text_for_model

__all__ = [
    "AnswerRule",
    "BadAnswerError",
    "CallName",
    "CallNameError",
    "ConflictingAnswerError",
    "ForeignAnswerError",
    "Grant",
    "LateAnswerError",
    "MissingSecretError",
    "MissingToolError",
    "NoEngineError",
    "NotAllowedAnswerError",
    "OtherQuestionError",
    "Resolution",
    "ResolveError",
    "SuspensionError",
    "TamperedSuspensionError",
    "UnknownGrantError",
    "UnknownSuspensionError",
    "UnsealedSuspensionError",
    "UnsharedToolError",
    "WaitOptions",
    "printable",
    "printable_lines",
    "requester_may_not_approve",
    "text_for_model",
]

_LAZY = {".grants": "Grant", ".once_call": "Resolution ResolveError", ".unfit": "text_for_model"}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)
