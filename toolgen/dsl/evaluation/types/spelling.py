"""Types as the author would write them, for messages."""

from __future__ import annotations

from typing import Final, assert_never

from toolgen.shapes.constraints import constraints_in
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    Field,
    MapType,
    NullableType,
    NumberType,
    RefType,
    ScalarKind,
    ScalarType,
    StringType,
    UnionType,
    may_be_absent,
)

from ...clause import Clause
from ...composites import ArrayOf, Enum, MapOf, Nullable, Object, OneOf, Type
from ...datatypes import ScalarClause
from ..report import kind_of, listed, source_text

SCALARS: Final[dict[ScalarKind, str]] = {
    "boolean": "Boolean",
    "bytes": "Bytes",
    "date": "Date",
    "datetime": "DateTime",
    "duration": "Duration",
    "uuid": "Uuid",
    "url": "Url",
    "decimal": "Decimal",
    "any": "Any",
}
PRIMITIVES: Final = ("String", "Int", "Float", *SCALARS.values())


def clause_text(clause: object, depth: int = 3) -> str:
    """Return a clause as it is written, without the content of its objects."""
    if depth == 0:
        return "…"
    match clause:
        case str():
            return clause
        case Type(name=str(name)) | Enum(name=str(name)) | OneOf(name=str(name)):
            return name
        case ScalarClause():
            return SCALARS.get(clause.kind, "a type")
        case ArrayOf():
            return f"ArrayOf({clause_text(clause.items, depth - 1)})"
        case MapOf():
            return f"MapOf({clause_text(clause.keys, depth - 1)}, {clause_text(clause.values, depth - 1)})"
        case Nullable():
            return f"Nullable({clause_text(clause.inner, depth - 1)})"
        case OneOf() | Object():
            return f"{type(clause).__name__}(…)"
        case Clause():
            return type(clause).__name__.removesuffix("Clause")
        case _:
            return kind_of(clause)


def type_text(type_: DataType, *, constraints: bool = False) -> str:
    """Return a type of the field tree as a clause, with or without its constraints."""

    def inner(type_: DataType) -> str:
        return type_text(type_, constraints=constraints)

    arguments: list[str] = []
    match type_:
        case StringType():
            clause = "String"
        case NumberType():
            clause = "Int" if type_.integer else "Float"
        case EnumType():
            return type_.name or f"enum of {listed(type_.values)}"
        case ScalarType():
            clause = SCALARS[type_.kind]
        case ArrayType():
            clause, arguments = "ArrayOf", [inner(type_.items)]
        case MapType():
            clause, arguments = "MapOf", [inner(type_.keys), inner(type_.values)]
        case NullableType():
            return f"Nullable({inner(type_.inner)})"
        case UnionType(name=str(name)):
            return name
        case UnionType():
            return f"OneOf({type_.tag!r}, {', '.join(value for value, _ in type_.branches)})"
        case RefType():
            return type_.name
        case _:
            assert_never(type_)
    if constraints:
        arguments += [f"{row.name}={source_text(value)}" for row, value in constraints_in(type_)]
    return f"{clause}({', '.join(arguments)})" if arguments else clause


def field_text(field: Field) -> str:
    """Return the field's type, and whether it can be absent."""
    return f"optional {type_text(field.type)}" if may_be_absent(field) else type_text(field.type)
