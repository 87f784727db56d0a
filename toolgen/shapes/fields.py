"""The field tree: the shape of every payload, result and artifact.

Valid by construction: the builder of the tree has checked the rules that the types below cannot express.
Objects are in a table by class name and are referenced by name, so a type can be recursive.

Readers: `tree/schema.py` (JSON Schema), `tree/validator.py` (pydantic), and the generator's spelling of
types.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record, record


class Missing(Enum):
    """The type of `MISSING`, which means that no value was written if None is a value."""

    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING

Ordered: TypeAlias = dt.date | dt.timedelta | Decimal
"""A bound of a primitive. A datetime is a date in Python; here it has an offset."""
ScalarKind = Literal["boolean", "bytes", "date", "datetime", "duration", "uuid", "url", "decimal", "any"]


@record
class StringType:
    """Unicode text; lengths count code points (JSON Schema Validation 6.3.1)."""

    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    """ECMA-262 as the author wrote it; searched, not anchored (JSON Schema Validation 6.3.3)."""
    format: str | None = None
    """A key of `forms.STRING_FORMATS`."""


@record
class NumberType:
    """An integer or a number; all bounds have the same kind."""

    integer: bool
    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: int | float | None = None
    exclusive_maximum: int | float | None = None
    multiple_of: int | float | None = None


@record
class EnumType:
    """One of several values, all strings or all integers; `name` is a class name, or None if inline."""

    values: tuple[str, ...] | tuple[int, ...]
    meanings: tuple[str, ...] = ()
    """Meaning of each value, in the order of the values; "" for a self-explanatory one. Empty if all are."""
    name: str | None = None
    description: str = ""

    @property
    def explained(self) -> tuple[tuple[str | int, str], ...]:
        """The values that have a meaning, each with its meaning."""
        values: tuple[str | int, ...] = self.values
        return tuple(pair for pair in zip(values, self.meanings, strict=False) if pair[1])


@record
class ScalarType:
    """A primitive with a lexical form; its limits are values of its Python type."""

    kind: ScalarKind
    minimum: Ordered | None = None
    maximum: Ordered | None = None
    exclusive_minimum: Ordered | None = None
    exclusive_maximum: Ordered | None = None
    multiple_of: dt.timedelta | Decimal | None = None


@record
class ArrayType:
    items: DataType
    min_length: int | None = None
    max_length: int | None = None
    unique_items: bool = False
    """No two items are equal as the codec writes them (JSON Schema Validation 6.4.3)."""


@record
class MapType:
    """An object with free keys; lengths count properties (JSON Schema Validation 6.5)."""

    values: DataType
    keys: StringType = StringType()
    min_length: int | None = None
    max_length: int | None = None


@record
class NullableType:
    """The inner type, or null as a value."""

    inner: DataType


@record
class UnionType:
    """One of several objects, distinguished by the value of their first field, the tag."""

    tag: str
    branches: tuple[tuple[str, RefType], ...]
    """Tag value and object of each branch, in the author's order."""
    name: str | None = None
    """Name of its alias in Python; None if the union is spelled out at each use."""


@record
class RefType:
    """A reference to an object in the table, by class name."""

    name: str


DataType: TypeAlias = (
    StringType | NumberType | EnumType | ScalarType | ArrayType | MapType | NullableType | UnionType | RefType
)


@record
class Field:
    """One property of an object. Never both required and with a default."""

    name: str
    """The JSON key, as written."""
    type: DataType
    description: str
    title: str
    required: bool = False
    default: Json | Missing = MISSING
    examples: tuple[Json, ...] = ()
    deprecated: bool = False
    sensitive: bool = False
    """Whether its values are excluded from events, logs, spans and texts for people."""


@frozen_record(eq=False)
class Foreign:
    """A foreign schema, and the part of it that Python types express.

    `root` and `classes` are in the normal form of `shapes/foreign/nodes.py`.
    """

    schema: dict[str, Json]
    """The contract: JSON Schema 2020-12, self-contained, without `$schema`."""
    root: dict[str, Any]
    classes: dict[str, dict[str, Any]]
    """Objects by class name, in order of first use."""
    is_exact: bool
    """Whether the types accept exactly what the schema accepts; if not, the schema is checked too."""


@record
class ObjectType:
    """An object; fields in declaration order."""

    name: str
    """Class name, unique in its table."""
    description: str
    fields: tuple[Field, ...]
    title: str = ""
    """The title for people; "" if it derives from the class name, as for the result of a tool."""
    inline: bool = False
    """Whether the object has no name of its own; its JSON Schema is inlined where it is used."""
    open: bool = False
    """Whether keys beyond the fields are accepted, with any JSON value; otherwise they are rejected."""
    examples: tuple[Json, ...] = ()
    foreign: Foreign | None = None
    """Schema of the value, which can be of any JSON type; `fields` is then empty."""

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


Objects: TypeAlias = Mapping[str, ObjectType]


def without_null(type_: DataType) -> DataType:
    """Return the type of the values other than null."""
    return type_.inner if isinstance(type_, NullableType) else type_


def inner_types(type_: DataType) -> tuple[DataType, ...]:
    """Return the direct component types of a type; objects are not entered."""
    match type_:
        case ArrayType(items=inner) | MapType(values=inner) | NullableType(inner=inner):
            return (inner,)
        case UnionType():
            return tuple(branch for _, branch in type_.branches)
        case _:
            return ()


def parts(type_: DataType) -> Iterator[DataType]:
    """Yield the type and all types nested in it; objects are not entered."""
    yield type_
    for inner in inner_types(type_):
        yield from parts(inner)


def null_is_a_value(type_: DataType) -> bool:
    """Return whether null is a value of the type and does not mean absent."""
    return isinstance(type_, NullableType) or (isinstance(type_, ScalarType) and type_.kind == "any")


def may_be_absent(field: Field) -> bool:
    """Return whether the field can be absent, without a default."""
    return not field.required and field.default is MISSING


def may_be_none(field: Field) -> bool:
    """Return whether the Python value of a field can be None."""
    return may_be_absent(field) or isinstance(field.type, NullableType)
