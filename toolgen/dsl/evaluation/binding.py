"""Bindings: how a tool's arguments fill its method's payload, and the method's result the tool's."""

from __future__ import annotations

import difflib

from toolgen.contract.fields import MISSING, ArrayType, Field, NumberType, RefType
from toolgen.expr import codes
from toolgen.expr.diagnostics import Related
from toolgen.expr.tree import ArtifactSource, Assignment, Binding, Computed, ObjectMapping

from ..clauses import BindTo
from .conversion import Complaints, Converter
from .methods import Operation
from .modules import UNKNOWN, Module
from .renames import Renames
from .report import Report
from .spelling import field_text, type_text
from .tools import Draft


def bind(draft: Draft, bind_to: BindTo, operation: Operation, shared: Module, report: Report) -> Binding:
    """Return the binding of a tool to its method; everything that does not fit is reported."""
    return _Binder(draft, bind_to, operation, shared, report).binding()


class _Binder:
    def __init__(
        self, draft: Draft, bind_to: BindTo, operation: Operation, shared: Module, report: Report
    ) -> None:
        self._draft = draft
        self._tool = draft.tool
        self._bind_to = bind_to
        self._operation = operation
        self._shared = shared.classes
        self._report = report
        self._renames = Renames(bind_to, draft.tool, operation, report)

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
            Complaints(
                mismatch=self._payload_mismatch,
                unfilled=self._unfilled_payload,
                lost=self._lost,
            ),
        )
        given = {field.name: field for field in (*tool.payload.fields, *tool.injected)}
        assignments, used, unfilled = [], set(), []
        for field in target.fields:
            source = given.get(self._renames.payload_source(field.name) or "")
            if source:
                used.add(source.name)
                conversion = converter.field(source, field, source.name)
                assignments.append(Assignment(target=field, source=source, conversion=conversion))
            elif field.required:
                unfilled.append(field)
        lost = [field for field in tool.payload.fields if field.name not in used]
        self._complain(unfilled, lost)
        mapping = ObjectMapping(source=tool.payload.name, target=target.name, assignments=tuple(assignments))
        return mapping, converter.mappings

    def _complain(self, unfilled: list[Field], lost: list[Field]) -> None:
        """Report what is unfilled and what is lost; a pair of one type is one mistake."""
        if self._renames.are_broken:
            return
        for field in unfilled if self._draft.fills else ():
            twin = next((other for other in lost if type_text(other.type) == type_text(field.type)), None)
            hint = ""
            if twin:
                lost.remove(twin)
                hint = f"if it is the argument {twin.name!r}, write rename={{{field.name!r}: {twin.name!r}}}"
            self._unfilled_payload(field.name, field, hint)
        for field in lost:
            self._lost(field.name, field)

    def _unfilled_payload(self, path: str, field: Field, hint: str = "") -> None:
        fixes = "add it to Args, inject it, or give it a default in the method"
        if "." in path:
            fixes = "add it to the argument, or make it optional in the method"
        self._report.add(
            codes.UNFILLED_PAYLOAD_FIELD,
            self._bind_to.source,
            related=self._written(self._operation.module, self._operation.payload, field, path),
            method=self._operation.label,
            field=path,
            type=type_text(field.type),
            tool=self._tool.name,
            hint=hint or fixes,
        )

    def _lost(self, path: str, field: Field) -> None:
        hint = "add it to the method's payload, or remove it from the tool"
        known = [target.name for target in self._operation.payload_type.fields]
        close = difflib.get_close_matches(field.name, known, n=1)
        if close and "." not in path:
            hint = f"if {close[0]!r} is meant, write rename={{{close[0]!r}: {field.name!r}}}"
        self._report.add(
            codes.LOST_ARGUMENT,
            self._bind_to.source,
            related=self._written(self._draft.module, self._tool.payload.name, field, path),
            field=path,
            type=type_text(field.type),
            tool=self._tool.name,
            method=self._operation.label,
            hint=hint,
        )

    def _payload_mismatch(self, path: str, source: Field, target: Field) -> None:
        tool, method = f"tool {self._tool.name!r}", f"method {self._operation.label!r}"
        self._mismatch(path, source, target, tool, method, "argument", "in the method")

    def _result(self) -> tuple[ObjectMapping, tuple[ArtifactSource, ...], tuple[ObjectMapping, ...]]:
        tool, source = self._tool, self._operation.result_type
        converter = Converter(
            self._operation.module.objects,
            self._draft.module.objects,
            self._shared,
            Complaints(mismatch=self._result_mismatch, unfilled=self._unfilled_result, lost=None),
        )
        assignments = []
        for field in tool.result.fields:
            given = source.field(self._renames.result_source(field.name) or "")
            if given:
                conversion = converter.field(given, field, given.name)
                assignments.append(Assignment(target=field, source=given, conversion=conversion))
            elif tool.bounded and field.name in ("returned", "truncated"):
                assignments.append(Assignment(target=field, computed=self._computed(field)))
            elif field.required and not self._renames.are_broken:
                self._unfilled_result(field.name, field)
        mapping = ObjectMapping(source=source.name, target=tool.result.name, assignments=tuple(assignments))
        return mapping, self._artifacts(converter), converter.mappings

    def _artifacts(self, converter: Converter) -> tuple[ArtifactSource, ...]:
        filled = []
        for artifact in self._tool.artifacts:
            given = self._operation.result_type.field(self._renames.result_source(artifact.kind) or "")
            if given is None:
                continue
            type_ = RefType(name=artifact.type) if artifact.type != UNKNOWN.name else UNKNOWN
            target = Field(name=artifact.kind, type=type_, description="", title="")
            conversion = converter.field(given, target, given.name)
            filled.append(ArtifactSource(kind=artifact.kind, source=given, conversion=conversion))
        return tuple(filled)

    def _computed(self, field: Field) -> Computed:
        """Return how a bound is computed that the method does not carry; report it when it is not."""
        if field.name == "returned":
            arrays = [other for other in self._tool.result.fields if isinstance(other.type, ArrayType)]
            if len(arrays) == 1 and (arrays[0].required or arrays[0].default is not MISSING):
                return "returned"
            fault = "its result has no array" if not arrays else "its result has several arrays"
            if len(arrays) == 1:
                fault = f"its only array {arrays[0].name!r} may be absent"
            self._not_computable(field, f"{fault}; add `returned` (Int) to the method's result")
            return "returned"
        next_cursor = self._tool.bounded.next_cursor if self._tool.bounded else None
        source = self._operation.result_type
        total = source.field(self._renames.result_source("total") or "")
        cursor = next_cursor and source.field(self._renames.result_source(next_cursor) or "")
        counts = total is not None and isinstance(total.type, NumberType) and total.required
        if not counts and not cursor:
            self._not_computable(
                field,
                "add `truncated` (Boolean), a required `total` (Int) or a next cursor to the method's result",
            )
        return "truncated"

    def _not_computable(self, field: Field, hint: str) -> None:
        self._report.add(
            codes.BOUNDS_NOT_COMPUTABLE,
            self._bind_to.source,
            name=field.name,
            tool=self._tool.name,
            method=self._operation.label,
            hint=hint,
        )

    def _unfilled_result(self, path: str, field: Field) -> None:
        hint = "add it to the method's result, or make it optional in the tool"
        taken = {self._renames.result_source(returned.name) for returned in self._tool.result.fields}
        spare = (given for given in self._operation.result_type.fields if given.name not in taken)
        twin = next((given for given in spare if type_text(given.type) == type_text(field.type)), None)
        if twin and "." not in path:
            hint = f"if it is the field {twin.name!r}, write rename={{{twin.name!r}: {field.name!r}}}"
        self._report.add(
            codes.UNFILLED_RESULT_FIELD,
            self._bind_to.source,
            related=self._written(self._draft.module, self._tool.result.name, field, path),
            tool=self._tool.name,
            field=path,
            type=type_text(field.type),
            method=self._operation.label,
            hint=hint,
        )

    def _result_mismatch(self, path: str, source: Field, target: Field) -> None:
        tool, method = f"tool {self._tool.name!r}", f"method {self._operation.label!r}"
        self._mismatch(path, source, target, method, tool, "result field", "in the tool")

    def _mismatch(
        self, path: str, source: Field, target: Field, giver: str, taker: str, what: str, where: str
    ) -> None:
        target_path = path if "." in path or "[" in path else target.name
        same_type = type_text(source.type) == type_text(target.type)
        hint = f"make {target.name!r} {type_text(source.type)} {where}, or change the type of the {what}"
        if same_type:
            hint = f"add required=True or a default to the {what}, or make {target.name!r} optional {where}"
        self._report.add(
            codes.BIND_MISMATCH,
            self._bind_to.source,
            given=f"{what} {path!r} of {giver}",
            given_type=field_text(source) if same_type else type_text(source.type),
            taken=f"{target_path!r} of {taker}",
            taken_type=f"required {type_text(target.type)}" if same_type else type_text(target.type),
            hint=hint,
        )

    def _written(self, module: Module, class_name: str, field: Field, path: str) -> list[Related]:
        source = module.source_of(class_name, field) if "." not in path else None
        return [Related(message=f"{field.name!r} stands here", source=source)] if source else []
