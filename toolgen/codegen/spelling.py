"""Types and values of the field tree as Python expressions, with the imports that they need."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import assert_never

from toolgen.contract.json_value import Json
from toolgen.contract.record import record
from toolgen.shapes.constraints import LIMITS, constraints_in, core_keywords
from toolgen.shapes.fields import (
    MISSING,
    ArrayType,
    DataType,
    EnumType,
    Field,
    MapType,
    Missing,
    NullableType,
    NumberType,
    Objects,
    RefType,
    ScalarKind,
    ScalarType,
    StringType,
    UnionType,
    null_is_a_value,
    parts,
    without_null,
)
from toolgen.shapes.naming import field_name
from toolgen.shapes.patterns import to_rust
from toolgen.shapes.tree.validator import Validator
from toolgen.shapes.values import plain

from .imports import Imports
from .text import literal, quote

RUNTIME = "toolgen.runtime"
"""Module of the names that authors use too."""
GENERATED = "toolgen.runtime.generated"
"""Module of the names that only generated code uses."""
CLIENTS = "toolgen.clients"
"""Module of the names that generated service clients use."""

_FORMATS = {"email": "Email", "hostname": "Hostname", "ipv4": "IPv4", "ipv6": "IPv6"}
_SCALARS: dict[ScalarKind, tuple[str, str]] = {
    "boolean": ("", "bool"),
    "bytes": ("", "bytes"),
    "date": ("datetime", "date"),
    "datetime": ("datetime", "datetime"),
    "duration": ("datetime", "timedelta"),
    "uuid": ("uuid", "UUID"),
    "url": (GENERATED, "Url"),
    "decimal": ("decimal", "Decimal"),
    "any": (GENERATED, "AnyJson"),
}
"""Module and name of the Python type."""


@record
class TypeExpression:
    """A type expression, and the keyword arguments of the `Field(…)` that narrows it."""

    type: str
    constraints: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    """Further metadata for limits that the signature of `Field(…)` does not have."""


class Speller:
    """Writes types and values for one module, and collects its imports.

    `reference` returns the expression for a class, a named enum or a named union in that module;
    `objects` is the table of the classes.
    """

    def __init__(self, imports: Imports, reference: Callable[[str], str], objects: Objects) -> None:
        self._imports = imports
        self._reference = reference
        self._objects = objects
        self._expressions: dict[int, tuple[DataType, TypeExpression]] = {}
        """Spellings of types by identity, because many fields share a type without constraints."""

    @cached_property
    def _field(self) -> str:
        return self._imports.name("pydantic", "Field")

    @cached_property
    def _annotated(self) -> str:
        return self._imports.name("typing", "Annotated")

    def spell(self, type_: DataType) -> TypeExpression:
        """Return the type, with its own constraints separate from it."""
        if (spelled := self._expressions.get(id(type_))) is None:
            spelled = self._expressions[id(type_)] = type_, self._spell(type_)
        return spelled[1]

    def _spell(self, type_: DataType) -> TypeExpression:
        match type_:
            case StringType():
                return self._string(type_)
            case NumberType():
                return TypeExpression(type="int" if type_.integer else "float", constraints=_limits(type_))
            case EnumType():
                return TypeExpression(
                    type=self._reference(type_.name) if type_.name else self.choice(type_.values)
                )
            case ScalarType():
                return self._limited(type_)
            case ArrayType():
                name = self._imports.name(GENERATED, "UniqueItems") if type_.unique_items else "list"
                return TypeExpression(type=f"{name}[{self.nested(type_.items)}]", constraints=_limits(type_))
            case MapType():
                keys, values = self.nested(type_.keys), self.nested(type_.values)
                return TypeExpression(type=f"dict[{keys}, {values}]", constraints=_limits(type_))
            case NullableType():
                if null_is_a_value(type_.inner):
                    return self.spell(type_.inner)
                nullable = self._imports.name(GENERATED, "Nullable")
                return TypeExpression(type=f"{nullable}[{self.nested(type_.inner)}]")
            case UnionType(name=str(name)):
                return TypeExpression(type=self._reference(name))
            case UnionType(branches=((_, only),)):
                return TypeExpression(type=self._reference(only.name))
            case UnionType():
                branches = " | ".join(self._reference(branch.name) for _, branch in type_.branches)
                tag = quote(field_name(type_.tag))
                return TypeExpression(type=branches, constraints=(f"discriminator={tag}",))
            case RefType():
                reference = self._reference(type_.name)
                if self._objects[type_.name].foreign:
                    reference = f"{self._imports.name(GENERATED, 'Foreign')}[{reference}]"
                return TypeExpression(type=reference)
            case _:
                assert_never(type_)

    def nested(self, type_: DataType) -> str:
        """Return the type with its constraints, for use inside another type."""
        spelled = self.spell(type_)
        return self.annotated(spelled.type, spelled.constraints, spelled.markers)

    def annotated(self, type_: str, arguments: Iterable[str], markers: Iterable[str] = ()) -> str:
        keywords = ", ".join(arguments)
        field = (f"{self._field}({keywords})",) if keywords else ()
        annotations = (*field, *markers)
        if not annotations:
            return type_
        return f"{self._annotated}[{', '.join((type_, *annotations))}]"

    def choice(self, values: Iterable[str | int]) -> str:
        return f"{self._imports.name('typing', 'Literal')}[{', '.join(map(literal, values))}]"

    def declaration(self, field: Field, *, tag: bool = False) -> str:
        """Return the line that declares the field; a tag has its only value as default."""
        name, spelled = field_name(field.name), self.spell(field.type)
        description = _described(field)
        arguments = [f"description={quote(description)}"] if description else []
        if name != field.name:
            key = quote(field.name)
            arguments[:0] = [f"validation_alias={key}", f"serialization_alias={key}"]
        if field.sensitive:
            arguments.append("repr=False")
        annotation = self.annotated(
            _or_none(field, spelled.type), (*arguments, *spelled.constraints), spelled.markers
        )
        if tag and isinstance(field.type, EnumType):
            return f"{name}: {annotation} = {literal(field.type.values[0])}"
        return f"{name}: {annotation}{self._default(field)}"

    def injected(self, field: Field) -> str:
        """Return the expression that declares the attribute of an injected field."""
        type_ = self.bare(field)
        annotation = quote(type_) if _is_later(field.type) else type_
        return f"{self._imports.name(RUNTIME, 'Injected')}[{annotation}]()"

    def _default(self, field: Field) -> str:
        """Return the text of the default, which follows the annotation; "" for a required field."""
        if field.required:
            return ""
        if isinstance(field.default, Missing):
            return " = None"
        if isinstance(field.type, EnumType) and len(field.type.values) == 1:
            # With a plain default, the field would be the tag of a union, which does not accept null.
            maker = self._imports.name("pydantic", "Field")
            return f" = {maker}(default_factory=lambda: {literal(field.default)})"
        if not isinstance(field.default, (list, dict)):
            return f" = {self.value(field.type, field.default)}"
        if field.default or isinstance(without_null(field.type), (RefType, UnionType)):
            factory = f"lambda: {self._mutable(field.type, field.default)}"
        elif isinstance(field.default, dict):
            factory = "dict"
        else:  # pyright takes a plain `list` for a list of unknown items
            factory = self._bare(without_null(field.type))
            if _is_later(field.type):
                factory = f"lambda: {factory}()"
        return f" = {self._imports.name('pydantic', 'Field')}(default_factory={factory})"

    def _mutable(self, type_: DataType, default: list[Json] | dict[str, Json]) -> str:
        """Return an expression for a list, a dict or an object whose type a type checker can infer."""
        value = self.value(type_, default)
        match type_:
            case NullableType():
                return self._mutable(type_.inner, default)
            case ScalarType():
                item = self._imports.name("pydantic", "JsonValue")
                return (
                    f"list[{item}]({value})" if isinstance(default, list) else f"dict[str, {item}]({value})"
                )
            case ArrayType() | MapType() if not _is_inferred(type_, default):
                return f"{self._bare(type_)}({value})"
            case _:
                return value

    def bare(self, field: Field) -> str:
        """Return the type of the field's values without constraints."""
        return _or_none(field, self._bare(field.type))

    def value(self, type_: DataType, value: Json) -> str:
        """Return the expression of a JSON value of the type."""
        match type_, value:
            case NullableType(), None:
                return "None"
            case NullableType(), _:
                return self.value(type_.inner, value)
            case NumberType(integer=True), int() | float():
                return repr(int(value))
            case NumberType(), int() | float():
                return repr(value)
            case ArrayType(), list():
                return f"[{', '.join(self.value(type_.items, item) for item in value)}]"
            case MapType(), dict():
                items = (f"{quote(key)}: {self.value(type_.values, item)}" for key, item in value.items())
                return f"{{{', '.join(items)}}}"
            case UnionType(), dict():
                branch = dict(type_.branches)[str(value[type_.tag])]
                return self._object(branch, value)
            case RefType(), dict() | list():
                return self._object(type_, value)
            case ScalarType(), _:
                return scalar_value(type_.kind, value, self._imports)
            case _:
                return literal(value)

    def _object(self, type_: RefType, value: dict[str, Json] | list[Json]) -> str:
        object_ = self._objects[type_.name]
        if isinstance(value, list) or (object_.foreign and type_.name not in object_.foreign.classes):
            text = quote(json.dumps(value, ensure_ascii=False))
            adapter = self._imports.name("pydantic", "TypeAdapter")
            return f"{adapter}({self._reference(type_.name)}).validate_json({text})"
        if any(object_.field(key) is None for key in value):
            # A key that is not a field can be the Python name of another field.
            text = quote(json.dumps(value, ensure_ascii=False))
            return f"{self._reference(type_.name)}.model_validate_json({text}, by_name=False)"
        arguments = [
            f"{field_name(field.name)}={self.value(field.type, value[field.name])}"
            for field in object_.fields
            if field.name in value and (value[field.name] is not None or null_is_a_value(field.type))
        ]
        return f"{self._reference(type_.name)}({', '.join(arguments)})"

    def _string(self, type_: StringType) -> TypeExpression:
        lengths = _limits(type_)
        if type_.format is not None:
            return TypeExpression(
                type=self._imports.name(GENERATED, _FORMATS[type_.format]), constraints=lengths
            )
        pattern = (f"pattern={quote(_rust(type_.pattern))}",) if type_.pattern is not None else ()
        return TypeExpression(type="str", constraints=(*lengths, *pattern))

    def _scalar(self, kind: ScalarKind) -> str:
        module, name = _SCALARS[kind]
        match module:
            case "":
                return name
            case "datetime":
                return f"{self._imports.module(module, 'dt')}.{name}"
            case _:
                return self._imports.name(module, name)

    def _limited(self, type_: ScalarType) -> TypeExpression:
        """Return a primitive; its bounds go into `Field(…)`, which accepts steps only for floats."""
        bounds: list[str] = []
        markers: list[str] = []
        for row, limit in constraints_in(type_, LIMITS):
            counts = row.takes == "length"
            value = repr(limit) if counts else scalar_value(type_.kind, plain(limit), self._imports)
            if row.takes == "step":
                markers.append(f"{self._imports.name('annotated_types', 'MultipleOf')}({value})")
            else:
                bounds.append(f"{row.core}={value}")
        return TypeExpression(
            type=self._scalar(type_.kind), constraints=tuple(bounds), markers=tuple(markers)
        )

    def _bare(self, type_: DataType) -> str:
        match type_:
            case ArrayType():
                return f"list[{self._bare(type_.items)}]"
            case MapType():
                return f"dict[str, {self._bare(type_.values)}]"
            case NullableType():
                inner = self._bare(type_.inner)
                return inner if null_is_a_value(type_.inner) else f"{inner} | None"
            case _:
                return self.spell(type_).type


def _is_later(type_: DataType) -> bool:
    """Return whether the type refers to a class that can be defined later in the module."""
    return any(isinstance(part, (RefType, UnionType)) for part in parts(type_))


def _is_inferred(type_: DataType, value: Json) -> bool:
    """Return whether a type checker can infer the type from the value expression."""
    match type_, value:
        case ArrayType(), list():
            return bool(value) and all(_is_inferred(type_.items, item) for item in value)
        case MapType(), dict():
            return bool(value) and all(_is_inferred(type_.values, item) for item in value.values())
        case NumberType(), _:
            return type_.integer or isinstance(value, float)
        case StringType() | RefType(), _:
            return True
        case ScalarType(), _:
            return type_.kind != "any"
        case _:
            return False


def _described(field: Field) -> str:
    """Return the description of a field, with the meanings of the values of an unnamed enum."""
    type_ = without_null(field.type)
    if not isinstance(type_, EnumType) or type_.name or not type_.meanings:
        return field.description
    meanings = "; ".join(f"{value}: {meaning}" for value, meaning in type_.explained)
    return f"{field.description} ({meanings})".lstrip()


def _or_none(field: Field, type_: str) -> str:
    absent = not field.required and field.default is MISSING and not null_is_a_value(field.type)
    return f"{type_} | None" if absent else type_


def _limits(type_: DataType) -> tuple[str, ...]:
    return tuple(f"{name}={value!r}" for name, value in core_keywords(type_).items())


_rust = lru_cache(maxsize=1024)(to_rust)


def scalar_value(kind: ScalarKind, value: Json, imports: Imports) -> str:
    """Return the expression of a JSON value of the kind."""
    match kind:
        case "boolean" | "any" | "url":
            return literal(value)
        case "uuid":
            return f"{imports.name('uuid', 'UUID')}({literal(value)})"
        case "decimal":
            return f"{imports.name('decimal', 'Decimal')}({literal(value)})"
        case "bytes" | "date" | "datetime" | "duration":
            parsed = Validator(ScalarType(kind=kind), {}).parse(value)
            if isinstance(parsed, bytes):
                return repr(parsed)
            return _moment(parsed, imports.module("datetime", "dt"))
        case _:
            assert_never(kind)


def _moment(value: dt.date | dt.timedelta, module: str) -> str:
    match value:
        case dt.datetime():
            numbers = [*value.timetuple()[:6], value.microsecond]
            while len(numbers) > 3 and not numbers[-1]:
                numbers.pop()
            return f"{module}.datetime({', '.join(map(str, numbers))}, tzinfo={_zone(value, module)})"
        case dt.date():
            return f"{module}.date({value.year}, {value.month}, {value.day})"
        case dt.timedelta():
            return _period(value, module)
        case _:
            assert_never(value)


def _zone(value: dt.datetime, module: str) -> str:
    offset = value.utcoffset()
    return f"{module}.timezone({_period(offset, module)})" if offset else f"{module}.UTC"


def _period(value: dt.timedelta, module: str) -> str:
    sign = "-" if value < dt.timedelta(0) else ""
    minutes, seconds = divmod(abs(value).seconds, 60)
    hours, minutes = divmod(minutes, 60)
    units = {"days": abs(value).days, "hours": hours, "minutes": minutes, "seconds": seconds}
    units["microseconds"] = abs(value).microseconds
    arguments = ", ".join(f"{unit}={count}" for unit, count in units.items() if count)
    return f"{sign}{module}.timedelta({arguments})"
