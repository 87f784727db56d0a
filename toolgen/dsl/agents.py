"""Agents: which tools each one uses, exports and hands over to, its limits, and typed completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final, TypeAlias

from toolgen.contract.names import OnMissingFields

from .behaviour import Confirm, Instructions
from .clause import Clause, Names, Span
from .structure import MCPToolset, Return, Toolset


@dataclass(frozen=True, eq=False, repr=False)
class AgentToolset(Clause):
    """The tools that another agent exports, by the names of its service, of the agent and of the toolset.

    Example: `d.AgentToolset("assistant", "diagnostics", "checks")`
    """

    service: str
    agent: str
    export: str


@dataclass(frozen=True, eq=False, repr=False)
class Use(Clause):
    """Tools that the agent calls: all of a toolset, only some, or all but some.

    Example: `d.Use(d.AgentToolset("assistant", "diagnostics", "checks"), only=["probe"], prefix="home_")`
    """

    toolset: Toolset | MCPToolset | AgentToolset
    _: KW_ONLY
    only: Sequence[str] = ()
    exclude: Sequence[str] = ()
    prefix: str = ""
    confirm: bool | Sequence[str] | Mapping[str, Confirm] = False
    """True for all of its tools; names of some; or by name, what a person is asked."""


class Export(Clause):
    """Tools that the agent implements for others: each call is a run of it, which begins with the prompt.

    Example: `d.Export(d.Toolset("checks", "Look into faults.", d.Tool("probe", "Probe the site.")))`
    """

    toolset: Final[Toolset]
    prompts: Final[Mapping[str, str]]
    """The first message by tool; a name in braces stands for an argument."""

    def __init__(self, toolset: Toolset, *, prompts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.toolset = toolset
        self.prompts = {} if prompts is None else prompts


class Transfer(Names):
    """Agents that this one may hand the conversation to: `agent` of its own service, or `service.agent`.

    Example: `d.Transfer("support", "billing.invoices")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class History(Clause):
    """How much of a session the planner sees: the newest turns, and a summary of the others if wanted.

    Example: `d.History(keep_tokens=50_000, summarize_at=100_000)`
    """

    keep_turns: int | None = None
    _: KW_ONLY
    summarize_after: int | None = None
    """Number of turns beyond which those before the kept ones are summarized."""
    keep_tokens: int | None = None
    """Tokens that are kept of the turns before; within a run, those beyond which old results are left out."""
    summarize_at: int | None = None
    """Tokens beyond which the turns before the kept ones are summarized."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunPolicy(Clause):
    """The limits of one run of the agent; times are written as in `Timeout`.

    Example: `d.RunPolicy(max_tool_calls=8, time_budget="2m", history=d.History(keep_turns=10))`
    """

    max_tool_calls: int | None = None
    max_consecutive_failed_tool_calls: int | None = None
    time_budget: Span | None = None
    plan_timeout: Span | None = None
    tool_timeout: Span | None = None
    interrupts_allowed: bool = False
    on_missing_fields: OnMissingFields = "resume"
    history: History | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Budget(Clause):
    """The most tokens that each request of the agent may spend on being told of its tools.

    Counted as `toolgen schema --tokens` does.

    Example: `d.Budget(tools_tokens=4_000)`
    """

    tools_tokens: int


AgentChild: TypeAlias = Use | Export | Transfer | Instructions | RunPolicy | Budget


class Agent(Clause):
    """A planner with tools.

    Example: `d.Agent("chat", "Answers questions about the home.", d.RunPolicy(max_tool_calls=8))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[AgentChild, ...]]

    def __init__(self, name: str, description: str, *children: AgentChild) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children


class Completion(Clause):
    """A typed final answer of a model, without tools.

    Example: `d.Completion("report", "The day in short.", d.Return(d.Attribute("text", d.String, "It.")))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[Return, ...]]

    def __init__(self, name: str, description: str, *children: Return) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
