"""Types that several tools of a catalogue have: since format 3 they stand once in the file, under `types`.

A schema, or one of its `$defs`, is `{"$ref": "#/types/NAME"}` then: a JSON Pointer into the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .texts import SchemaTexts

_POINTER: Final = "#/types/"

_TYPED: Final = (
    ("payload",),
    ("result",),
    ("artifacts", "*"),
    ("errors", "*"),
    ("confirmation", "payload"),
    ("long_running", "ack"),
    ("long_running", "progress"),
)
"""Paths of the parts of an entry that have a `schema`; `*` is every item of a list."""


class SharedTypes:
    """The schemas that stand more than once in some entries, by the names of their types.

    Where one name has several schemas, it is the one that stands there most often.
    """

    def __init__(self, tools: Iterable[Mapping[str, Any]], texts: SchemaTexts) -> None:
        self._text = texts.compact_parts
        roots: Counter[tuple[str, tuple[str, ...]]] = Counter()
        schemas: dict[tuple[str, tuple[str, ...]], Any] = {}
        for part in (part for tool in tools for part in typed_parts(tool)):
            key = class_of(part), self._text(part["schema"])
            roots[key] += 1
            schemas[key] = part["schema"]
        counts = Counter(roots)
        self._inner: set[str] = set()
        """Names of definitions that have `$defs`: a reader looks at those of a whole schema alone."""
        for root in roots:
            for name, schema in _definitions(schemas[root]).items():
                key = name, self._text(schema)
                counts[key] += 1
                schemas[key] = schema
                if _definitions(schema):
                    self._inner.add(name)
        self._texts: dict[str, tuple[str, ...]] = {}
        self._schemas: dict[str, Any] = {}
        if any(f'"{_POINTER}' in part for part in {part for _, text in counts for part in text}):
            return  # a schema of somebody else has what a reader would take for a reference
        for (name, text), count in counts.most_common():
            if count > 1 and name not in self._texts:
                self._texts[name] = text
                self._schemas[name] = schemas[name, text]

    def types(self) -> dict[str, Any]:
        """Return what stands under `types`."""
        return {
            name: schema if name in self._inner else self._with_references(schema)
            for name, schema in sorted(self._schemas.items())
        }

    def without_types(self, tool: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entry with references in the place of the shared schemas."""

        def shorter(part: dict[str, Any]) -> dict[str, Any]:
            schema = self._reference(class_of(part), part["schema"])
            return {**part, "schema": self._with_references(schema)}

        return _changed(tool, shorter)

    def _with_references(self, schema: Any) -> Any:
        definitions = _definitions(schema)
        if not definitions:
            return schema
        return {**schema, "$defs": {name: self._reference(name, part) for name, part in definitions.items()}}

    def _reference(self, name: str, schema: Any) -> Any:
        is_shared = name in self._texts and self._texts[name] == self._text(schema)
        return {"$ref": _POINTER + name} if is_shared else schema


def with_types(tool: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry with the shared schemas in the place of the references.

    Raises:
        LookupError: a reference is to no type.
    """

    def named(schema: Any) -> Any:
        reference = schema.get("$ref") if isinstance(schema, dict) and len(schema) == 1 else None
        if isinstance(reference, str) and reference.startswith(_POINTER):
            return types[reference.removeprefix(_POINTER)]
        return schema

    def whole(part: dict[str, Any]) -> dict[str, Any]:
        schema = named(part["schema"])
        if definitions := _definitions(schema):
            schema = {**schema, "$defs": {name: named(inner) for name, inner in definitions.items()}}
        return {**part, "schema": schema}

    return _changed(tool, whole)


def typed_parts(tool: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of an entry that have a `schema`, such as its payload."""
    parts: list[dict[str, Any]] = []

    def keep(part: dict[str, Any]) -> dict[str, Any]:
        parts.append(part)
        return part

    _changed(tool, keep)
    return parts


def class_of(part: Mapping[str, Any]) -> str:
    """Return the name of the class of a part that has a schema."""
    return str(part["type"] if "type" in part else part["name"])


def _changed(tool: Mapping[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return an entry whose parts that have a schema are changed."""
    entry = dict(tool)
    for first, *rest in _TYPED:
        if first in entry:
            entry[first] = _changed_at(entry[first], rest, change)
    return entry


def _changed_at(value: Any, path: list[str], change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if not path:
        return change(value) if "schema" in value else value
    first, *rest = path
    if first == "*":
        return [_changed_at(item, rest, change) for item in value]
    return {**value, first: _changed_at(value[first], rest, change)} if first in value else value


def _definitions(schema: Any) -> dict[str, Any]:
    """Return the `$defs` of a schema; the schemas true and false have none."""
    return schema.get("$defs", {}) if isinstance(schema, dict) else {}
