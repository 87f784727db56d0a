"""The registered agents of a runtime, and the tools that each of them may call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolgen.calls.call import CallMeta
from toolgen.calls.errors import RegistrationError
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.registered_tool import RegisteredTool, RuntimeOptions
from toolgen.calls.toolsets.directory import Directory
from toolgen.calls.toolsets.dynamic import ReadonlyContext, ToolList, native_of, on_error_of
from toolgen.calls.toolsets.registration import AgentRoute, ToolsetRegistration
from toolgen.calls.toolsets.resources import ResourceStack
from toolgen.calls.toolsets.snapshot import CallService, Snapshot
from toolgen.calls.toolsets.toolsets import Toolsets
from toolgen.contract.policy import RunPolicy

from .planner.planner import Planner
from .registration import AgentRegistration, AgentSpec, AgentTool


@dataclass(slots=True, kw_only=True)
class RegisteredAgent:
    """A registered agent."""

    spec: AgentSpec
    planner: Planner
    toolsets: Toolsets
    static: Snapshot
    """The tools of its design."""
    policy: RunPolicy
    called: frozenset[str]
    """Ids of the agents whose tools it calls."""

    @property
    def specs(self) -> tuple[ToolSpec[Any, Any], ...]:
        """The specs of the agent's tools, by their wire names."""
        return self.static.specs

    async def snapshot(self, caller: CallService, meta: CallMeta, previous: Snapshot | None) -> Snapshot:
        """Return the snapshot of one planning.

        Raises:
            SnapshotError: a toolset of the host cannot list its tools.
        """
        if not self.toolsets.may_change:
            return self.static
        return await self.toolsets.snapshot(caller, ReadonlyContext(meta=meta), previous)


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
    _require_planner(spec.id, registration.planner)
    toolsets = Toolsets(options, managers=managers)
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
            f"agent {spec.id!r} calls {', '.join(missing)}, which no toolset given to it has",
            hint="register the agent with the generated `register`",
        )
    for tools in lists:
        toolsets.add_static(tools)
    for toolset in registration.dynamic:
        toolsets.add(toolset, on_error_of(toolset))
    return RegisteredAgent(
        spec=spec,
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


def _require_planner(agent: str, planner: object) -> None:
    """Raise where what plans for an agent is a class, or lacks a method of `Planner`.

    Raises:
        RegistrationError: as said.
    """
    if isinstance(planner, type):
        name = planner.__name__
        raise RegistrationError(
            f"the planner of agent {agent!r} is the class {name}", hint=f"give an instance: {name}(…)"
        )
    for method in ("plan_start", "plan_resume"):
        if not callable(getattr(planner, method, None)):
            raise RegistrationError(
                f"the planner of agent {agent!r}, of {type(planner).__name__}, has no method {method}",
                hint=f"add `async def {method}(self, given)`; a planner has plan_start and plan_resume",
            )


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
