"""Agents: the tools they use and export and their transfers, checked and resolved into the tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from toolgen.contract.names import CALL_META_NAMES
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Confirmation
from toolgen.shapes import naming
from toolgen.shapes.naming import LONGEST_NAME

from ...agents import Agent, AgentToolset, Export, Transfer, Use
from ...behaviour import Confirm
from ...expr import codes
from ...expr.source import Source
from ...expr.tree import Agent as CheckedAgent
from ...expr.tree import Export as CheckedExport
from ...expr.tree import Tool as CheckedTool
from ...expr.tree import Toolset as CheckedToolset
from ...expr.tree import UsedTool, UsedToolset
from ...services import Service
from ...structure import Args, Return, Tool, Toolset
from ..checks.names import Identifiers, Unique, check_length, check_snake, described
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import RelatedSource, Report, listed, suggestion
from ..tools.conditions import condition, grantable
from ..tools.templates import template
from ..tools.tools import ToolDraft
from .instructions import agent_instructions
from .ownership import agent_id
from .policies import policy_of

_RESERVED = "transfer_to_"


@frozen_record
class KnownToolset:
    """A toolset of the design, with its clause and its checked form."""

    clause: Toolset
    toolset: CheckedToolset
    drafts: Mapping[str, ToolDraft]
    """The drafts of its tools, by name."""


class AgentResolver:
    """Resolves the agents of a design."""

    def __init__(self, services: Sequence[Service], toolsets: Sequence[KnownToolset], report: Report) -> None:
        self._report = report
        self._resolved = {id(resolved.clause): resolved for resolved in toolsets}
        self._services = {service.name: service for service in services}
        self._ids = [agent_id(service, agent) for service, agent in _agents(services)]
        self._uses: dict[str, list[tuple[Use, UsedToolset]]] = {}
        for resolved in toolsets:
            if resolved.toolset.exporter:
                check_exported(resolved.clause, resolved.toolset, resolved.drafts, report)

    def of(self, service: Service) -> tuple[CheckedAgent, ...]:
        """Return the agents of a service, each name once."""
        unique = Unique(self._report, f"service {service.name!r}")
        packages = Identifiers(self._report, f"the agents of {service.name!r}")
        agents = []
        for clause in clauses_of_kind(service.children, Agent):
            check_snake(self._report, "an agent", clause.name, clause.source)
            if unique.add("agent", clause.name, clause.source):
                packages.claim(naming.module_name(clause.name), f"agent {clause.name!r}", clause.source)
                agents.append(self._agent(clause, service))
        return tuple(agents)

    def finish(self) -> None:
        """Check the rules about all agents together."""
        _check_cycles(self._uses, self._report)

    def _agent(self, clause: Agent, service: Service) -> CheckedAgent:
        report, id_ = self._report, agent_id(service, clause)
        uses = [
            (use, used)
            for use in clauses_of_kind(clause.children, Use)
            if (used := self._use(use, clause, id_))
        ]
        self._uses[id_] = uses
        taken = tuple(used for _, used in uses)
        check_wire_names(clause, uses, report)
        return CheckedAgent(
            id=id_,
            name=clause.name,
            service=service.name,
            description=described(report, f"agent {clause.name!r}", clause.description, clause.source),
            uses=taken,
            exports=tuple(self._exports(clause)),
            transfers=tuple(self._transfers(clause, service, id_)),
            instructions=agent_instructions(clause, report),
            policy=policy_of(clause, taken, report),
        )

    # The tools that an agent uses.

    def _use(self, use: Use, agent: Agent, id_: str) -> UsedToolset | None:
        report = self._report
        resolved = self._toolset(use)
        if use.prefix:
            check_snake(report, "a prefix", use.prefix, use.source)
        if resolved is None:
            return None
        toolset = resolved.toolset
        if toolset.exporter == id_:
            report.add(codes.OWN_EXPORT, use.source, agent=agent.name, toolset=toolset.name)
            return None
        names = [tool.name for tool in toolset.tools]
        for argument in ("only", "exclude"):
            self._check_tools(argument, "Use", getattr(use, argument), agent, toolset, use.source)
        selected = [name for name in names if (not use.only or name in use.only) and name not in use.exclude]
        if names and not selected and not toolset.native and not set(use.only).difference(names):
            report.add(codes.EMPTY_USE, use.source, toolset=toolset.name, agent=agent.name)
        confirmations = self._confirmations(use, agent, resolved, selected)
        tools = tuple(
            UsedTool(
                tool=tool,
                name=use.prefix + toolset.prefix + tool.name,
                confirmation=confirmations.get(tool.name),
            )
            for tool in toolset.tools
            if tool.name in selected
        )
        return UsedToolset(toolset=toolset, prefix=use.prefix, tools=tools)

    def _toolset(self, use: Use) -> KnownToolset | None:
        if isinstance(use.toolset, AgentToolset):
            return self._exported(use.toolset)
        return self._resolved.get(id(use.toolset))  # an MCPToolset has been replaced by a Toolset

    def _exported(self, clause: AgentToolset) -> KnownToolset | None:
        """Return the toolset of another agent; report an unknown one."""
        service = self._services.get(clause.service)
        if service is None:
            hint = suggestion(clause.service, self._services, "add the service")
            self._unknown(clause, f"the service {clause.service!r}", "the design does not have", hint)
            return None
        agents = {agent.name: agent for agent in clauses_of_kind(service.children, Agent)}
        agent = agents.get(clause.agent)
        if agent is None:
            hint = suggestion(clause.agent, agents, f'add Agent("{clause.agent}", "…") to the service')
            fault = f"service {service.name!r} does not have"
            self._unknown(clause, f"the agent {clause.agent!r}", fault, hint)
            return None
        exports = {export.toolset.name: export.toolset for export in clauses_of_kind(agent.children, Export)}
        target = exports.get(clause.export)
        if target is None:
            hint = suggestion(clause.export, exports, "add Export(…) to the agent")
            fault = f"agent {agent.name!r} does not export"
            self._unknown(clause, f"the toolset {clause.export!r}", fault, hint)
            return None
        return self._resolved.get(id(target))

    def _unknown(self, clause: AgentToolset, what: str, fault: str, hint: str) -> None:
        self._report.add(codes.UNKNOWN_EXPORT, clause.source, what=what, fault=fault, hint=hint)

    def _check_tools(
        self,
        argument: str,
        clause: str,
        names: Iterable[str],
        agent: Agent,
        toolset: CheckedToolset,
        source: Source,
    ) -> None:
        tools = [tool.name for tool in toolset.tools]
        for name in dict.fromkeys(names):
            if name not in tools:
                self._report.add(
                    codes.UNKNOWN_TOOL,
                    source,
                    argument=argument,
                    clause=clause,
                    agent=agent.name,
                    name=name,
                    toolset=toolset.name,
                    hint=suggestion(name, tools, "name one of its tools"),
                )

    def _confirmations(
        self, use: Use, agent: Agent, resolved: KnownToolset, selected: Sequence[str]
    ) -> dict[str, Confirmation[str]]:
        """Return the confirmations that the agent adds, by tool."""
        if use.confirm is False:
            return {}
        if use.confirm is True:
            return {name: _own(resolved, name) for name in selected}
        self._check_tools("confirm", "Use", use.confirm, agent, resolved.toolset, use.source)
        confirmations = {}
        for name in use.confirm:
            if name in resolved.drafts and name not in selected:
                self._report.add(codes.UNUSED_CONFIRM, use.source, name=name, agent=agent.name)
            elif name in resolved.drafts:
                clause = use.confirm[name] if isinstance(use.confirm, Mapping) else None
                confirmations[name] = (
                    self._confirmation(clause, name, agent, resolved) if clause else _own(resolved, name)
                )
        return confirmations

    def _confirmation(
        self, clause: Confirm, tool: str, agent: Agent, resolved: KnownToolset
    ) -> Confirmation[str]:
        if clause.payload is not None:
            self._report.add(codes.CONFIRM_PAYLOAD, clause.source, tool=tool, agent=agent.name)
        sides, own = resolved.drafts[tool].sides, _own(resolved, tool)
        hint = template(clause.hint, "the hint of Confirm", tool, sides.shown, clause.source, self._report)
        return Confirmation(
            hint=hint,
            when=condition(clause, tool, sides.arguments, self._report),
            payload=own.payload,
            grantable=grantable(clause, tool, self._report, has_payload=own.payload is not None),
        )

    # The toolsets and agents that an agent exports and transfers to.

    def _exports(self, agent: Agent) -> Iterator[CheckedExport]:
        unique = Unique(self._report, f"agent {agent.name!r}")
        packages = Identifiers(self._report, f"the exports of agent {agent.name!r}")
        exported: list[Toolset] = []
        for export in clauses_of_kind(agent.children, Export):
            resolved, name = self._resolved.get(id(export.toolset)), export.toolset.name
            is_same = any(toolset is export.toolset for toolset in exported)
            hint = "export it once" if is_same else "rename one of the toolsets"
            exported.append(export.toolset)
            if resolved is None or not unique.add("export", name, export.source, hint):
                continue
            packages.claim(naming.module_name(name), f"toolset {name!r}", resolved.clause.source)
            self._check_tools("prompts", "Export", export.prompts, agent, resolved.toolset, export.source)
            prompts = {
                name: template(text, "the prompt", name, names, export.source, self._report)
                for name, text in export.prompts.items()
                if name in resolved.drafts
                for names in [replace(resolved.drafts[name].sides.shown, sensitive=())]  # shown to the agent
            }
            yield CheckedExport(toolset=resolved.toolset, prompts=prompts)

    def _transfers(self, agent: Agent, service: Service, id_: str) -> Iterator[str]:
        clause = single_clause(agent, agent.children, Transfer, self._report)
        targets: dict[str, str] = {}
        for name in clause.names if clause else ():
            targets.setdefault(name if "." in name else f"{service.name}.{name}", name)
        for full, name in targets.items():
            if full == id_:
                fault, hint = "is itself", "remove it"
            elif full in self._ids:
                yield full
                continue
            else:
                fault = "the design does not have"
                hint = suggestion(full, (other for other in self._ids if other != id_), "add the agent")
            source = clause.source if clause else agent.source
            self._report.add(codes.UNKNOWN_AGENT, source, agent=agent.name, name=name, fault=fault, hint=hint)


def _own(resolved: KnownToolset, tool: str) -> Confirmation[str]:
    """Return the tool's own confirmation, or one without texts."""
    return resolved.drafts[tool].tool.confirmation or Confirmation()


def _agents(services: Iterable[Service]) -> Iterator[tuple[Service, Agent]]:
    for service in services:
        for agent in clauses_of_kind(service.children, Agent):
            yield service, agent


_Uses = Mapping[str, Sequence[tuple[Use, UsedToolset]]]


def _check_cycles(uses: _Uses, report: Report) -> None:
    """Report each cycle of agents in which no agent has a tool outside of the cycle."""
    reached = {agent: _reached(agent, uses) for agent in uses}
    seen: set[str] = set()
    for agent in uses:
        circle = [other for other in uses if other in reached[agent] and agent in reached.get(other, ())]
        if agent in seen or agent not in reached[agent]:
            continue
        seen.update(circle)
        if not any(_leads_out(other, circle, uses) for other in circle):
            names = ", ".join(map(repr, circle))
            report.add(codes.AGENT_CYCLE, uses[agent][0][0].source, agents=names)


def _reached(agent: str, uses: _Uses) -> set[str]:
    reached: set[str] = set()
    waiting = [agent]
    while waiting:
        for _, used in uses.get(waiting.pop(), ()):
            exporter = used.toolset.exporter
            if exporter and exporter not in reached:
                reached.add(exporter)
                waiting.append(exporter)
    return reached


def _leads_out(agent: str, circle: Sequence[str], uses: _Uses) -> bool:
    return any(used.toolset.exporter not in circle or used.toolset.native for _, used in uses[agent])


def check_exported(
    clause: Toolset, toolset: CheckedToolset, drafts: Mapping[str, ToolDraft], report: Report
) -> None:
    """Report clauses that the tools of an exported toolset cannot have."""
    fault, hint = "is run by the provider of a model", "move it into its own toolset"
    faults = [(native.kind, clause.source, fault, hint) for native in toolset.native]
    for tool in clauses_of_kind(clause.children, Tool):
        if draft := drafts.get(tool.name):
            faults += [
                (tool.name, tool.source, fault, hint) for fault, hint in _faults(tool, draft, draft.tool)
            ]
    for name, source, fault, hint in faults:
        report.add(codes.EXPORTED_TOOL, source, tool=name, toolset=toolset.name, fault=fault, hint=hint)


def _faults(written: Tool, draft: ToolDraft, tool: CheckedTool) -> Iterator[tuple[str, str]]:
    if draft.bind is not None:
        yield "has BindTo", "remove BindTo; the agent calls its own tools"
    for clause in (Args, Return):
        if not clauses_of_kind(written.children, clause):
            yield f"has no {clause.__name__}", f"add {clause.__name__}(…)"
    if tool.facts.needs:
        yield "has Needs", "move Needs to the tools that the agent uses"
    if tool.long_running:
        yield "is LongRunning", "remove LongRunning; the caller waits for the agent's run"
    if tool.artifacts:
        yield "has artifacts", "move Artifact to the tools that the agent uses; its runs pass them on"
    if tool.errors:
        yield "has Error", "remove Error; a failed run has no error details"
    if others := [field.name for field in tool.injected if field.name not in CALL_META_NAMES]:
        yield f"injects {', '.join(others)}", "inject only call facts, such as session_id"


def check_wire_names(agent: Agent, uses: Sequence[tuple[Use, UsedToolset]], report: Report) -> None:
    """Report tools that occur twice, and wire names that are shared by two tools or reserved."""
    has_transfer = bool(clauses_of_kind(agent.children, Transfer))
    users: dict[str, Use] = {}
    by_name: dict[str, tuple[str, Use]] = {}
    for use, taken in uses:
        repeated = _repeated(agent, use, taken, users, report)
        for used in (used for used in taken.tools if used.tool.id not in repeated):
            _check_length(taken, used, use, report)
            first = by_name.setdefault(used.name, (used.tool.id, use))
            if first[0] != used.tool.id:
                _clash(agent, use, used, *first, report)
            elif has_transfer and used.name.startswith(_RESERVED):
                _clash(agent, use, used, "a hand-over", use, report)


def _repeated(
    agent: Agent, use: Use, taken: UsedToolset, users: dict[str, Use], report: Report
) -> frozenset[str]:
    """Return the ids of the tools that also occur in an earlier `Use`, and report them.

    Every `Use` of a toolset includes its native tools, so they only count if it includes no other tools.
    """
    natives = {tool.id: tool.kind for tool in taken.toolset.native}
    tools = {used.tool.id: used.tool.name for used in taken.tools}
    again = [id_ for id_ in (tools or natives) if id_ in users]
    if again:
        first = users[again[0]]
        names = listed({**natives, **tools}[id_] for id_ in again)
        report.add(
            codes.REPEATED_USE,
            use.source,
            related=[]
            if first is use
            else [RelatedSource(message="first defined here", source=first.source)],
            agent=agent.name,
            tools=f"the tool{'s' if len(again) > 1 else ''} {names}",
            toolset=taken.toolset.name,
        )
    for id_ in (*tools, *natives):
        users.setdefault(id_, use)
    return frozenset(again)


def _check_length(taken: UsedToolset, used: UsedTool, use: Use, report: Report) -> None:
    """Check a wire name; if it is too long even without the `Use` prefix, report it at the tool."""
    if len(taken.toolset.prefix + used.tool.name) <= LONGEST_NAME:
        check_length(report, "a tool with its prefixes", used.name, use.source, "a prefix")


def _clash(agent: Agent, use: Use, used: UsedTool, first: str, place: Use, report: Report) -> None:
    related = [] if place is use else [RelatedSource(message="first used here", source=place.source)]
    report.add(
        codes.WIRE_NAME_CLASH,
        use.source,
        related=related,
        agent=agent.name,
        name=used.name,
        first=first,
        second=used.tool.id,
    )
