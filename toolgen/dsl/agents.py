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
    """Refer by name to a toolset that another agent exports.

    It has the same effect as the toolset itself. Use it if the other agent is in another module, or is
    defined later.

    Args:
        service: Name of the service of that agent.
        agent: Name of the agent.
        export: Name of the toolset.

    Example: `d.AgentToolset("assistant", "diagnostics", "checks")`
    """

    service: str
    agent: str
    export: str


@dataclass(frozen=True, eq=False, repr=False)
class Use(Clause):
    """Give an agent the tools of a toolset.

    The model calls each tool by its wire name: the prefix of the `Use`, the prefix of the toolset, and the
    name of the tool.

    Args:
        toolset: The toolset, or an `AgentToolset`.
        only: Names of the tools to include. By default, all are included.
        exclude: Names of tools to leave out.
        prefix: Text before the tool names that the model sees.
        confirm: Require approval: `True` for all tools, names for some, or a `Confirm` by tool name.

    Example: `d.Use(d.AgentToolset("assistant", "diagnostics", "checks"), only=["probe"], prefix="home_")`
    """

    toolset: Toolset | MCPToolset | AgentToolset
    _: KW_ONLY
    only: Sequence[str] = ()
    exclude: Sequence[str] = ()
    prefix: str = ""
    confirm: bool | Sequence[str] | Mapping[str, Confirm] = False


class Export(Clause):
    """Implement a toolset with runs of the agent.

    The toolset has no executor. Each call of one of its tools starts a run, which must end with the result
    that the tool declares.

    Args:
        toolset: The toolset.
        prompts: First message of the run, by tool name; `{name}` stands for an argument. By default, the
            message is the arguments as JSON.

    Example: `d.Export(d.Toolset("checks", "Look into faults.", d.Tool("probe", "Probe the site.")))`
    """

    toolset: Final[Toolset]
    prompts: Final[Mapping[str, str]]

    def __init__(self, toolset: Toolset, *, prompts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.toolset = toolset
        self.prompts = {} if prompts is None else prompts


class Transfer(Names):
    """Allow the agent to hand the conversation over to other agents.

    The planner returns `HandOver`, or a tool requests it. The other agent sees the conversation and answers
    instead.

    Args:
        *names: `agent` for an agent of the same service, otherwise `service.agent`.

    Example: `d.Transfer("support", "billing.invoices")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class History(Clause):
    """Limit how much of a session the planner sees.

    By default, it sees the whole session. Token counts are estimates. See docs/agents.md#long-conversations.

    Args:
        keep_turns: Maximum number of earlier turns.
        summarize_after: Maximum number of earlier turns that are shown in full. If there are more, the
            newest `keep_turns` stay, and the others are summarized.
        keep_tokens: Maximum number of tokens of earlier turns. Within a run, older results are shortened if
            the input exceeds it.
        summarize_at: Maximum number of tokens of earlier turns that are shown in full. If there are more,
            the newest turns up to `keep_tokens` stay, and the others are summarized.

    Example: `d.History(keep_tokens=50_000, summarize_at=100_000)`
    """

    keep_turns: int | None = None
    _: KW_ONLY
    summarize_after: int | None = None
    keep_tokens: int | None = None
    summarize_at: int | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunPolicy(Clause):
    """Limit one run of the agent.

    Nothing is limited by default. At a limit, the planner is called once more, to finish with what it knows.
    Times are written as in `Timeout`.

    Args:
        max_tool_calls: Maximum number of tool calls, including those of the agents that it calls.
        max_consecutive_failed_tool_calls: Maximum number of consecutive batches in which every call failed.
        time_budget: Time of the run, excluding the time in which it waits for a person.
        plan_timeout: Time of one planning.
        tool_timeout: Time of one call of a tool without a `Timeout`.
        interrupts_allowed: Whether clients can interrupt, pause and resume the run.
        on_missing_fields: If required arguments are missing: `resume` asks the model again,
            `await_clarification` asks a person, `finalize` ends the run with what is known.
        history: How much of the session the planner sees. By default, all of it.

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
    """Limit the tokens that the tools of the agent add to each request.

    `toolgen gen` fails if they need more, and names the largest tools. Tokens are counted as in `toolgen
    schema --tokens`.

    Args:
        tools_tokens: Maximum number of tokens.

    Example: `d.Budget(tools_tokens=4_000)`
    """

    tools_tokens: int


AgentChild: TypeAlias = Use | Export | Transfer | Instructions | RunPolicy | Budget


class Agent(Clause):
    """Model with tools, instructions and limits.

    Generates the package `gen/<service>/agents/<name>/` with `register`, `client`, the specs of its tools and
    its part of the catalog. See docs/agents.md.

    Args:
        name: Name, written `like_this`, at most 64 characters.
        description: One sentence.
        *children: Tools that it uses or exports, agents that can take over, instructions and limits.

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
    """Typed answer of a model that has no tools.

    Generates `complete_<name>` and `stream_<name>` in `gen/<service>/completions.py`, which call a planner
    and return the typed answer. See docs/agents.md#typed-completions.

    Args:
        name: Name, written `like_this`, at most 64 characters.
        description: One sentence.
        *children: The `Return` with the type of the answer.

    Example: `d.Completion("report", "The day in short.", d.Return(d.Attribute("text", d.String, "Text.")))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[Return, ...]]

    def __init__(self, name: str, description: str, *children: Return) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
