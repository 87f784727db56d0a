"""Events of calls and runs: their records, the hub that numbers them, sinks, and OpenTelemetry."""

from typing import TYPE_CHECKING

from toolgen.contract.lazy import lazy_exports

from .document import as_json
from .hub import Events, Listener, Subscription
from .records import (
    AgentRunStarted,
    AnswerAccepted,
    ApprovalRequested,
    ArtifactSaved,
    AssistantReply,
    Event,
    EventsDropped,
    InputRequested,
    MemoryPreloaded,
    PlannerThought,
    PlanRetry,
    QuestionAsked,
    RunCompleted,
    RunPhase,
    RunStarted,
    RunStreamEnd,
    StateChanged,
    StateConflict,
    ToolArgsDelta,
    ToolAuthorization,
    ToolEnd,
    ToolOutputDelta,
    ToolsetDropped,
    ToolStart,
    ToolUpdate,
    Usage,
)

if TYPE_CHECKING:
    from .sinks import EventSink, JsonLinesSink
    from .telemetry.metrics import Metrics
    from .telemetry.spans import ToolSpans

__all__ = [
    "AgentRunStarted",
    "AnswerAccepted",
    "ApprovalRequested",
    "ArtifactSaved",
    "AssistantReply",
    "Event",
    "EventSink",
    "Events",
    "EventsDropped",
    "InputRequested",
    "JsonLinesSink",
    "Listener",
    "MemoryPreloaded",
    "Metrics",
    "PlanRetry",
    "PlannerThought",
    "QuestionAsked",
    "RunCompleted",
    "RunPhase",
    "RunStarted",
    "RunStreamEnd",
    "StateChanged",
    "StateConflict",
    "Subscription",
    "ToolArgsDelta",
    "ToolAuthorization",
    "ToolEnd",
    "ToolOutputDelta",
    "ToolSpans",
    "ToolStart",
    "ToolUpdate",
    "ToolsetDropped",
    "Usage",
    "as_json",
]

_LAZY = {
    ".sinks": "EventSink JsonLinesSink",
    ".telemetry.metrics": "Metrics",
    ".telemetry.spans": "ToolSpans",
}
"""Lazy imports of names that need stores or many modules, by their module."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)
