"""Resolves clauses into the checked design, or into all its diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from toolgen.contract.credentials import environment_name
from toolgen.contract.findings import Finding
from toolgen.contract.record import frozen_record
from toolgen.shapes import naming

from ..agents import Completion
from ..behaviour import NativeTool
from ..expr import codes
from ..expr.tree import Completion as CheckedCompletion
from ..expr.tree import Design as CheckedDesign
from ..expr.tree import Service as CheckedService
from ..expr.tree import Tool as CheckedTool
from ..expr.tree import Toolset as CheckedToolset
from ..services import Design, Service
from ..structure import Method, Tool, Toolset
from ..tool_clauses import BindTo
from .agents.agents import AgentResolver, KnownToolset
from .agents.budgets import check_budgets
from .agents.completions import completions_of
from .agents.ownership import owned_toolsets
from .bindings.binding import bind
from .bindings.methods import ResolvedMethod, operation
from .checks.arguments import record_uses, well_typed
from .checks.names import (
    Identifiers,
    Unique,
    check_design,
    check_length,
    check_service,
    check_snake,
    described,
    surface,
    version_of,
)
from .clause_lookup import clauses_of_kind, named_types, single_clause
from .mcp import LockedToolset
from .report import Report, suggestion
from .tools.errors import method_errors
from .tools.facts import instructions_of, meta_of, replaced, suppressed_of, tags_of
from .tools.tools import ToolDraft, Tools, ToolsetContext, native_tools
from .transports.services import NO_TRANSPORT, ServiceTransport, bound_facts, transports_of
from .types.depth import check_depth, check_finite
from .types.modules import UNKNOWN, Module
from .types.types import Types
from .types.values import ValueChecks


@frozen_record
class Evaluation:
    """A checked design, or the reasons why there is none.

    Example: `Evaluation(design=None, diagnostics=())`
    """

    design: CheckedDesign | None
    diagnostics: tuple[Finding, ...]
    """All findings by file, line and column; only warnings when there is a design."""
    files: frozenset[Path] = frozenset()
    """Schema and lock files that the design refers to."""


def build(design: Design) -> Evaluation:
    """Return `design`, the checked design or `None`, and `diagnostics`, all findings by file and line.

    Example: `d.build(d.Design("home", "A home.", d.Service("assistant", "Helps."))).diagnostics`
    """
    report = Report()
    checked = _Builder(well_typed(design, report), report).design()
    if not report.is_empty:
        record_uses(design, report)
    diagnostics = report.diagnostics()
    is_good = all(diagnostic.is_warning for diagnostic in diagnostics)
    return Evaluation(
        design=checked if is_good else None, diagnostics=diagnostics, files=frozenset(report.files)
    )


@frozen_record
class _ServiceDraft:
    clause: Service
    module: Module
    operations: tuple[ResolvedMethod, ...]
    completions_module: Module
    completions: tuple[CheckedCompletion, ...]
    transport: ServiceTransport = NO_TRANSPORT


@frozen_record
class _ToolsetDraft:
    clause: Toolset
    toolset: CheckedToolset
    module: Module
    tools: tuple[ToolDraft, ...]
    service: str

    @property
    def by_name(self) -> dict[str, ToolDraft]:
        return {draft.tool.name: draft for draft in self.tools}


class _Builder:
    def __init__(self, design: Design, report: Report) -> None:
        self._design = design
        self._report = report
        self._values = ValueChecks(report)
        self._types = Types(report, self._values, named_types(design))
        self._tools = Tools(report, self._types, self._values)
        self._operations: dict[str, dict[str, ResolvedMethod]] = {}

    def design(self) -> CheckedDesign:
        design, report = self._design, self._report
        check_design(report, design.name, design.source)
        description = described(report, "the design", design.description, design.source)
        services = self._services()
        toolsets = self._toolsets(services)
        self._types.finish()
        modules = [self._types.shared]
        modules += [draft.module for draft in services]
        modules += [draft.completions_module for draft in services]
        modules += [draft.module for draft in toolsets]
        check_finite(modules, report)
        agents: AgentResolver | None = None
        if check_depth(modules, report):
            self._values.run()
            tools = {tool_draft.tool.id: tool_draft.tool for draft in toolsets for tool_draft in draft.tools}
            services = [
                replace(draft, transport=transports_of(draft.clause, draft.operations, report))
                for draft in services
            ]
            toolsets = [replace(draft, toolset=self._bound(draft, tools, services)) for draft in toolsets]
            agents = self._agents(services, toolsets)
        checked = tuple(self._service(draft, toolsets, agents) for draft in services)
        if agents is not None:
            agents.finish()
            for draft, service in zip(services, checked, strict=True):
                check_budgets(draft.clause, service, self._types.shared.classes, report)
        return CheckedDesign(
            name=design.name,
            description=description,
            services=checked,
            types=tuple(self._types.shared.classes.values()),
            enums=self._types.enums,
            unions=self._types.unions,
            version=version_of(design, report),
        )

    def _services(self) -> list[_ServiceDraft]:
        report = self._report
        unique = Unique(report, "the design")
        packages = Identifiers(report, "the generated package")
        variables, drafts = Identifiers(report, "the environment"), []
        for clause in clauses_of_kind(self._design.children, Service):
            check_service(report, clause.name, clause.source)
            if unique.add("service", clause.name, clause.source):
                what = f"service {clause.name!r}"
                if packages.claim(naming.module_name(clause.name), what, clause.source):
                    variables.claim(environment_name(clause.name, ""), what, clause.source)
            drafts.append(self._service_draft(clause))
        return drafts

    def _service_draft(self, clause: Service) -> _ServiceDraft:
        report = self._report
        where = f"service {clause.name!r}"
        module = Module(report, where, self._types.shared)
        methods = clauses_of_kind(clause.children, Method)
        if methods:
            module.names.claim(naming.class_name(clause.name), where, clause.source)
        common = method_errors(clause, module, self._types, report)
        unique = Unique(report, where)
        operations = []
        for method in methods:
            is_first = unique.add("method", method.name, method.source)
            home = module if is_first else Module(Report(), where, self._types.shared)
            drafted = operation(method, clause.name, common, home, self._types, report)
            for error in drafted.errors if is_first else ():
                text = f"error {error.name!r} of method {method.name!r}"
                module.names.claim(naming.constant(method.name, error.name), text, method.source, apart=True)
            if is_first:
                operations.append(drafted)
        by_name = self._operations.setdefault(clause.name, {})
        for drafted in operations:
            by_name.setdefault(drafted.name, drafted)
        completions_module = Module(report, f"the completions of {where}", self._types.shared)
        completions = completions_of(
            clauses_of_kind(clause.children, Completion), clause.name, completions_module, self._types, report
        )
        return _ServiceDraft(
            clause=clause,
            module=module,
            operations=tuple(operations),
            completions_module=completions_module,
            completions=completions,
        )

    def _service(
        self, draft: _ServiceDraft, toolsets: list[_ToolsetDraft], agents: AgentResolver | None
    ) -> CheckedService:
        clause = draft.clause
        return CheckedService(
            name=clause.name,
            description=described(
                self._report, f"service {clause.name!r}", clause.description, clause.source
            ),
            methods=tuple(
                replace(drafted.checked(), transport=draft.transport.methods.get(drafted.name))
                for drafted in draft.operations
            ),
            toolsets=tuple(toolset.toolset for toolset in toolsets if toolset.service == clause.name),
            objects=tuple(draft.module.classes.values()),
            agents=agents.of(clause) if agents is not None else (),
            completions=tuple(
                replace(completion, result=draft.completions_module.classes[completion.result.name])
                for completion in draft.completions
            ),
            completion_objects=tuple(draft.completions_module.classes.values()),
            servers=draft.transport.servers,
            is_lenient=draft.clause.answers == "lenient",
        )

    def _toolsets(self, services: list[_ServiceDraft]) -> list[_ToolsetDraft]:
        owned = owned_toolsets([draft.clause for draft in services], self._report)
        drafts = []
        for service in services:
            unique = Unique(self._report, f"service {service.clause.name!r}")
            packages = Identifiers(self._report, f"the toolsets of {service.clause.name!r}")
            for ownership in owned:
                if ownership.service is not service.clause:
                    continue
                clause = ownership.clause
                if unique.add("toolset", clause.name, clause.source) and not ownership.exporter:
                    packages.claim(naming.module_name(clause.name), f"toolset {clause.name!r}", clause.source)
                drafts.append(self._toolset(clause, service.clause.name, ownership.exporter))
        return drafts

    def _agents(self, services: list[_ServiceDraft], toolsets: list[_ToolsetDraft]) -> AgentResolver:
        resolved = [
            KnownToolset(clause=draft.clause, toolset=draft.toolset, drafts=draft.by_name)
            for draft in toolsets
        ]
        return AgentResolver([draft.clause for draft in services], resolved, self._report)

    def _toolset(self, clause: Toolset, service: str, exporter: str) -> _ToolsetDraft:
        report = self._report
        what = f"toolset {clause.name!r}"
        check_snake(report, "a toolset", clause.name, clause.source)
        if not any(isinstance(child, Tool | NativeTool) for child in clause.children):
            report.add(codes.EMPTY_TOOLSET, clause.source, name=clause.name)
        if clause.prefix:
            check_snake(report, "a prefix", clause.prefix, clause.source)
        module = Module(report, what, self._types.shared)
        _claim_surface(clause, module.names)
        around = ToolsetContext(
            service=service,
            toolset=clause.name,
            module=module,
            tags=tags_of(clause, report),
            meta=meta_of(clause, report),
        )
        unique = Unique(report, what)
        tools = self._drafts(clause, around, unique)
        toolset = CheckedToolset(
            name=clause.name,
            title=clause.title or None,
            description=described(report, what, clause.description, clause.source),
            service=service,
            tools=(),
            objects=(),
            prefix=clause.prefix,
            instructions=instructions_of(clause, report),
            native=native_tools(clause, service, unique, report),
            exporter=exporter,
            lock=clause.lock if isinstance(clause, LockedToolset) else "",
            suppressed=suppressed_of(clause),
            source=clause.source,
        )
        return _ToolsetDraft(clause=clause, toolset=toolset, module=module, tools=tools, service=service)

    def _drafts(self, clause: Toolset, around: ToolsetContext, unique: Unique) -> tuple[ToolDraft, ...]:
        report = self._report
        drafts = []
        for tool in clauses_of_kind(clause.children, Tool):
            is_new = unique.add("tool", tool.name, tool.source)
            home = around if is_new else replace(around, module=Module(Report(), "", self._types.shared))
            names, what = home.module.names, f"tool {tool.name!r}"
            names.claim(naming.constant(tool.name), what, tool.source, apart=True)
            if len(tool.name) <= naming.LONGEST_NAME:
                check_length(
                    report,
                    "a tool with its prefix",
                    clause.prefix + tool.name,
                    tool.source,
                    "the prefix or the name",
                )
            bind_to = single_clause(tool, tool.children, BindTo, report)
            target = self._operation(bind_to, tool, around.service) if bind_to else None
            draft = self._tools.draft(tool, home, bind_to, target)
            drafts.append(draft)
            for artifact in draft.tool.artifacts:
                text = f"artifact {artifact.kind!r} of {what}"
                names.claim(naming.constant(tool.name, artifact.kind), text, tool.source, apart=True)
            for error in draft.tool.errors:
                text = f"error {error.name!r} of {what}"
                names.claim(naming.constant(tool.name, error.name), text, tool.source, apart=True)
        _claim_codecs(clause.name, (draft for draft in drafts if draft.module is around.module), report)
        return tuple(drafts)

    def _operation(self, bind_to: BindTo, tool: Tool, own_service: str) -> ResolvedMethod | None:
        """Return the method that a tool is bound to; report an unknown one."""
        service = own_service if bind_to.service is None else bind_to.service
        methods = self._operations.get(service)
        if methods is None:
            hint = self._other_service(service, bind_to.method)
            self._report.add(codes.UNKNOWN_SERVICE, bind_to.source, tool=tool.name, name=service, hint=hint)
            return None
        operation = methods.get(bind_to.method)
        if operation is None:
            self._report.add(
                codes.UNKNOWN_METHOD,
                bind_to.source,
                service=service,
                name=bind_to.method,
                tool=tool.name,
                hint=self._other_method(bind_to.method, methods, service),
            )
        return operation

    def _other_service(self, name: str, method: str) -> str:
        """Return the hint for an unknown service: it and the method might be swapped."""
        owner = method if method in self._operations else None if self._owner(method) else self._owner(name)
        if owner is not None:
            return f'the service comes first: write BindTo("{owner}", "{name}")'
        return suggestion(name, self._operations, f'add Service("{name}", "…")')

    def _owner(self, method: str) -> str | None:
        """Return the first service that has a method; None if there is none."""
        return next((service for service, methods in self._operations.items() if method in methods), None)

    def _other_method(self, name: str, methods: Iterable[str], service: str) -> str:
        """Return the hint for an unknown method: another service might have it."""
        within, _, method = name.rpartition(".")
        if owner := within if method in self._operations.get(within, ()) else self._owner(method):
            return f'service {owner!r} has it: write BindTo("{owner}", "{method}")'
        return suggestion(name, methods, f'add Method("{name}", "…") to service {service!r}')

    def _bound(
        self,
        draft: _ToolsetDraft,
        design_tools: Mapping[str, CheckedTool],
        services: Iterable[_ServiceDraft],
    ) -> CheckedToolset:
        """Return the toolset with its tools' bindings and references to their replacements."""
        transports = {service.clause.name: service.transport for service in services}
        tools = []
        for tool in draft.tools:
            checked = tool.tool
            if tool.bind and tool.operation:
                binding = bind(tool, tool.bind, tool.operation, self._types.shared, self._report)
                facts = bound_facts(tool, binding, transports[tool.operation.service])
                checked = replace(checked, binding=binding, facts=facts)
            if tool.deprecated:
                checked = replaced(checked, tool.deprecated, design_tools, self._report)
            tools.append(checked)
        return replace(draft.toolset, tools=tuple(tools), objects=tuple(draft.module.classes.values()))


def _claim_surface(clause: Toolset, names: Identifiers) -> None:
    """Claim the identifiers that the package of every toolset has, independent of its tools."""
    what = f"toolset {clause.name!r}"
    taken = surface(clause.name)
    if clauses_of_kind(clause.children, NativeTool):
        taken["NATIVE_TOOLS"] = f"the list of the native tools of {what}"
    for identifier, text in taken.items():
        names.claim(identifier, text, clause.source, apart=True)


def _claim_codecs(toolset: str, drafts: Iterable[ToolDraft], report: Report) -> None:
    """Claim the constants of the codecs: one for each class, even if several artifacts use it."""
    codecs = Identifiers(report, f"the codecs of toolset {toolset!r}")
    classes = set()
    for draft in drafts:
        tool, what = draft.tool, f"tool {draft.tool.name!r}"
        for part in ("payload", "result"):
            codecs.claim(naming.constant(tool.name, part), f"the {part} of {what}", draft.source)
        users = [(artifact.type, f"artifact {artifact.kind!r} of {what}") for artifact in tool.artifacts]
        users += [(class_, what) for class_ in tool.classes]
        for class_, user in users:
            if class_ not in classes and class_ != UNKNOWN.name:
                classes.add(class_)
                text = f"class {class_!r} of {user}"
                codecs.claim(naming.constant(naming.snake(class_)), text, draft.source)
