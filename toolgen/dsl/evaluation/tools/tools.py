"""Tools: their arguments, results, injected fields, artifacts and facts; and tools of providers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolgen.contract.json_value import Json
from toolgen.contract.names import BOUNDS_FIELDS
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Artifact as CheckedArtifact
from toolgen.contract.tool_facts import Bounded
from toolgen.shapes import naming
from toolgen.shapes.fields import MISSING, Field, Missing, ObjectType, RefType

from ...attributes import Example
from ...behaviour import NativeTool
from ...clause import Clause
from ...expr import codes
from ...expr.source import Source
from ...expr.tree import Example as CheckedExample
from ...expr.tree import NativeTool as CheckedNativeTool
from ...expr.tree import Tool as CheckedTool
from ...structure import Args, Attributes, Return, Tool, Toolset
from ...tool_clauses import Artifact, BindTo, BoundedResult, Deprecated, Inject
from ..bindings.methods import ResolvedMethod
from ..checks.names import Unique, check_snake, described
from ..clause_lookup import clauses_of_kind, single_clause
from ..report import Report
from ..types.constraints import Subject
from ..types.jsonvalues import json_value
from ..types.modules import UNKNOWN, Module
from ..types.payloads import resolve_fields
from ..types.resolved_fields import ALL_FIELDS, FieldChoice, ResolvedFields
from ..types.types import Types
from ..types.values import ValueChecks
from .bounds import bounded, example_fault, with_bounds
from .conditions import ConditionArguments
from .errors import tool_errors
from .facts import Behaviours, ClauseScope, facts_of, suppressed_of
from .injection import SplitArguments, check_closed, split_arguments
from .templates import TemplateNames, names_of, sensitive_names_of


@frozen_record
class ToolDraft:
    """A tool whose binding is not resolved yet."""

    tool: CheckedTool
    module: Module
    source: Source
    bind: BindTo | None
    deprecated: Deprecated | None
    operation: ResolvedMethod | None
    """The bound method; None if there is none, or it was reported."""
    payload_is_known: bool
    result_is_known: bool
    has_own_result: bool
    """Whether the tool has its own `Return`."""
    sides: ClauseScope
    """Names that texts about the tool can use."""


@frozen_record
class ToolsetContext:
    """The facts of a toolset that its tools need."""

    service: str
    toolset: str
    module: Module
    tags: tuple[str, ...]
    meta: Mapping[str, Json]


class Tools:
    """Resolves tools."""

    def __init__(self, report: Report, types: Types, values: ValueChecks) -> None:
        self._report = report
        self._types = types
        self._values = values
        self._behaviours = Behaviours(report, types)

    def draft(
        self, clause: Tool, around: ToolsetContext, bind: BindTo | None, operation: ResolvedMethod | None
    ) -> ToolDraft:
        """Return the tool without its binding."""
        module, report = around.module, self._report
        check_snake(report, "a tool", clause.name, clause.source)
        payload, arguments, injection = self._payload(clause, module, bind, operation)
        artifacts = self._artifacts(clause, module)
        result, result_is_known = self._result(clause, module, artifacts, bind, operation)
        if not check_schema_clauses(clause, payload, result, operation, report):
            bind = None
        window = self._window(
            clause,
            injection.remaining if arguments.is_known and not payload.foreign else None,
            result.fields if result_is_known and not result.foreign else None,
        )
        known_payload = payload if injection.is_known else None
        known_result = result if result_is_known else None
        sides = _clause_scope(known_payload, known_result, injection.fields, artifacts)
        tool = CheckedTool(
            id=f"{around.service}.{around.toolset}.{clause.name}",
            name=clause.name,
            facts=facts_of(clause, payload.title, around.tags, around.meta, sides, report),
            payload=payload,
            result=result,
            injected=injection.fields,
            artifacts=artifacts,
            bounded=window,
            examples=self._examples(
                clause, module, known_payload, known_result, window if known_result else None
            ),
            confirmation=self._behaviours.confirmation(clause, module, sides),
            long_running=self._behaviours.long_running(clause, module),
            errors=tool_errors(clause, module, operation.errors if operation else (), self._types, report),
            suppressed=suppressed_of(clause),
            source=clause.source,
        )
        return ToolDraft(
            tool=tool,
            module=module,
            source=clause.source,
            bind=bind,
            deprecated=single_clause(clause, clause.children, Deprecated, report),
            operation=operation,
            payload_is_known=injection.is_known,
            result_is_known=result_is_known,
            has_own_result=any(clauses_of_kind(clause.children, Return)),
            sides=sides,
        )

    def _payload(
        self, clause: Tool, module: Module, bind: BindTo | None, operation: ResolvedMethod | None
    ) -> tuple[ObjectType, ResolvedFields, SplitArguments]:
        """Return the class of the arguments that the model sends, all arguments, and the injected ones."""
        class_name, where = naming.class_name(clause.name, "payload"), f"the payload of tool {clause.name!r}"
        module.reserve(class_name, where, clause.source)
        arguments, injection = self._arguments(clause, module, class_name, bind, operation)
        payload = ObjectType(
            name=class_name,
            description=arguments.description,
            title=clause.title or naming.title(clause.name),
            fields=injection.remaining,
            open=arguments.open,
            foreign=arguments.foreign,
            examples=arguments.examples if injection.remaining == arguments.fields else (),
        )
        module.define(payload, arguments.sources, injection.fields)
        module.adopt(payload, where, clause.source)
        return payload, arguments, injection

    def _arguments(
        self,
        tool: Tool,
        module: Module,
        class_name: str,
        bind: BindTo | None,
        operation: ResolvedMethod | None,
    ) -> tuple[ResolvedFields, SplitArguments]:
        """Return the tool's own and inherited arguments, split into injected and sent fields."""
        args = single_clause(tool, tool.children, Args, self._report)
        clauses = clauses_of_kind(tool.children, Inject)
        names = frozenset(name for clause in clauses for name in clause.names)
        where = f"the arguments of tool {tool.name!r}"
        own = self._fields(args, where, module, class_name)
        inherited = ResolvedFields()
        if operation and bind:
            own_names = {field.name for field in own.fields}
            projection = FieldChoice(
                rename=bind.rename,
                only=None if args is None else names - own_names,
                excluded=frozenset(own_names),
            )
            source, source_where = operation.payload_clause, operation.payload_where
            inherited = self._fields(source, source_where, module, class_name, projection)
        is_known = own.is_known and inherited.is_known and (bind is None or operation is not None)
        injection = split_arguments(
            tool.name,
            () if own.foreign else clauses,
            own,
            inherited,
            method_names=[field.name for field in operation.payload_type.fields] if operation else [],
            is_known=is_known,
            report=self._report,
        )
        if args and own.open:
            check_closed(tool.name, clauses, args.source, self._report)
        fields = ResolvedFields(
            fields=(*own.fields, *inherited.fields),
            sources={**inherited.sources, **own.sources},
            description=own.description if args else inherited.description,
            open=own.open,
            foreign=own.foreign or inherited.foreign,
            examples=own.examples if args else inherited.examples,
            is_known=is_known,
        )
        return fields, injection

    def _result(
        self,
        clause: Tool,
        module: Module,
        artifacts: tuple[CheckedArtifact[str], ...],
        bind: BindTo | None,
        operation: ResolvedMethod | None,
    ) -> tuple[ObjectType, bool]:
        """Return the written or inherited result, and whether it is known."""
        class_name = naming.class_name(clause.name, "result")
        where = f"the result of tool {clause.name!r}"
        module.reserve(class_name, where, clause.source)
        written = single_clause(clause, clause.children, Return, self._report)
        window = next(iter(clauses_of_kind(clause.children, BoundedResult)), None)
        rename = bind.rename if bind else {}
        kinds = {artifact.kind for artifact in artifacts}
        if operation and bind:
            returned = {rename.get(field.name, field.name) for field in operation.result_type.fields}
            kinds &= returned
        else:
            kinds = set()
        if written is None and operation:
            taken = kinds | set(BOUNDS_FIELDS if window else ())
            projection = FieldChoice(rename=rename, excluded=frozenset(taken))
            source, source_where = operation.result_clause, operation.result_where
            drawn = self._fields(source, source_where, module, class_name, projection)
        else:
            projection = FieldChoice(excluded=frozenset(kinds))
            drawn = self._fields(written, where, module, class_name, projection)
        fields = drawn.fields
        if window and not drawn.foreign:
            sources = dict(drawn.sources)
            fields = with_bounds(clause.name, fields, sources, clause.source, self._report)
        result = ObjectType(
            name=class_name,
            description=drawn.description,
            fields=fields,
            open=drawn.open and not (written is None and rename),
            foreign=drawn.foreign,
            examples=drawn.examples if fields == drawn.fields else (),
        )
        added = {field.name: clause.source for field in fields if field.name not in drawn.sources}
        module.define(result, {**drawn.sources, **added})
        module.adopt(result, where, clause.source)
        is_unbound = written is None and bind is not None and operation is None
        return result, drawn.is_known and not is_unbound

    def _fields(
        self,
        clause: Attributes | None,
        where: str,
        module: Module,
        class_name: str,
        projection: FieldChoice = ALL_FIELDS,
    ) -> ResolvedFields:
        return resolve_fields(clause, where, module, class_name, self._types, self._report, projection)

    def _artifacts(self, clause: Tool, module: Module) -> tuple[CheckedArtifact[str], ...]:
        unique = Unique(self._report, f"tool {clause.name!r}")
        artifacts = []
        for artifact in clauses_of_kind(clause.children, Artifact):
            what = f"artifact {artifact.kind!r}"
            check_snake(self._report, "an artifact", artifact.kind, artifact.source)
            description = described(self._report, what, artifact.description, artifact.source)
            subject = Subject(what=what, source=artifact.source, report=self._report)
            class_name = naming.class_name(clause.name, artifact.kind)
            if unique.add("artifact", artifact.kind, artifact.source):
                type_ = self._types.object_type(artifact.type, module, class_name, subject, description)
                artifacts.append(
                    CheckedArtifact(
                        kind=artifact.kind,
                        description=description,
                        type=type_,
                        view=artifact.view,
                        audience=artifact.audience,
                    )
                )
        return tuple(artifacts)

    def _window(
        self, tool: Tool, payload: tuple[Field, ...] | None, result: tuple[Field, ...] | None
    ) -> Bounded | None:
        clause = single_clause(tool, tool.children, BoundedResult, self._report)
        return bounded(tool.name, clause, payload, result, self._report) if clause else None

    def _examples(
        self,
        clause: Tool,
        module: Module,
        payload: ObjectType | None,
        result: ObjectType | None,
        window: Bounded | None,
    ) -> tuple[CheckedExample, ...]:
        """Return the valid examples; the types are None if they are unknown."""
        examples = []
        for example in clauses_of_kind(clause.children, Example):
            what = f"tool {clause.name!r}"
            args = self._values.example(
                dict(example.args), _reference(payload), module, f"{what} (arguments)", example.source
            )
            returned: Json | Missing = None
            if example.result is not None:
                returned = self._values.example(
                    example.result, _reference(result), module, f"{what} (result)", example.source
                )
                fault = None if window is None or returned is MISSING else example_fault(window, returned)
                if fault:
                    self._report.add(
                        codes.EXAMPLE_MISMATCH, example.source, what=f"{what} (result)", issues=fault
                    )
            if isinstance(args, dict) and not isinstance(returned, Missing):
                examples.append(CheckedExample(args=args, result=returned, source=example.source))
        return tuple(examples)


def _reference(type_: ObjectType | None) -> RefType:
    """Return the reference to a type; if it is None, `UNKNOWN`, which everything fits."""
    return RefType(name=type_.name) if type_ else UNKNOWN


def _clause_scope(
    payload: ObjectType | None,
    result: ObjectType | None,
    injected_fields: tuple[Field, ...],
    artifacts: tuple[CheckedArtifact[str], ...],
) -> ClauseScope:
    """Return the names that the clauses of a tool can refer to; None if they are unknown."""
    injected = tuple(field.name for field in injected_fields)
    kinds = tuple(artifact.kind for artifact in artifacts)
    names = names_of(payload) if payload else None
    result_names = names_of(result) if result else None
    return ClauseScope(
        arguments=ConditionArguments(
            names=names, fields=payload.fields if payload else (), injected=injected
        ),
        shown=TemplateNames(
            otherwise="not one of its arguments",
            names=names,
            hidden=injected,
            sensitive=sensitive_names_of(payload) if payload else (),
        ),
        result=TemplateNames(
            otherwise="not a field of its result",
            names=result_names,
            hidden=kinds,
            sensitive=sensitive_names_of(result) if result else (),
        ),
    )


def check_schema_clauses(
    tool: Tool, payload: ObjectType, result: ObjectType, operation: ResolvedMethod | None, report: Report
) -> bool:
    """Report clauses that refer into a `JSONSchema`; return whether there are none."""
    refused = list(_clauses(tool, payload, result, operation))
    for clause, hint in refused:
        name = type(clause).__name__
        report.add(codes.WHOLE_SCHEMA, clause.source, clause=name, tool=tool.name, hint=hint)
    return not refused


def _clauses(
    tool: Tool, payload: ObjectType, result: ObjectType, operation: ResolvedMethod | None
) -> Iterator[tuple[Clause, str]]:
    """Yield each clause that refers into a `JSONSchema`, with its hint."""
    bound = (operation.payload_type, operation.result_type) if operation else ()
    if any(part.foreign for part in (payload, result, *bound)):
        for clause in clauses_of_kind(tool.children, BindTo):
            yield clause, "remove BindTo, and call the method in the executor"
    if payload.foreign:
        for inject in clauses_of_kind(tool.children, Inject):
            yield inject, "remove Inject, or write the arguments as attributes"
    if payload.foreign or result.foreign:
        for window in clauses_of_kind(tool.children, BoundedResult):
            yield window, "remove BoundedResult, or write Args and Return as attributes"


def native_tools(
    clause: Toolset, service: str, unique: Unique, report: Report
) -> tuple[CheckedNativeTool, ...]:
    """Return the native tools of a toolset; their kinds share the names of its other tools."""
    tools = []
    for native in clauses_of_kind(clause.children, NativeTool):
        check_snake(report, "a provider", native.provider, native.source)
        check_snake(report, "a native tool", native.kind, native.source)
        hint = "move one of them into another toolset: ids are service.toolset.kind"
        if not unique.add("tool", native.kind, native.source, hint):
            continue
        config = json_value(native.config)
        tools.append(
            CheckedNativeTool(
                id=f"{service}.{clause.name}.{native.kind}",
                provider=native.provider,
                kind=native.kind,
                config=config if isinstance(config, dict) else {},
            )
        )
    return tuple(tools)
