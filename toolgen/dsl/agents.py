"""Agents: which tools each one uses, exports and hands over to, its limits, and typed completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from toolgen.contract.names import OnMissingFields

from .behaviour import Confirm
from .clause import Clause, Span
from .mcp import MCPToolset
from .structure import Return, Toolset


class AgentToolset(Clause):
    """The tools that another agent exports, by the names of its service, of the agent and of the toolset.

    Example: `AgentToolset("assistant", "diagnostics", "checks")`
    """

    service: Final[str]
    agent: Final[str]
    export: Final[str]

    def __init__(self, service: str, agent: str, export: str) -> None:
        super().__init__()
        self.service = service
        self.agent = agent
        self.export = export


class Use(Clause):
    """Tools that the agent calls: all of a toolset, only some, or all but some.

    Example: `Use(AgentToolset("assistant", "diagnostics", "checks"), only=["probe"], prefix="home_")`
    """

    toolset: Final[Toolset | MCPToolset | AgentToolset]
    only: Final[Sequence[str]]
    exclude: Final[Sequence[str]]
    prefix: Final[str]
    confirm: Final[bool | Sequence[str] | Mapping[str, Confirm]]
    """True for all of its tools; names of some; or by name, what a person is asked."""

    def __init__(
        self,
        toolset: Toolset | MCPToolset | AgentToolset,
        *,
        only: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prefix: str = "",
        confirm: bool | Sequence[str] | Mapping[str, Confirm] = False,
    ) -> None:
        super().__init__()
        self.toolset = toolset
        self.only = only
        self.exclude = exclude
        self.prefix = prefix
        self.confirm = confirm


class Export(Clause):
    """Tools that the agent implements for others: each call is a run of it, which begins with the prompt.

    Example: `Export(Toolset("checks", "Look into faults.", Tool("probe", "Probe the site.")))`
    """

    toolset: Final[Toolset]
    prompts: Final[Mapping[str, str]]
    """By tool, the first message; a name in braces stands for an argument."""

    def __init__(self, toolset: Toolset, *, prompts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.toolset = toolset
        self.prompts = {} if prompts is None else prompts


class Transfer(Clause):
    """Agents that this one may hand the conversation to: `agent` of its own service, or `service.agent`.

    Example: `Transfer("support", "billing.invoices")`
    """

    names: Final[tuple[str, ...]]

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names


class History(Clause):
    """How much of a session the planner sees: the newest turns, and a summary of the others if wanted.

    Example: `History(keep_turns=10, summarize_after=30)`
    """

    keep_turns: Final[int]
    summarize_after: Final[int | None]

    def __init__(self, keep_turns: int, *, summarize_after: int | None = None) -> None:
        super().__init__()
        self.keep_turns = keep_turns
        self.summarize_after = summarize_after


class RunPolicy(Clause):
    """The limits of one run of the agent; times are written as in `Timeout`.

    Example: `RunPolicy(max_tool_calls=8, time_budget="2m", history=History(keep_turns=10))`
    """

    max_tool_calls: Final[int | None]
    max_consecutive_failed_tool_calls: Final[int | None]
    time_budget: Final[Span | None]
    plan_timeout: Final[Span | None]
    tool_timeout: Final[Span | None]
    interrupts_allowed: Final[bool]
    on_missing_fields: Final[OnMissingFields]
    history: Final[History | None]

    def __init__(
        self,
        *,
        max_tool_calls: int | None = None,
        max_consecutive_failed_tool_calls: int | None = None,
        time_budget: str | None = None,
        plan_timeout: str | None = None,
        tool_timeout: str | None = None,
        interrupts_allowed: bool = False,
        on_missing_fields: OnMissingFields = "resume",
        history: History | None = None,
    ) -> None:
        super().__init__()
        self.max_tool_calls = max_tool_calls
        self.max_consecutive_failed_tool_calls = max_consecutive_failed_tool_calls
        self.time_budget = time_budget
        self.plan_timeout = plan_timeout
        self.tool_timeout = tool_timeout
        self.interrupts_allowed = interrupts_allowed
        self.on_missing_fields = on_missing_fields
        self.history = history


AgentChild: TypeAlias = Use | Export | Transfer | RunPolicy


class Agent(Clause):
    """A planner with tools.

    Example: `Agent("chat", "Answers questions about the home.", RunPolicy(max_tool_calls=8))`
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

    Example: `Completion("daily_report", "The day in short.", Return(Attribute("text", String, "It.")))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[Return, ...]]

    def __init__(self, name: str, description: str, *children: Return) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
