"""Events of calls and runs: their records, the hub that numbers them, and where they are written."""

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
    "ToolStart",
    "ToolUpdate",
    "ToolsetDropped",
    "Usage",
    "as_json",
]

_LATER = {".sinks": "EventSink JsonLinesSink"}
"""Names that need stores, by their module, which is imported at their first use."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LATER)
