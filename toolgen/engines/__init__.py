"""Engines, which execute durable runs: their protocol, one for memory and files, and one for Temporal.

A loop depends only on its input and on the values that its `RunContext` returns, so an engine can replay it
from its journal. Every side effect is an activity. Arguments and results are JSON, even in memory.
"""

from typing import TYPE_CHECKING

from toolgen.contract.lazy import lazy_exports

from .context import (
    Activity,
    ActivityInfo,
    CallOptions,
    Emit,
    EndedRun,
    LastEvents,
    Loop,
    RunContext,
    answer_name,
)
from .engine import (
    DRAIN_S,
    ClockEngine,
    DrainingEngine,
    Engine,
    EngineCaps,
    ErasingEngine,
    OnEvent,
    OnForget,
    PayloadStore,
    QueueEngine,
    ReportChannel,
    WorkerRole,
)
from .errors import (
    OUTCOME_UNKNOWN,
    ActivityFailed,
    DuplicateOperationError,
    EngineClosedError,
    EngineError,
    NondeterminismError,
    NonRetryableError,
    NotRegisteredError,
    PayloadGoneError,
    PayloadTooLargeError,
    UnknownRunError,
    UnsettledAnswerError,
    WaitOverError,
    unknown_run,
)
from .statuses import (
    ForgottenRun,
    LostJournal,
    OpenWait,
    Receipt,
    RunState,
    RunStatus,
    RunWait,
    Signal,
    WaitStatus,
)

if TYPE_CHECKING:
    from .in_process.engine import InProcessEngine

__all__ = [
    "DRAIN_S",
    "OUTCOME_UNKNOWN",
    "Activity",
    "ActivityFailed",
    "ActivityInfo",
    "CallOptions",
    "ClockEngine",
    "DrainingEngine",
    "DuplicateOperationError",
    "Emit",
    "EndedRun",
    "Engine",
    "EngineCaps",
    "EngineClosedError",
    "EngineError",
    "ErasingEngine",
    "ForgottenRun",
    "InProcessEngine",
    "LastEvents",
    "Loop",
    "LostJournal",
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
    "ReportChannel",
    "RunContext",
    "RunState",
    "RunStatus",
    "RunWait",
    "Signal",
    "UnknownRunError",
    "UnsettledAnswerError",
    "WaitOverError",
    "WaitStatus",
    "WorkerRole",
    "answer_name",
    "unknown_run",
]

_LAZY = {".in_process.engine": "InProcessEngine"}
"""Lazy import of the in-process engine at its first use: code that only reads statuses executes no runs."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)
