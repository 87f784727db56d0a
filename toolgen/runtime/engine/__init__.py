"""The seam between the loop and what makes it durable: an engine starts runs, and keeps what they did.

The loop is a function of its input and of what its `RunContext` returns, so that an engine may run it again
from its journal. Whatever touches the world is an activity. Only JSON crosses the seam, in memory too.
"""

from .engine import (
    Activity,
    ActivityInfo,
    CallOptions,
    Emit,
    Engine,
    EngineCaps,
    ErasingEngine,
    LastEvents,
    Loop,
    OnEvent,
    OnForget,
    RunContext,
    answer_name,
)
from .errors import (
    OUTCOME_UNKNOWN,
    ActivityFailed,
    DuplicateOperationError,
    EngineError,
    NondeterminismError,
    NonRetryableError,
    PayloadTooLargeError,
    UnknownRunError,
    WaitOverError,
    unknown_run,
)
from .statuses import ForgottenRun, OpenWait, Receipt, RunState, RunStatus, RunWait, Signal, WaitStatus

__all__ = [
    "OUTCOME_UNKNOWN",
    "Activity",
    "ActivityFailed",
    "ActivityInfo",
    "CallOptions",
    "DuplicateOperationError",
    "Emit",
    "Engine",
    "EngineCaps",
    "EngineError",
    "ErasingEngine",
    "ForgottenRun",
    "LastEvents",
    "Loop",
    "NonRetryableError",
    "NondeterminismError",
    "OnEvent",
    "OnForget",
    "OpenWait",
    "PayloadTooLargeError",
    "Receipt",
    "RunContext",
    "RunState",
    "RunStatus",
    "RunWait",
    "Signal",
    "UnknownRunError",
    "WaitOverError",
    "WaitStatus",
    "answer_name",
    "unknown_run",
]
