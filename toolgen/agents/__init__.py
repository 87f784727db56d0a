"""Agents and their runs: the loop, its activities, planners, sessions and clients."""

from typing import TYPE_CHECKING

from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.contract.lazy import lazy_exports
from toolgen.contract.policy import History, RunPolicy
from toolgen.engines import RunStatus, UnknownRunError

from .agents import Agents, agents_of
from .checking import CheckedSessions, Released
from .client import AgentClient, RunHandle
from .conversations import Sessions
from .erasing import Erased
from .instructions import InstructionsFunction
from .output import RunArtifact, RunFailedError, RunOutput
from .planner.completions import CompletionError, CompletionSpec, complete, stream_completion
from .planner.messages import (
    AssistantMessage,
    Message,
    PlannedCall,
    ToolAnswer,
    ToolMessage,
    UserMessage,
)
from .planner.plan_faults import PlannerError
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
from .planner.provider_facts import Citation, ProviderFacts
from .planner.retrying import PlannerRetry, PlannerUnavailableError
from .planner.scripted import ScriptedPlanner, ScriptStep
from .registered_agents import AgentRegistration, AgentSpec, AgentTool, UnknownRestrictionError
from .runs import InterruptsNotAllowedError
from .sessions.memory import MemorySessionStore
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
    UnusedSession,
)
from .turns import SessionBusyError
from .uploads import BadFileError, Upload

if TYPE_CHECKING:
    from .llm.planner import LLMPlanner
    from .sessions.sqlite import SqliteSessionStore

__all__ = [
    "AgentClient",
    "AgentRegistration",
    "AgentRoute",
    "AgentSpec",
    "AgentTool",
    "Agents",
    "AssistantMessage",
    "Await",
    "BadFileError",
    "CallTools",
    "CheckedSessions",
    "Citation",
    "CompletionError",
    "CompletionSpec",
    "EndedSessionError",
    "EngineLease",
    "Erased",
    "FinalResponse",
    "FinalResult",
    "HandOver",
    "History",
    "InstructionsFunction",
    "InterruptsNotAllowedError",
    "LLMPlanner",
    "MemorySessionStore",
    "Message",
    "PlanInput",
    "PlanReports",
    "PlanResult",
    "PlannedCall",
    "Planner",
    "PlannerError",
    "PlannerRetry",
    "PlannerUnavailableError",
    "ProviderFacts",
    "Released",
    "RunArtifact",
    "RunFailedError",
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
    "SqliteSessionStore",
    "Summary",
    "ToolAnswer",
    "ToolMessage",
    "Turn",
    "TurnHolder",
    "UnknownRestrictionError",
    "UnknownRunError",
    "UnknownSessionError",
    "UnusedSession",
    "Upload",
    "UserMessage",
    "agents_of",
    "complete",
    "stream_completion",
]

_LAZY = {".llm.planner": "LLMPlanner", ".sessions.sqlite": "SqliteSessionStore"}
"""Rarely used names, by the module that defines them. A module is imported when its name is first used."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)
