"""Engines, which execute durable runs: their protocol, one for memory and files, and one for Temporal.

The loop is a function of its input and of what its `RunContext` returns, so that an engine may run it again
from its journal. Whatever touches the world is an activity. Only JSON crosses the seam, in memory too.
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
"""The engine, by its module, which is imported at its first use: who reads a status executes no run."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)
