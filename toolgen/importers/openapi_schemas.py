"""Schemas of an OpenAPI document as JSON Schema 2020-12.

OpenAPI 3.1 and later use JSON Schema (OAS 3.1.1, 4.8.24); the dialect of 3.0 (OAS 3.0.4, 4.7.24) is
translated: `nullable`, the boolean bounds, and `$ref`. Formally, keywords next to `$ref` are ignored, but
documents mean `nullable`, defaults and texts for readers, so these are used. `readOnly` properties are
omitted in requests, `writeOnly` properties in answers, and a `discriminator` pins the values that it maps to
a schema. A `oneOf` in answers whose branches can match the same value becomes `anyOf`, because a call must
not fail for such an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.shapes.foreign.nodes import NULL
from toolgen.shapes.foreign.reader.keywords import CONSTRAINTS, IN_PLACE, ONE_SCHEMA, SEVERAL
from toolgen.shapes.keywords import MAPS

from .enum_labels import LABELS, labelled
from .openapi_components import Components, Direction, hides_property
from .openapi_document import UnreadableError, listed, mapping
from .openapi_tags import TagValue
from .openapi_unions import is_null
from .pointers import joined

_NO_KEYWORDS: Final = frozenset(["discriminator", "example", "externalDocs", "nullable", "xml"])
"""Keywords that OpenAPI adds. Only `nullable` affects validation, and it is translated."""
_STRUCTURE: Final = MAPS.union(("$ref", "required"), ONE_SCHEMA, SEVERAL, _NO_KEYWORDS)
"""Keywords that contain schemas, name the schemas that they contain, or are left out."""
_LABELS: Final = frozenset(LABELS)
BESIDE_REFERENCES: Final = ("title", "description", "default", "examples", "deprecated")
"""Keywords that are used next to a reference of OpenAPI 3.0, besides `nullable`; all others are ignored."""
_BESIDE: Final = ("$ref", "nullable", "example", *BESIDE_REFERENCES)
_EXCLUSIVE: Final = frozenset(["exclusiveMinimum", "exclusiveMaximum"])
_NOTES: Final = ("title", "description", "examples", "deprecated")
"""Annotations of a branch next to null that apply to the whole value. A default would be sent."""
_DEEPEST: Final = 90
"""Maximum depth of nested schemas, including inlined references."""
_MOST_JOINED: Final = 1_000
"""Maximum number of inlined `allOf` references in one schema; real documents have up to some dozens."""


@frozen_record(kw_only=False)
class Tag:
    """Property that identifies the branch of a union, with its values in this branch."""

    name: str
    values: tuple[TagValue, ...]


Refer: TypeAlias = Callable[["Translator", str, Tag | None], dict[str, object]]
"""Returns the replacement for a reference to an address, possibly as a branch of a union with a tag.

It receives the translator, because a function that holds it would be a cycle for the garbage collector.
"""


class Translator:
    """Translator of schemas for one direction; `refer` replaces references."""

    def __init__(self, components: Components, direction: Direction, refer: Refer, *, inlines: bool) -> None:
        self._components = components
        self._api = components.api
        self._direction: Direction = direction
        self._refer = refer
        self._inlines = inlines
        """Whether objects that `allOf` joins are inlined instead of referred to."""
        self._open: list[str] = []
        self._joined_parts = 0

    def translated(self, schema: object, place: str, hidden: frozenset[str] = frozenset()) -> object:
        """Return the translated schema; `hidden` are properties that are omitted in this direction.

        Raises:
            UnreadableError: A reference is dangling, or leaves the document.
        """
        if not isinstance(schema, dict):
            return self._api.schema(schema, place)
        if not _LABELS.isdisjoint(schema):
            schema = labelled(schema)
        if isinstance(schema.get("$ref"), str):
            schema = self._with_what_counts(schema)
        if len(self._open) > _DEEPEST:
            raise UnreadableError(place, "the schemas refer to each other without end")
        if self._direction:
            hidden |= self._components.hidden(schema, place, self._direction)
        result: dict[str, object] = {}
        for key, value in schema.items():
            if key not in _STRUCTURE:
                result[key] = value
                continue
            at = joined(place, key)
            if key == "$ref" and isinstance(value, str):
                if (address := self._api.target(value, at)) is not None:
                    result.update(self._reference(address, None))
            elif key == "allOf" and isinstance(value, list):
                is_alias = len(value) == 1 and CONSTRAINTS.isdisjoint(schema.keys() - {"allOf"})
                convert = self.translated if is_alias else self._joined
                result[key] = [convert(part, joined(at, n), hidden) for n, part in enumerate(value)]
            elif key in ("oneOf", "anyOf") and isinstance(value, list):
                name = "anyOf" if self._is_loose(schema, place, at) else key
                result[name] = self._branches(schema, value, at)
            elif key in ONE_SCHEMA and not isinstance(value, list):
                result[key] = self.translated(value, at)
            elif key in SEVERAL and isinstance(value, list):
                result[key] = [self.translated(part, joined(at, n)) for n, part in enumerate(value)]
            elif key in MAPS and isinstance(value, dict):
                result[key] = self._map(value, at, hidden if key == "properties" else frozenset())
            elif key == "required" and isinstance(value, list):
                result[key] = [name for name in value if not isinstance(name, str) or name not in hidden]
            elif key not in _NO_KEYWORDS:
                result[key] = value
        if "example" in schema and "examples" not in schema:
            result["examples"] = [schema["example"]]
        if "anyOf" in result or "oneOf" in result:
            result = _with_notes_of_branch(result)
        if self._api.is_3_0 and not _EXCLUSIVE.isdisjoint(result):
            _move_exclusive_bounds(result)
        return or_null(result) if schema.get("nullable") is True else result

    def _is_loose(self, schema: dict[str, object], place: str, at: str) -> bool:
        """Return whether the branches of an answer overlap, and record their place."""
        is_loose = self._direction == "out" and self._components.overlap(schema, place)
        if is_loose:
            self._components.alternatives.loosened[at] = None
        return is_loose

    def _with_what_counts(self, schema: dict[str, object]) -> dict[str, object]:
        """Return a reference with the effective keywords next to it, as a join if they are constraints."""
        if self._api.is_3_0:
            return {key: schema[key] for key in _BESIDE if key in schema}
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        if CONSTRAINTS.isdisjoint(rest):
            return schema
        return {**rest, "allOf": [{"$ref": schema["$ref"]}, *listed(rest.get("allOf"))]}

    def _reference(self, address: str, tag: Tag | None) -> dict[str, object]:
        """Return the replacement for a reference, nullable if a schema on the way adds null."""
        reference = self._refer(self, address, tag)
        return or_null(reference) if self._components.adds_null(address) else reference

    def _map(self, value: Mapping[str, object], place: str, hidden: frozenset[str]) -> dict[str, object]:
        return {
            name: self.translated(part, joined(place, name))
            for name, part in value.items()
            if name not in hidden or not hides_property(part, self._direction)
        }

    def _joined(self, part: object, place: str, hidden: frozenset[str]) -> object:
        """Return a part of `allOf`; objects that several references join are inlined."""
        if not self._inlines or not isinstance(part, dict) or not isinstance(part.get("$ref"), str):
            return self.translated(part, place, hidden)
        target = self._api.target(part["$ref"], joined(place, "$ref"))
        address = None if target is None else self._components.canonical(target)
        rest = {} if self._api.is_3_0 else {key: value for key, value in part.items() if key != "$ref"}
        if address is None or address in self._open:
            return self.translated(part, place, hidden)
        self._joined_parts += 1
        if self._joined_parts > _MOST_JOINED:
            raise UnreadableError(place, f"allOf joins more than {_MOST_JOINED:,} schemas here")
        self._open.append(address)
        try:
            target_schema = self.translated(self._api.find(address, place), address, hidden)
            return {"allOf": [target_schema, self.translated(rest, place, hidden)]} if rest else target_schema
        finally:
            self._open.pop()

    def _branches(self, schema: dict[str, object], branches: list[object], place: str) -> list[object]:
        """Return the branches of a union, in each of which the tag is restricted to its values."""
        tag, values = self._components.tags(schema, branches, place)
        result: list[object] = []
        for n, (branch, pinned) in enumerate(zip(branches, values, strict=True)):
            at = joined(place, n)
            if pinned and isinstance(branch, dict) and isinstance(branch.get("$ref"), str):
                address = self._api.target(branch["$ref"], joined(at, "$ref"))
                reference = {} if address is None else self._reference(address, Tag(tag, pinned))
                rest = {key: value for key, value in branch.items() if key != "$ref"}
                is_plain = self._api.is_3_0 or CONSTRAINTS.isdisjoint(rest)
                result.append(reference if is_plain else {"allOf": [reference, self.translated(rest, at)]})
            elif is_null(branch) and "nullable" in mapping(branch):
                result.append(NULL)
            else:
                result.append(self.translated(branch, at))
        return result


def _with_notes_of_branch(schema: dict[str, object]) -> dict[str, object]:
    """Move the annotations of a single branch to its union with null."""
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        rest = [each for each in branches if each != NULL] if isinstance(branches, list) else []
        if len(rest) == 1 and isinstance(branches, list) and len(branches) == 2 and isinstance(rest[0], dict):
            notes = {key: rest[0][key] for key in _NOTES if key in rest[0]}
            return {**notes, **schema}
    return schema


def pinned(schema: dict[str, object], tag: Tag) -> dict[str, object]:
    """Return the schema of an object whose tag is restricted to these values."""
    properties = {tag.name: {"enum": list(tag.values)}}
    return {"allOf": [schema, {"type": "object", "properties": properties, "required": [tag.name]}]}


def _move_exclusive_bounds(result: dict[str, object]) -> None:
    """Convert the boolean bounds of OpenAPI 3.0 to those of JSON Schema."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(flag := result.get(exclusive), bool):
            del result[exclusive]
            if flag and bound in result:
                result[exclusive] = result.pop(bound)


def or_null(schema: dict[str, object]) -> dict[str, object]:
    """Return the schema with null accepted.

    Formally (OAS 3.0.4, 4.7.24.1) `nullable` only applies next to `type`, but documents use it everywhere,
    even in 3.1, which has no such keyword.
    """
    outer: dict[str, object] = {key: schema[key] for key in BESIDE_REFERENCES if key in schema}
    inner = {key: value for key, value in schema.items() if key not in outer}
    branches = inner.get("anyOf")
    is_union = isinstance(branches, list) and len(inner) == 1
    if not inner or (is_union and NULL in listed(branches)):
        return schema
    if isinstance(type_ := inner.get("type"), str) and not any(key in inner for key in IN_PLACE):
        values = inner.get("enum")
        with_null = (
            {"enum": values if None in values else [*values, None]} if isinstance(values, list) else {}
        )
        return {**schema, "type": [type_, "null"], **with_null}
    return {**outer, "anyOf": [*listed(branches), NULL] if is_union else [inner, NULL]}
