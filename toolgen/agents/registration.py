"""Agents as generated code declares them, and as they are handed to the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolgen.calls.specs import ConfirmSpec
from toolgen.calls.toolsets.dynamic import DynamicToolset, StaticToolset
from toolgen.calls.toolsets.registration import ToolsetRegistration
from toolgen.contract.names import FORMAT
from toolgen.contract.policy import RunPolicy

from .planner.planner import Planner


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """The names and confirmation that one agent gives a tool, where they differ from its spec."""

    id: str
    name: str
    """The wire name within the agent."""
    confirm: ConfirmSpec | None = None
    """Confirmation in the place of the tool's own; None keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """One agent: its names, its tools and its limits. A constant of generated code."""

    id: str
    """`service.agent`."""
    description: str
    tools: Sequence[AgentTool] = ()
    """Tools in the order in which they are advertised."""
    transfers: Sequence[str] = ()
    """Ids of the agents that it may hand the conversation to."""
    policy: RunPolicy = field(default_factory=RunPolicy)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegistration:
    """An agent, what plans for it, and what executes its tools. Made by the generated `register`."""

    spec: AgentSpec
    planner: Planner
    toolsets: Sequence[ToolsetRegistration | StaticToolset] = ()
    """Those of the design; the executor of a toolset is the same for all agents of a runtime."""
    dynamic: Sequence[DynamicToolset] = ()
    """Toolsets of the host, resolved for each planning, after those of the design."""
    format: int = FORMAT
    """Format of generated code of format 1, which has it nowhere else; see `check_format`."""
