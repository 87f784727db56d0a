"""Bindings: the mapping of a tool's arguments to its method's payload, and of the method's result back."""

from __future__ import annotations

from typing import Final

from toolgen.contract.names import CALL_META_NAMES
from toolgen.shapes.fields import ArrayType, Field, NumberType, RefType, may_be_absent, may_be_none

from ...expr import codes
from ...expr.rule import Rule
from ...expr.tree import ArtifactSource, Assignment, Binding, Computed, ObjectMapping
from ...tool_clauses import BindTo
from ..report import RelatedSource, Report, closest
from ..tools.tools import ToolDraft
from ..types.modules import UNKNOWN, Module
from ..types.spelling import type_text
from .conversion import Converter, FieldMismatch, MismatchHandlers, ReportPair, is_subtype, loses_keys
from .methods import ResolvedMethod
from .renames import Renames
from .unmarked import Sides

_COUNTS: Final = ("returned", "truncated")
"""Bounds that are always present; they are computed if the method does not return them."""


def bind(
    draft: ToolDraft, bind_to: BindTo, operation: ResolvedMethod, shared: Module, report: Report
) -> Binding:
    """Return the binding of a tool to its method; report everything that does not fit."""
    return _Binder(draft, bind_to, operation, shared, report).binding()


class _Binder:
    def __init__(
        self, draft: ToolDraft, bind_to: BindTo, operation: ResolvedMethod, shared: Module, report: Report
    ) -> None:
        self._draft = draft
        self._tool = draft.tool
        self._bind_to = bind_to
        self._operation = operation
        self._shared = shared.classes
        self._sides = Sides(method=operation.module.objects, tool=draft.module.objects, shared=shared.classes)
        self._report = report
        payloads_are_known = draft.payload_is_known and operation.payload_is_known
        results_are_known = draft.result_is_known and operation.result_is_known
        are_known = payloads_are_known and results_are_known
        self._renames = Renames(bind_to, draft.tool, operation, report, are_known=are_known)

    def binding(self) -> Binding:
        payload, payload_objects = self._payload()
        result, artifacts, result_objects = self._result()
        return Binding(
            service=self._operation.service,
            method=self._operation.name,
            payload=payload,
            result=result,
            artifacts=artifacts,
            payload_objects=payload_objects,
            result_objects=result_objects,
        )

    def _payload(self) -> tuple[ObjectMapping, tuple[ObjectMapping, ...]]:
        tool, target = self._tool, self._operation.payload_type
        converter = Converter(
            self._draft.module.objects,
            self._operation.module.objects,
            self._shared,
            MismatchHandlers(
                misfit=self._payload_misfit,
                unfilled=self._unfilled_payload,
                lost=self._lost,
                lost_keys=self._report_lost_argument_keys,
            ),
        )
        sources = {field.name: field for field in (*tool.payload.fields, *tool.injected)}
        assignments, used, unfilled = [], set(), []
        for field in target.fields:
            source = sources.get(self._renames.payload_source(field.name) or "")
            if source:
                used.add(source.name)
                conversion = converter.field(source, field, source.name)
                assignments.append(Assignment(target=field, source=source, conversion=conversion))
                if source in tool.payload.fields:  # injected fields are never shown
                    where = [*self._argument(source, ""), *self._payload_field(field, "")]
                    self._check_marks(field, source, "argument", where)
            elif field.required:
                unfilled.append(field)
        lost = [field for field in tool.payload.fields if field.name not in used]
        self._complain(unfilled, lost)
        if loses_keys(tool.payload, target, may_lose=False):
            self._report_lost_argument_keys("")
        mapping = ObjectMapping(source=tool.payload.name, target=target.name, assignments=tuple(assignments))
        return mapping, converter.mappings

    def _complain(self, unfilled: list[Field], lost: list[Field]) -> None:
        """Report unfilled and lost fields; an unfilled and a lost field of the same type are one finding."""
        if self._renames.are_broken:
            return
        for field in unfilled if self._draft.payload_is_known else ():
            twin = next((other for other in lost if type_text(other.type) == type_text(field.type)), None)
            hint = ""
            if twin:
                lost.remove(twin)
                hint = (
                    f"if the argument {twin.name!r} fills it, write rename={{{field.name!r}: {twin.name!r}}}"
                )
            self._unfilled_payload(field.name, field, hint)
        for field in lost if self._operation.payload_is_known else ():
            self._lost(field.name, field)

    def _unfilled_payload(self, path: str, field: Field, hint: str = "") -> None:
        attribute = f'Attribute("{path}", {type_text(field.type)}, "…", required=True)'
        fixes = f'add {attribute} to Args, write Inject("{path}"), or add a default in the method'
        if "." in path:
            fixes = "add it to the argument, or make it optional in the method"
        elif field.name in CALL_META_NAMES:
            fixes = f'write Inject("{field.name}"), so that the runtime fills it from the call'
        self._report.add(
            codes.UNFILLED_PAYLOAD_FIELD,
            self._bind_to.source,
            related=self._payload_field(field, path),
            method=self._operation.label,
            field=path,
            type=type_text(field.type),
            tool=self._tool.name,
            hint=hint or fixes,
        )

    def _lost(self, path: str, field: Field) -> None:
        hint = "add it to the method's payload, or remove it from the tool"
        parameters = [target.name for target in self._operation.payload_type.fields]
        meant = closest(field.name, parameters)
        if meant and "." not in path:
            hint = f"if {meant!r} is meant, write rename={{{meant!r}: {field.name!r}}}"
        self._report.add(
            codes.LOST_ARGUMENT,
            self._bind_to.source,
            related=[*self._argument(field, path), self._method()],
            field=path,
            type=type_text(field.type),
            tool=self._tool.name,
            method=self._operation.label,
            hint=hint,
        )

    def _payload_misfit(self, path: str, source: Field, target: Field, report: ReportPair) -> None:
        window = self._tool.bounded
        pair = FieldMismatch(
            path=path,
            source=source,
            target=target,
            what="argument",
            giver=f"tool {self._tool.name!r}",
            taker=f"method {self._operation.label!r}",
            may_be_required=window is None or path != window.cursor,
            related=(*self._argument(source, path), *self._payload_field(target, path)),
        )
        report(pair, self._bind_to.source, self._report)

    def _result(self) -> tuple[ObjectMapping, tuple[ArtifactSource, ...], tuple[ObjectMapping, ...]]:
        tool, source = self._tool, self._operation.result_type
        converter = Converter(
            self._operation.module.objects,
            self._draft.module.objects,
            self._shared,
            MismatchHandlers(
                misfit=self._result_misfit,
                unfilled=self._unfilled_result,
                lost=None,
                lost_keys=self._report_lost_result_keys,
            ),
        )
        assignments = []
        for field in tool.result.fields:
            supplied = source.field(self._renames.result_source(field.name) or "")
            if supplied:
                conversion = converter.field(supplied, field, supplied.name)
                assignments.append(Assignment(target=field, source=supplied, conversion=conversion))
                where = [*self._returned(field, ""), *self._result_field(supplied, "")]
                self._check_marks(supplied, field, "result field", where)
            elif tool.bounded and field.name in _COUNTS:
                assignments.append(Assignment(target=field, computed=self._computed(field)))
            elif field.required and self._operation.result_is_known and not self._renames.are_broken:
                self._unfilled_result(field.name, field)
        self._check_refinable(assignments)
        keeps_keys = loses_keys(source, tool.result, may_lose=True)
        if keeps_keys and self._draft.has_own_result:
            self._report_lost_result_keys("")
        mapping = ObjectMapping(
            source=source.name,
            target=tool.result.name,
            assignments=tuple(assignments),
            keeps_keys=keeps_keys,
        )
        return mapping, self._artifacts(converter), converter.mappings

    def _artifacts(self, converter: Converter) -> tuple[ArtifactSource, ...]:
        filled = []
        for artifact in self._tool.artifacts:
            supplied = self._operation.result_type.field(self._renames.result_source(artifact.kind) or "")
            if supplied is None:
                self._unfilled_artifact(artifact.kind)
                continue
            type_ = RefType(name=artifact.type) if artifact.type != UNKNOWN.name else UNKNOWN
            target = Field(name=artifact.kind, type=type_, description="", title="")
            conversion = converter.field(supplied, target, supplied.name)
            filled.append(ArtifactSource(kind=artifact.kind, source=supplied, conversion=conversion))
            self._check_marks(supplied, target, "artifact", self._result_field(supplied, ""))
        return tuple(filled)

    def _check_marks(self, method: Field, tool: Field, kind: str, where: list[RelatedSource]) -> None:
        """Report sensitive values of a method that are not sensitive in the tool's field of this kind."""
        for path in self._sides.unmarked(method, tool):
            hint = f"write sensitive=True in the Attribute of {tool.name + path!r} of the tool"
            if kind == "artifact":
                hint = f"write sensitive=True in the attributes of the type of {tool.name + path!r}"
            self._report.add(
                codes.UNMARKED_SENSITIVE,
                self._bind_to.source,
                related=where,
                field=method.name + path,
                method=self._operation.label,
                what=f"{kind} {tool.name + path!r}",
                tool=self._tool.name,
                hint=hint,
            )

    def _unfilled_artifact(self, kind: str) -> None:
        if self._renames.are_broken or not self._operation.result_is_known:
            return
        returned = [field.name for field in self._operation.result_type.fields]
        meant = closest(kind, returned)
        rename = f"rename={{{meant or '…'!r}: {kind!r}}}"
        hint = f"if {meant!r} is meant, write {rename}; otherwise " if meant else ""
        hint += f'add Attribute("{kind}", …) to the method\'s Result'
        if not meant:
            hint += f", or write {rename}"
        self._report.add(
            codes.UNFILLED_ARTIFACT,
            self._bind_to.source,
            related=[self._method()],
            kind=kind,
            tool=self._tool.name,
            method=self._operation.label,
            hint=f"{hint}, or remove BindTo and return it from the executor",
        )

    def _computed(self, field: Field) -> Computed:
        """Return how to compute a bound that the method does not return; report it if that is impossible."""
        if field.name == "returned":
            self._check_returned(field)
            return "returned"
        next_cursor = self._tool.bounded.next_cursor if self._tool.bounded else None
        source = self._operation.result_type
        total = source.field(self._renames.result_source("total") or "")
        cursor = next_cursor and source.field(self._renames.result_source(next_cursor) or "")
        counts = total is not None and isinstance(total.type, NumberType) and total.required
        if not counts and not (cursor and may_be_none(cursor)):
            fix = "or a next cursor"
            if cursor:
                fix = f"or make {cursor.name!r} optional there: the last page has no next cursor"
            self._not_computable(
                field,
                'add Attribute("total", Int, "…", required=True) to the method\'s Result, or truncated '
                f"(a required Boolean), {fix}",
            )
        return "truncated"

    def _check_returned(self, field: Field) -> None:
        """Report `returned` if it cannot be the length of the result's only array."""
        arrays = [
            (other, other.type) for other in self._tool.result.fields if isinstance(other.type, ArrayType)
        ]
        hint = 'add Attribute("returned", Int, "…", required=True) to the method\'s Result'
        if len(arrays) != 1:
            fault = "has several arrays" if arrays else "has no array"
            self._not_computable(field, f"{hint}: its result {fault}")
            return
        ((array, type_),) = arrays
        count = NumberType(integer=True, minimum=type_.min_length or 0, maximum=type_.max_length)
        if may_be_absent(array):
            self._not_computable(field, f"{hint}: its only array {array.name!r} can be absent")
        elif not is_subtype(count, field.type):
            counted = type_text(count, constraints=True)
            self._not_computable(field, f"write {counted}: that is the length of {array.name!r}")

    def _check_refinable(self, assignments: list[Assignment]) -> None:
        """Report a window whose method never tells how to get the omitted results (Goa-AI's rule)."""
        window = self._tool.bounded
        filled = {assignment.target.name for assignment in assignments if assignment.source is not None}
        if window is None or self._renames.are_broken or {"refinement_hint", window.next_cursor} & filled:
            return
        other = f'Attribute("{window.next_cursor}", String, "…")'
        if window.next_cursor is None:
            other = "page: BoundedResult(cursor=…, next_cursor=…)"
        self._report_bounds(codes.BOUNDS_NOT_REFINABLE, other=other)

    def _not_computable(self, field: Field, hint: str) -> None:
        self._report_bounds(codes.BOUNDS_NOT_COMPUTABLE, name=field.name, hint=hint)

    def _report_bounds(self, rule: Rule, **facts: str) -> None:
        if not self._draft.result_is_known or not self._operation.result_is_known:
            return
        named = {"tool": self._tool.name, "method": self._operation.label, **facts}
        self._report.add(rule, self._bind_to.source, related=[self._method()], **named)

    def _method(self) -> RelatedSource:
        return RelatedSource(
            message=f"method {self._operation.name!r} is defined here", source=self._operation.source
        )

    def _unfilled_result(self, path: str, field: Field) -> None:
        hint = "add it to the method's result, or make it optional in the tool"
        taken = {self._renames.result_source(returned.name) for returned in self._tool.result.fields}
        spare = (other for other in self._operation.result_type.fields if other.name not in taken)
        twin = next((other for other in spare if type_text(other.type) == type_text(field.type)), None)
        if twin and "." not in path:
            hint = f"if the field {twin.name!r} fills it, write rename={{{twin.name!r}: {field.name!r}}}"
        self._report.add(
            codes.UNFILLED_RESULT_FIELD,
            self._bind_to.source,
            related=[*self._returned(field, path), self._method()],
            tool=self._tool.name,
            field=path,
            type=type_text(field.type),
            method=self._operation.label,
            hint=hint,
        )

    def _result_misfit(self, path: str, source: Field, target: Field, report: ReportPair) -> None:
        is_count = self._tool.bounded is not None and target.name in _COUNTS and "." not in path
        pair = FieldMismatch(
            path=path,
            source=source,
            target=target,
            what="result field",
            giver=f"method {self._operation.label!r}",
            taker=f"tool {self._tool.name!r}",
            may_be_optional=not is_count,
            related=(*self._returned(target, path), *self._result_field(source, path)),
        )
        report(pair, self._bind_to.source, self._report)

    def _report_lost_argument_keys(self, path: str) -> None:
        self._report_lost_keys(f"argument {path!r}" if path else "the argument object", path)

    def _report_lost_result_keys(self, path: str) -> None:
        self._report_lost_keys(f"result field {path!r}" if path else "the result", path, is_result=True)

    def _report_lost_keys(self, supplied: str, path: str, *, is_result: bool = False) -> None:
        """Report an open object that loses additional keys in the conversion; "" is the outermost path."""
        sides = f"tool {self._tool.name!r}", f"method {self._operation.label!r}"
        giver, taker = reversed(sides) if is_result else sides
        fix = "use one named Type on both sides" if path else "take the other keys as MapOf(String, Any)"
        hint = f"remove open=True, or {fix}"
        facts = {"given": supplied, "giver": giver, "taker": taker, "hint": hint}
        self._report.add(codes.OPEN_REBUILD, self._bind_to.source, related=[self._method()], **facts)

    def _argument(self, field: Field, path: str) -> list[RelatedSource]:
        what = f"argument {field.name!r} of the tool"
        return _written(self._draft.module, self._tool.payload.name, field, path, what)

    def _returned(self, field: Field, path: str) -> list[RelatedSource]:
        what = f"{field.name!r} of the tool's result"
        return _written(self._draft.module, self._tool.result.name, field, path, what)

    def _payload_field(self, field: Field, path: str) -> list[RelatedSource]:
        what = f"{field.name!r} of the method's payload"
        return _written(self._operation.module, self._operation.payload, field, path, what)

    def _result_field(self, field: Field, path: str) -> list[RelatedSource]:
        what = f"{field.name!r} of the method's result"
        return _written(self._operation.module, self._operation.result, field, path, what)


def _written(module: Module, class_name: str, field: Field, path: str, what: str) -> list[RelatedSource]:
    """Return the source of an object's own field; fields of nested objects have none."""
    source = module.source_of(class_name, field) if "." not in path else None
    return [RelatedSource(message=f"{what} is defined here", source=source)] if source else []
