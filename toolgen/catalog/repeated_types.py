"""Types that several tools of a catalog share. Since format 3, the file has them once, under `types`.

A shared schema, or one of its `$defs`, is `{"$ref": "#/types/NAME"}`: a JSON Pointer into the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from toolgen.contract.json_value import Json, compact
from toolgen.contract.names import TYPES

_TYPED: Final = frozenset("payload result artifacts errors confirmation long_running ack progress".split())
"""Keys of an entry that can contain a `schema`."""


class RepeatedTypes:
    """The schemas that occur more than once in some entries, by the names of their types.

    If a name has several schemas, the most frequent one is shared.
    """

    def __init__(self, entries: Iterable[Mapping[str, Json]]) -> None:
        self._keys: dict[int, str] = {}
        """Keys that are equal for equal schemas, by the identity of the schemas."""
        self._is_plain = True
        """Whether no schema contains text that a reader would treat as a reference."""
        self._types: dict[str, Json] = {}
        self._inner: set[str] = set()
        """Names of definitions that have `$defs`; a reader only resolves the `$defs` of a complete schema."""
        used: dict[tuple[str, str], Json] = {}
        counts = Counter[tuple[str, str]]()
        for part in (part for entry in entries for part in typed_parts(entry)):
            type_ = class_of(part), self._key(part["schema"])
            counts[type_] += 1
            used[type_] = part["schema"]
        for root in [*used.values()]:
            for name, schema in definitions_of(root).items():
                type_ = name, self._key(schema)
                counts[type_] += 1
                used[type_] = schema
                if definitions_of(schema):
                    self._inner.add(name)
        if self._is_plain:
            for (name, key), count in counts.most_common():
                if count > 1:
                    self._types.setdefault(name, used[name, key])

    def types(self) -> dict[str, Any]:
        """Return the value of `types`."""
        return {
            name: schema if name in self._inner else self._with_references(schema)
            for name, schema in sorted(self._types.items())
        }

    def with_references(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry with references instead of the shared schemas."""
        return changed_parts(entry, self._part_with_reference)

    def _part_with_reference(self, part: dict[str, Json]) -> dict[str, Json]:
        schema = part["schema"]
        return {**part, "schema": self._reference(class_of(part), schema) or self._with_references(schema)}

    def _with_references(self, schema: Any) -> Any:
        definitions = {
            name: self._reference(name, inner) or inner for name, inner in definitions_of(schema).items()
        }
        return {**schema, "$defs": definitions} if definitions else schema

    def _reference(self, name: str, schema: Json) -> dict[str, Any] | None:
        """Return the reference to a type; None if it is not shared."""
        is_shared = name in self._types and self._key(self._types[name]) == self._key(schema)
        return {"$ref": TYPES + name} if is_shared else None

    def _key(self, schema: Any) -> str:
        if id(schema) not in self._keys:
            inner: dict[str, Any] = {name: self._key(each) for name, each in definitions_of(schema).items()}
            text = compact([{**schema, "$defs": inner} if inner else schema])
            self._is_plain = self._is_plain and f'"{TYPES}' not in text
            self._keys[id(schema)] = sha256(text.encode()).hexdigest()
        return self._keys[id(schema)]


def with_types(tool: Mapping[str, Json], types: Mapping[str, Json]) -> dict[str, Json]:
    """Return the entry with the shared schemas instead of the references.

    Raises:
        LookupError: the type of a reference does not exist.
    """

    def named(schema: Any) -> Any:
        reference = schema.get("$ref") if isinstance(schema, dict) and len(schema) == 1 else None
        if isinstance(reference, str) and reference.startswith(TYPES):
            return types[reference.removeprefix(TYPES)]
        return schema

    def whole(part: dict[str, Any]) -> dict[str, Any]:
        schema = named(part["schema"])
        if definitions := definitions_of(schema):
            schema = {**schema, "$defs": {name: named(inner) for name, inner in definitions.items()}}
        return {**part, "schema": schema}

    return changed_parts(tool, whole)


def typed_parts(tool: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Return the parts of an entry that have a `schema`, for example its payload."""
    parts: list[dict[str, Any]] = []

    def keep(part: dict[str, Any]) -> dict[str, Any]:
        parts.append(part)
        return part

    changed_parts(tool, keep)
    return parts


def class_of(part: Mapping[str, Any]) -> str:
    """Return the name of the class of a part that has a schema."""
    return str(part["type"] if "type" in part else part["name"])


def changed_parts(
    tool: Mapping[str, Json], change: Callable[[dict[str, Json]], dict[str, Json]]
) -> dict[str, Json]:
    """Return an entry with `change` applied to all parts that have a schema, in their order."""
    return {key: _changed(value, change) if key in _TYPED else value for key, value in tool.items()}


def _changed(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Json:
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    return change(value) if "schema" in value else changed_parts(value, change)


def definitions_of(schema: Json) -> dict[str, Json]:
    """Return the `$defs` of a schema; the schemas true and false have none."""
    definitions = schema.get("$defs") if isinstance(schema, dict) else None
    return definitions if isinstance(definitions, dict) else {}
