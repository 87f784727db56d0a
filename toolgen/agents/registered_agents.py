"""Agents as generated code declares and runtimes register them, and the restrictions of their runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolgen.calls.call import CallMeta
from toolgen.calls.errors import RegistrationError
from toolgen.calls.specs import ConfirmSpec, ToolSpec
from toolgen.calls.steps.registered_tool import RegisteredTool, RuntimeOptions
from toolgen.calls.toolsets.directory import Directory
from toolgen.calls.toolsets.dynamic import (
    DynamicToolset,
    ReadonlyContext,
    StaticToolset,
    ToolList,
    native_of,
    on_error_of,
)
from toolgen.calls.toolsets.registration import AgentRoute, ToolsetRegistration
from toolgen.calls.toolsets.resources import ResourceStack
from toolgen.calls.toolsets.snapshot import CallService, Snapshot
from toolgen.calls.toolsets.toolsets import Toolsets
from toolgen.contract.errors import ToolgenError
from toolgen.contract.policy import RunPolicy
from toolgen.contract.record import frozen_record

from .instructions import InstructionsFunction
from .planner.checked import check_planner
from .planner.named import check_name, named_planner
from .planner.planner import Planner
from .run_facts import RunOptions


@frozen_record
class AgentTool:
    """The names and confirmation that one agent gives a tool, where they differ from its spec."""

    id: str
    name: str
    """The wire name within the agent."""
    confirm: ConfirmSpec | None = None
    """Confirmation in the place of the tool's own; None keeps it."""


@frozen_record
class AgentSpec:
    """One agent: its names, its tools and its limits. A constant of generated code."""

    id: str
    """`service.agent`."""
    description: str
    tools: Sequence[AgentTool] = ()
    """Tools in the order in which they are advertised."""
    transfers: Sequence[str] = ()
    """Ids of the agents that it may hand the conversation to."""
    instructions: str = ""
    """Instructions for the model, with values of the state such as `{user:name}`; the description by default.
    """
    policy: RunPolicy = field(default_factory=RunPolicy)


@frozen_record
class AgentRegistration:
    """An agent, what plans for it, and what executes its tools. Made by the generated `register`."""

    spec: AgentSpec
    planner: Planner | str | None = None
    """A planner, or the name of one: `demo`, `openai:gpt-5`. None where `override_planner` gives it."""
    toolsets: Sequence[ToolsetRegistration | StaticToolset] = ()
    """Those of the design; the executor of a toolset is the same for all agents of a runtime."""
    instructions: InstructionsFunction | None = None
    """Returns further instructions for each planning, below those of the spec."""
    dynamic: Sequence[DynamicToolset] = ()
    """Toolsets of the host, resolved for each planning, after those of the design."""


@dataclass(slots=True, kw_only=True)
class RegisteredAgent:
    """A registered agent."""

    spec: AgentSpec
    instructions: InstructionsFunction | None
    planner: Planner | str | None
    """The name of a planner becomes the planner when it is first needed."""
    toolsets: Toolsets
    static: Snapshot
    """The tools of its design."""
    policy: RunPolicy
    called: frozenset[str]
    """Ids of the agents whose tools it calls."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The specs of the agent's tools, by their wire names."""
        return self.static.specs

    def ready_planner(self) -> Planner:
        """Return what plans for the agent, which is made of its name at the first use.

        Raises:
            RegistrationError: there is none, or it cannot have a native tool of the agent.
            ToolgenError: as `named_planner`.
        """
        if self.planner is None:
            name = self.spec.id.rpartition(".")[2]
            raise RegistrationError(
                f"agent {self.spec.id!r} has no planner",
                hint=f'write {name} = "openai:gpt-5" under [tool.toolgen.agents], or register(…, planner=…)',
            )
        if isinstance(self.planner, str):
            planner = named_planner(self.planner)
            self.check_native(planner)
            self.planner = planner
        return self.planner

    def check_native(self, planner: Planner) -> None:
        """Raise for native tools of the agent that a planner cannot pass on.

        Raises:
            RegistrationError: as said.
        """
        check = getattr(planner, "check_native", None)
        if check is not None and self.static.native:
            check(self.static.native, self.specs)

    async def snapshot(self, meta: CallMeta, previous: Snapshot | None) -> Snapshot:
        """Return the snapshot of one planning.

        Raises:
            SnapshotError: a toolset of the host cannot list its tools.
        """
        if not self.toolsets.may_change:
            return self.static
        return await self.toolsets.snapshot(ReadonlyContext(meta=meta), previous)


def register_agent(
    registration: AgentRegistration,
    directory: Directory,
    options: RuntimeOptions,
    caller: CallService,
    managers: ResourceStack,
) -> RegisteredAgent:
    """Build a registered agent whose toolsets the runtime has.

    Raises:
        RegistrationError: a tool is not there, or two have one wire name, or the planner cannot plan.
    """
    spec = registration.spec
    require_planner(spec.id, registration.planner)
    toolsets = Toolsets(caller, options, managers=managers)
    lists = [
        ToolList(
            toolset=toolset.name,
            tools=_agent_tools(spec, toolset.name, directory, options),
            instructions=toolset.instructions,
            native=native_of(toolset),
        )
        for toolset in registration.toolsets
    ]
    ids = {tool.spec.id for toolset in lists for tool in toolset.tools}
    if missing := [tool.id for tool in spec.tools if tool.id not in ids]:
        raise RegistrationError(
            f"no toolset passed to agent {spec.id!r} has {', '.join(missing)}",
            hint="register the agent with the generated `register`",
        )
    for tools in lists:
        toolsets.add_static(tools)
    for toolset in registration.dynamic:
        toolsets.add(toolset, on_error_of(toolset))
    return RegisteredAgent(
        spec=spec,
        instructions=registration.instructions,
        planner=registration.planner,
        toolsets=toolsets,
        static=Snapshot(caller, lists, ()),
        policy=spec.policy,
        called=frozenset(
            toolset.executor.agent
            for toolset in registration.toolsets
            if isinstance(toolset, ToolsetRegistration) and isinstance(toolset.executor, AgentRoute)
        ),
    )


def require_planner(agent: str, planner: object) -> None:
    """Raise where what plans for an agent is a class, lacks a method of `Planner`, or is no name of one.

    Raises:
        RegistrationError: as said.
    """
    if isinstance(planner, str):
        check_name(planner)
    elif planner is not None:
        check_planner(f"agent {agent!r}", planner)


def _agent_tools(
    spec: AgentSpec, toolset: str, directory: Directory, options: RuntimeOptions
) -> tuple[RegisteredTool, ...]:
    tools: Sequence[AgentTool] = [tool for tool in spec.tools if tool.id.rpartition(".")[0] == toolset]
    return tuple(
        with_agent_tool(registered, tool, options)
        for tool in tools
        if (registered := directory.by_id.get(tool.id)) is not None
    )


def with_agent_tool(registered: RegisteredTool, tool: AgentTool, options: RuntimeOptions) -> RegisteredTool:
    """Return the tool with the wire name and confirmation that the agent gives it."""
    if tool.name == registered.spec.name and tool.confirm is None:
        return registered
    confirm = registered.spec.confirm if tool.confirm is None else tool.confirm
    if tool.confirm is not None and registered.spec.confirm is not None:
        confirm = replace(tool.confirm, payload=registered.spec.confirm.payload)
    return registered.with_spec(replace(registered.spec, name=tool.name, confirm=confirm), options)


class UnknownRestrictionError(ToolgenError):
    """A run is restricted by the name of a tool, or by a tag, that nothing has."""


def check_restrictions(
    agent: str, options: RunOptions, agents: Mapping[str, RegisteredAgent], tools: Directory
) -> None:
    """Raise where a restriction of a run names what no tool has: it would do nothing, or leave no tool.

    The tool and the allowed tags are those of the agent, of those whose tools it calls, and of those to
    which it may hand the conversation. `tools` are all of the runtime: a run may be denied tags
    that its own agent does not have. Where one of these agents is executed elsewhere, or has dynamic
    toolsets, a tool may come later, and nothing is checked.

    Raises:
        UnknownRestrictionError: as said.
    """
    if not any(options.get(name) for name in ("restrict_to_tool", "allowed_tags", "denied_tags")):
        return
    reached = _reached(agent, agents)
    if reached is None or any(agent_.toolsets.is_dynamic for agent_ in reached):
        return
    specs = [spec for agent_ in reached for spec in agent_.specs]
    if only := options.get("restrict_to_tool", ""):
        _require([only], {spec.name for spec in specs}, f"no tool of agent {agent!r} has the wire name")
    own = {tag for spec in specs for tag in spec.tags}
    _require(options.get("allowed_tags", ()), own, f"no tool of agent {agent!r} has the allowed tag")
    _require(
        options.get("denied_tags", ()),
        own | {tag for spec in tools.specs for tag in spec.tags},
        "no tool of the runtime has the denied tag",
    )


def _reached(agent: str, agents: Mapping[str, RegisteredAgent]) -> list[RegisteredAgent] | None:
    """Return the agents that a run of this one may reach; None where one of them is not here."""
    waiting, reached = [agent], dict[str, RegisteredAgent]()
    while waiting:
        id_ = waiting.pop()
        if id_ in reached:
            continue
        other = agents.get(id_)
        if other is None:
            return None
        reached[id_] = other
        waiting += [*other.called, *other.spec.transfers]
    return list(reached.values())


def _require(named: Iterable[str], names: set[str], why: str) -> None:
    """Raise for the names that are not known.

    Raises:
        UnknownRestrictionError: as said; the hint has close names.
    """
    unknown = [name for name in named if name not in names]
    if unknown:
        raise UnknownRestrictionError(
            f"{why} {', '.join(map(repr, unknown))}", hint="; ".join(_hints(unknown, sorted(names)))
        )


def _hints(unknown: Iterable[str], names: list[str]) -> Iterator[str]:
    for name in unknown:
        if near := difflib.get_close_matches(name, names, 3):
            yield f"similar to {name!r}: {', '.join(near)}"
    if not names:
        yield "there are none"
