"""Runs of agents, on a runtime: the loop, its activities, planners, sessions and clients."""

from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.contract.policy import History, RunPolicy
from toolgen.runs import (
    ActivityFailed,
    ActivityInfo,
    CallOptions,
    Engine,
    EngineCaps,
    EngineError,
    NonRetryableError,
    RunContext,
    RunStatus,
    Signal,
    UnknownRunError,
)

from .activities.model_hooks import PlannerError
from .agents import Agents, agents_of
from .checking import CheckedSessions
from .client import AgentClient, RunHandle
from .conversations import Sessions
from .erasing import Erased
from .output import Awaiting, RunArtifact, RunOutput
from .planner.completions import CompletionError, CompletionSpec, complete, stream_completion
from .planner.messages import (
    AssistantMessage,
    Message,
    PlannedCall,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)
from .planner.planner import (
    Await,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    Planner,
    PlanReports,
    PlanResult,
)
from .planner.retrying import PlannerRetry, PlannerUnavailableError
from .planner.scripted import ScriptedPlanner, ScriptStep
from .registration import AgentRegistration, AgentSpec, AgentTool
from .releasing import HeldSession, Released
from .restrictions import UnknownRestrictionError
from .runs import InterruptsNotAllowedError
from .sessions.sessions import (
    EndedSessionError,
    EngineLease,
    Session,
    SessionError,
    SessionStore,
    Summary,
    Turn,
    TurnHolder,
    UnknownSessionError,
)
from .sessions.unused import UnusedSession
from .turns import SessionBusyError

__all__ = [
    "ActivityFailed",
    "ActivityInfo",
    "AgentClient",
    "AgentRegistration",
    "AgentRoute",
    "AgentSpec",
    "AgentTool",
    "Agents",
    "AssistantMessage",
    "Await",
    "Awaiting",
    "CallOptions",
    "CallTools",
    "CheckedSessions",
    "CompletionError",
    "CompletionSpec",
    "EndedSessionError",
    "Engine",
    "EngineCaps",
    "EngineError",
    "EngineLease",
    "Erased",
    "FinalResponse",
    "FinalResult",
    "HandOver",
    "HeldSession",
    "History",
    "InterruptsNotAllowedError",
    "Message",
    "NonRetryableError",
    "PlanInput",
    "PlanReports",
    "PlanResult",
    "PlannedCall",
    "Planner",
    "PlannerError",
    "PlannerRetry",
    "PlannerUnavailableError",
    "Released",
    "RunArtifact",
    "RunContext",
    "RunHandle",
    "RunOutput",
    "RunPolicy",
    "RunStatus",
    "ScriptStep",
    "ScriptedPlanner",
    "Session",
    "SessionBusyError",
    "SessionError",
    "SessionStore",
    "Sessions",
    "Signal",
    "Summary",
    "ToolAnswer",
    "ToolMessage",
    "Turn",
    "TurnHolder",
    "UnknownRestrictionError",
    "UnknownRunError",
    "UnknownSessionError",
    "UnusedSession",
    "UserMessage",
    "agents_of",
    "complete",
    "stream_completion",
]
