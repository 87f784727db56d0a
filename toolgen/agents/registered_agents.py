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
    """The names and confirmation that one agent gives a tool, if they differ from its spec."""

    id: str
    name: str
    """The wire name within the agent."""
    confirm: ConfirmSpec | None = None
    """Confirmation that replaces the tool's own; None for the tool's own."""


@frozen_record
class AgentSpec:
    """One agent: its names, its tools and its limits. A constant of generated code."""

    id: str
    """`service.agent`."""
    description: str
    tools: Sequence[AgentTool] = ()
    """Tools in the order in which they are advertised."""
    transfers: Sequence[str] = ()
    """IDs of the agents that it can hand the conversation to."""
    instructions: str = ""
    """Instructions for the model, with state values, for example `{user:name}`; default: description."""
    policy: RunPolicy = field(default_factory=RunPolicy)


@frozen_record
class AgentRegistration:
    """An agent with its planner and the executors of its tools. Created by the generated `register`."""

    spec: AgentSpec
    planner: Planner | str | None = None
    """A planner, or a planner name: `demo`, `openai:gpt-5`. None if `override_planner` sets it."""
    toolsets: Sequence[ToolsetRegistration | StaticToolset] = ()
    """Toolsets of the design; all agents of a runtime share the executor of a toolset."""
    instructions: InstructionsFunction | None = None
    """Returns further instructions for each planning, added after the instructions of the spec."""
    dynamic: Sequence[DynamicToolset] = ()
    """Dynamic toolsets of the host, resolved for each planning, after the toolsets of the design."""


@dataclass(slots=True, kw_only=True)
class RegisteredAgent:
    """A registered agent."""

    spec: AgentSpec
    instructions: InstructionsFunction | None
    planner: Planner | str | None
    """A planner name is replaced by the planner when it is first needed."""
    toolsets: Toolsets
    static: Snapshot
    """The tools of its design."""
    policy: RunPolicy
    called: frozenset[str]
    """IDs of the agents whose tools it calls."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The specs of the agent's tools, with the agent's wire names."""
        return self.static.specs

    def ready_planner(self) -> Planner:
        """Return the agent's planner; a planner name is resolved at first use.

        Raises:
            RegistrationError: there is no planner, or it does not support a native tool of the agent.
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
            RegistrationError: the planner does not support a native tool.
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
    """Build a registered agent whose toolsets are registered with the runtime.

    Raises:
        RegistrationError: a tool is missing, two tools have the same wire name, or the planner is invalid.
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
    """Raise if an agent's planner is a class, lacks a method of `Planner`, or is no planner name.

    Raises:
        RegistrationError: the planner is invalid.
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
    """A run is restricted to a tool name or a tag that no tool has."""


def check_restrictions(
    agent: str, options: RunOptions, agents: Mapping[str, RegisteredAgent], tools: Directory
) -> None:
    """Raise if a run is restricted by a name or tag without a tool: it has no effect, or excludes all tools.

    The tool and the allowed tags belong to the agent, to the agents whose tools it calls, and to the agents
    to which it can hand the conversation over. `tools` are all tools of the runtime: a run may be denied tags
    that its own agent does not have. If one of these agents is executed elsewhere or has dynamic toolsets,
    tools can be added later, so nothing is checked.

    Raises:
        UnknownRestrictionError: no tool has the name or the tag.
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
    """Return the agents that a run of this agent can reach; None if one of them is not registered here."""
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
    """Raise if a name is unknown.

    Raises:
        UnknownRestrictionError: a name is unknown; the hint suggests similar names.
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
