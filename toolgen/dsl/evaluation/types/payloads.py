"""Arguments, results and payloads: objects that are named after their place."""

from __future__ import annotations

from dataclasses import replace

from toolgen.shapes import naming
from toolgen.shapes.fields import Field

from ...composites import ArrayOf, JSONSchema, Type
from ...datatypes import DataType as DataTypeClause
from ...expr import codes
from ...structure import Args, Attributes, Payload
from ..checks.arguments import BROKEN
from ..report import Report
from .constraints import Subject
from .foreign import foreign
from .modules import Module
from .resolved_fields import ALL_FIELDS, FieldChoice, ResolvedFields
from .spelling import clause_text
from .types import Types


def resolve_fields(
    clause: Attributes | None,
    where: str,
    module: Module,
    class_name: str,
    types: Types,
    report: Report,
    projection: FieldChoice = ALL_FIELDS,
) -> ResolvedFields:
    """Resolve the fields that a clause lists or takes from its only `Type`."""
    if clause is None:
        return ResolvedFields()
    written = [child for child in clause.children if isinstance(child, (DataTypeClause, str))]
    if not written:
        drawn = types.fields(clause.children, module, class_name, where, clause.source, projection)
        return replace(drawn, open=clause.open) if clause.open else drawn
    is_alone = len(clause.children) == 1
    if not is_alone:
        report.add(codes.MIXED_TYPE_AND_ATTRIBUTES, clause.source, what=where, name=clause_text(written[0]))
    subject = Subject(what=where, source=clause.source, report=report)
    type_ = types.named_type(written[0], subject)
    if isinstance(type_, Type):
        taken = _fields_of_type(type_, types, projection)
        return replace(taken, open=taken.open or clause.open, is_known=is_alone)
    if isinstance(type_, JSONSchema):
        is_payload = isinstance(clause, Args | Payload)
        if clause.open:
            _refuse_openness(clause, report)
        schema = foreign(type_, class_name, where, report, arguments=is_payload)
        return ResolvedFields(foreign=schema, is_known=is_alone and schema is not None)
    if type_ is not None and type_ is not BROKEN:
        _refuse(clause, type_, where, report)
    return ResolvedFields(is_known=False)


def _fields_of_type(clause: Type, types: Types, projection: FieldChoice) -> ResolvedFields:
    object_ = types.shared_object(clause)
    if object_ is None:
        return ResolvedFields()
    selected = [
        (field, projection.name(field.name))
        for field in object_.fields
        if projection.includes(projection.name(field.name))
    ]
    sources = {name: types.shared.source_of(object_.name, field) or clause.source for field, name in selected}
    fields = tuple(_renamed(field, name) for field, name in selected)
    examples = object_.examples if fields == object_.fields else ()
    return ResolvedFields(
        fields=fields,
        sources=sources,
        description=object_.description,
        open=object_.open,
        examples=examples,
    )


def _renamed(field: Field, name: str) -> Field:
    """Return the field under a name; a title derived from the old name is derived from the new one."""
    title = naming.title(name) if field.title == naming.title(field.name) else field.title
    return replace(field, name=name, title=title)


def _refuse_openness(clause: Attributes, report: Report) -> None:
    report.add(
        codes.WRONG_ARGUMENT,
        clause.source,
        argument="open",
        clause=type(clause).__name__,
        value=True,
        wanted="defined by its JSONSchema",
        hint="remove open=True; the schema determines whether further keys are allowed",
    )


def _refuse(clause: Attributes, type_: object, where: str, report: Report) -> None:
    name = "items" if isinstance(type_, ArrayOf) else "value"
    text = clause_text(type_)
    kind = type(clause).__name__
    report.add(
        codes.NOT_AN_OBJECT,
        clause.source,
        what=where,
        type=text,
        hint=f'write {kind}(Attribute("{name}", {text}, "…", required=True))',
    )
