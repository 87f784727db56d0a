"""JSON Schema 2020-12 of an object and of everything it refers to.

No `$schema`: the default Ajv in form libraries rejects the keyword. A closed object has
`additionalProperties: false`, because its codec rejects unknown keys; an open one omits the keyword. Named
types and union branches are in `$defs`, inline objects at their place. A union has `type` beside `oneOf`, and
the tag of a branch has its only value as `default` too: form libraries and clients require both, and neither
changes what is accepted. An enum whose values have meanings is a `oneOf` of constants with titles, as in
forms of MCP (SEP-1330). The titles of objects are for people who fill in forms: titles of the tool, of types,
branches and attributes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, Final, assert_never

from toolgen.contract.json_value import Json

from ..constraints import FLAGS, LIMITS, constraints_in, holder_of, sentence_of, with_sentence
from ..fields import (
    MISSING,
    ArrayType,
    DataType,
    EnumType,
    Field,
    MapType,
    NullableType,
    NumberType,
    Objects,
    ObjectType,
    RefType,
    ScalarKind,
    ScalarType,
    StringType,
    UnionType,
    without_null,
)
from ..keywords import embedded, format_pointers
from ..lexical import BYTES, DECIMAL, DURATION, STRING_FORMATS
from ..naming import type_title
from ..values import plain

Schema = dict[str, Json]

_SCALARS: dict[ScalarKind, Schema] = {
    "boolean": {"type": "boolean"},
    "bytes": {"type": "string", "contentEncoding": "base64", "pattern": BYTES},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "duration": {"type": "string", "pattern": DURATION},
    "uuid": {"type": "string", "format": "uuid"},
    "url": {"type": "string", "format": "uri"},
    "decimal": {"type": "string", "pattern": DECIMAL},
    "any": {},
}
_LIMITS_AND_FLAGS: Final = (*LIMITS, *FLAGS)
_STATED: Final = tuple(row for row in LIMITS if row.is_annotation)
"""Limits that no keyword of JSON Schema expresses."""
_HAVE_STATED: Final = frozenset(holder for row in _STATED for holder in row.holders)


def object_schema(root: ObjectType, objects: Objects) -> Schema:
    """Return the schema of the root with `$defs` for everything it refers to, in order of first use."""
    return SchemaParts().schema(root, objects)


def schemas_of(objects: Objects, unions: Iterable[UnionType] = ()) -> dict[str, Schema]:
    """Return the schemas of objects and unions by name; they refer to each other in `#/$defs`."""
    result: Any = SchemaParts().complete({}, [(name, None) for name in objects], objects)
    writer = _Writer(objects)
    return {**result.get("$defs", {}), **{union.name: writer.type(union) for union in unions if union.name}}


def noted_formats(root: ObjectType, schema: Schema, objects: Objects) -> tuple[str, ...]:
    """Return JSON Pointers of each `format` in the root's schema that no codec checks, in its order.

    They are in third-party schemas; every other format is one of `ASSERTED_FORMATS`.
    """
    if root.foreign is not None:
        return tuple(format_pointers(schema))
    defs = schema.get("$defs", {})
    parts = defs.items() if isinstance(defs, dict) else ()
    pointers = (format_pointers(part, f"/$defs/{name}") for name, part in parts if objects[name].foreign)
    return tuple(itertools.chain.from_iterable(pointers))


def type_schema(type_: DataType, objects: Objects) -> Schema:
    """Return the schema of any type, with `$defs` for everything it refers to."""
    writer = _Writer(objects)
    return SchemaParts().complete(writer.type(type_), writer.references, objects)


_Reference = tuple[str, str | None]
"""The name of an object in `$defs`, with its tag as the branch of a union."""


class SchemaParts:
    """The schemas of objects in `$defs`, each written once for all schemas that refer to it.

    Callers must not change them. With `shared`, only schemas of objects in that table are cached.
    """

    def __init__(self, *, shared: Objects | None = None) -> None:
        self._shared = shared
        self._parts: dict[tuple[int, str | None], tuple[ObjectType, Schema, list[_Reference]]] = {}
        """Objects by identity, with their schemas and the references of these."""
        self._roots: dict[int, Schema] = {}
        self._plain: dict[int, tuple[DataType, Schema]] = {}

    def schema(self, root: ObjectType, objects: Objects) -> Schema:
        """Return the schema of the root with `$defs` for everything it refers to, in order of first use."""
        if self._shared is None or self._shared.get(root.name) is not root:
            return self._whole(root, objects)
        if id(root) not in self._roots:
            self._roots[id(root)] = self._whole(root, objects)
        return self._roots[id(root)]

    def _whole(self, root: ObjectType, objects: Objects) -> Schema:
        if root.foreign:
            return root.foreign.schema
        writer = self._writer(objects)
        return self.complete(writer.object(root), writer.references, objects)

    def complete(self, schema: Schema, references: Iterable[_Reference], objects: Objects) -> Schema:
        """Return a schema with `$defs` for its direct and indirect references."""
        defs: dict[str, Json] = {}
        waiting = [*references][::-1]
        while waiting:
            name, tag = waiting.pop()
            if name not in defs:
                defs[name], inner = self._part(objects[name], tag, objects)
                waiting += reversed(inner)
        return {**schema, "$defs": defs} if defs else schema

    def _writer(self, objects: Objects) -> _Writer:
        return _Writer(objects, plain=self._plain)

    def _part(
        self, object_: ObjectType, tag: str | None, objects: Objects
    ) -> tuple[Schema, list[_Reference]]:
        key = id(object_), tag
        if (cached := self._parts.get(key)) is not None:
            return cached[1:]
        writer = self._writer(objects)
        schema, references = writer.named(object_, tag), list(writer.references)
        if self._shared is None or self._shared.get(object_.name) is object_:
            self._parts[key] = object_, schema, references
        return schema, references


class _Writer:
    """Writes one schema; collects the objects for its `$defs`."""

    def __init__(
        self,
        objects: Objects,
        *,
        plain: dict[int, tuple[DataType, Schema]] | None = None,
    ) -> None:
        self._plain = {} if plain is None else plain
        """Schemas without nested schemas, by the identity of their type, which many fields share."""
        self.references: dict[_Reference, None] = {}
        self._objects = objects

    def object(self, object_: ObjectType, tag: str | None = None) -> Schema:
        title = object_.title or type_title(object_.name)
        schema: Schema = {"type": "object", "title": title}
        if object_.description:
            schema["description"] = object_.description
        schema["properties"] = {
            field.name: self._tag(field) if field.name == tag else self._property(field)
            for field in object_.fields
        }
        required: list[Json] = [field.name for field in object_.fields if field.required]
        if required:
            schema["required"] = required
        if not object_.open:
            schema["additionalProperties"] = False
        if object_.examples:
            schema["examples"] = list(object_.examples)
        return schema

    def named(self, object_: ObjectType, tag: str | None) -> Schema:
        if object_.foreign is not None:
            return embedded(object_.foreign.schema, f"#/$defs/{object_.name}")
        return self.object(object_, tag)

    def _tag(self, field: Field) -> Schema:
        schema = self._property(field)
        return {**schema, "default": schema["const"]}

    def _property(self, field: Field) -> Schema:
        schema = self.type(field.type)
        if stated := limits_sentence(field.type):
            del schema["description"]
        schema["title"] = field.title
        if described := with_sentence(field.description, stated):
            schema["description"] = described
        if field.default is not MISSING:
            schema["default"] = field.default
        if field.examples:
            schema["examples"] = list(field.examples)
        if field.deprecated:
            schema["deprecated"] = True
        return schema

    def type(self, type_: DataType) -> Schema:
        match type_:
            case StringType() | NumberType() | EnumType() | ScalarType():
                if (plain := self._plain.get(id(type_))) is None:
                    plain = self._plain[id(type_)] = type_, _plain(type_)
                return plain[1].copy()
            case ArrayType():
                return {"type": "array", "items": self.type(type_.items), **_limits(type_)}
            case MapType():
                return self._map(type_)
            case NullableType():
                return _nullable(self.type(type_.inner))
            case UnionType(branches=((_, only),)):
                return self._ref(only.name, type_.tag)
            case UnionType():
                branches: list[Json] = [self._ref(branch.name, type_.tag) for _, branch in type_.branches]
                return {"type": "object", "oneOf": branches}
            case RefType():
                object_ = self._objects[type_.name]
                return self.object(object_) if object_.inline else self._ref(type_.name)
            case _:
                assert_never(type_)

    def _map(self, type_: MapType) -> Schema:
        schema: Schema = {"type": "object", "additionalProperties": self.type(type_.values)}
        if type_.keys != StringType():
            keys = _string(type_.keys)
            del keys["type"]
            schema["propertyNames"] = keys
        return {**schema, **_limits(type_)}

    def _ref(self, name: str, tag: str | None = None) -> Schema:
        self.references[name, tag] = None
        return {"$ref": f"#/$defs/{name}"}


def _plain(type_: StringType | NumberType | EnumType | ScalarType) -> Schema:
    match type_:
        case StringType():
            return _string(type_)
        case NumberType():
            return {"type": "integer" if type_.integer else "number", **_limits(type_)}
        case EnumType():
            return _enum(type_)
        case ScalarType():
            stated = {"description": stated} if (stated := limits_sentence(type_)) else {}
            return {**_SCALARS[type_.kind], **_limits(type_), **stated}
        case _:
            assert_never(type_)


def _enum(type_: EnumType) -> Schema:
    """Return the schema of some values; their meanings are titles, as in forms and in MCP."""
    kind = "string" if isinstance(type_.values[0], str) else "integer"
    if meanings := dict(type_.explained):
        return {"type": kind, "oneOf": [_choice(value, meanings.get(value, "")) for value in type_.values]}
    values: list[Json] = list(type_.values)
    return {"type": kind, "enum": values} if len(values) > 1 else {"type": kind, "const": values[0]}


def _choice(value: str | int, meaning: str) -> Json:
    """Return the branch of a value of an enumeration."""
    return {"const": value, "title": meaning} if meaning else {"const": value}


def _string(type_: StringType) -> Schema:
    schema: Schema = {"type": "string", **_limits(type_)}
    if type_.format is not None:
        return {**schema, "format": type_.format, "pattern": STRING_FORMATS[type_.format]}
    return schema if type_.pattern is None else {**schema, "pattern": type_.pattern}


def _nullable(schema: Schema) -> Schema:
    if not isinstance(schema.get("type"), str) or "oneOf" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    schema["type"] = [schema["type"], "null"]
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    if isinstance(values := schema.get("enum"), list):
        schema["enum"] = [*values, None]
    return schema


def _limits(type_: DataType) -> Schema:
    return {row.keyword: plain(value) for row, value in constraints_in(type_, _LIMITS_AND_FLAGS)}


def limits_sentence(type_: DataType) -> str:
    """Return the limits that no keyword of JSON Schema expresses, as a sentence; empty if there are none."""
    inner = without_null(type_)
    if holder_of(inner) not in _HAVE_STATED:
        return ""
    return sentence_of((row, plain(value)) for row, value in constraints_in(inner, _STATED))
