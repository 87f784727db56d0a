"""The seam between the loop and what makes it durable: an engine starts runs, and keeps what they did.

The loop is a function of its input and of what its `RunContext` returns, so that an engine may run it again
from its journal. Whatever touches the world is an activity. Only JSON crosses the seam, in memory too.
"""

from .engine import (
    DRAIN_S,
    Activity,
    ActivityInfo,
    CallOptions,
    DrainingEngine,
    Emit,
    Engine,
    EngineCaps,
    ErasingEngine,
    LastEvents,
    Loop,
    OnEvent,
    OnForget,
    QueueEngine,
    RunContext,
    WorkerRole,
    answer_name,
)
from .errors import (
    OUTCOME_UNKNOWN,
    ActivityFailed,
    DuplicateOperationError,
    EngineError,
    NondeterminismError,
    NonRetryableError,
    NotRegisteredError,
    PayloadGoneError,
    PayloadTooLargeError,
    UnknownRunError,
    WaitOverError,
    unknown_run,
)
from .one_by_one import one_by_one
from .payloads import PayloadStore
from .statuses import ForgottenRun, OpenWait, Receipt, RunState, RunStatus, RunWait, Signal, WaitStatus

__all__ = [
    "DRAIN_S",
    "OUTCOME_UNKNOWN",
    "Activity",
    "ActivityFailed",
    "ActivityInfo",
    "CallOptions",
    "DrainingEngine",
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
    "NotRegisteredError",
    "OnEvent",
    "OnForget",
    "OpenWait",
    "PayloadGoneError",
    "PayloadStore",
    "PayloadTooLargeError",
    "QueueEngine",
    "Receipt",
    "RunContext",
    "RunState",
    "RunStatus",
    "RunWait",
    "Signal",
    "UnknownRunError",
    "WaitOverError",
    "WaitStatus",
    "WorkerRole",
    "answer_name",
    "one_by_one",
    "unknown_run",
]
