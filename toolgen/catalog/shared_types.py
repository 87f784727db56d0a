"""Types that several tools of a catalogue have: since format 3 they stand once in the file, under `types`.

A schema, or one of its `$defs`, is `{"$ref": "#/types/NAME"}` then: a JSON Pointer into the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from toolgen.contract.names import TYPES

if TYPE_CHECKING:
    from .texts import SchemaTexts


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


class UsedType(NamedTuple):
    """A type of a tool, as far as it decides which of them stand once in a file."""

    name: str
    digest: str
    """Equal for equal schemas; "" of one that has what a reader would take for a reference."""
    is_nested: bool = False
    """It is a definition that has `$defs`."""
    definitions: tuple[UsedType, ...] = ()
    schema: Any = None


def used_types(tool: Mapping[str, Any], texts: SchemaTexts) -> tuple[UsedType, ...]:
    """Return the types of an entry in their order."""

    def used(name: str, schema: Any) -> UsedType:
        definitions = tuple(
            UsedType(name, texts.digest(inner), is_nested=bool(_definitions(inner)), schema=inner)
            for name, inner in _definitions(schema).items()
        )
        return UsedType(name, texts.digest(schema), definitions=definitions, schema=schema)

    return tuple(used(class_of(part), part["schema"]) for part in typed_parts(tool))


class SharedTypes:
    """The schemas that stand more than once in some entries, by the names of their types.

    Where one name has several schemas, it is the one that stands there most often.
    """

    def __init__(self, types: Iterable[UsedType], texts: SchemaTexts) -> None:
        self._digest = texts.digest
        roots: Counter[tuple[str, str]] = Counter()
        used: dict[tuple[str, str], UsedType] = {}
        for type_ in types:
            roots[type_[:2]] += 1
            used[type_[:2]] = type_
        counts = Counter(roots)
        self._inner: set[str] = set()
        """Names of definitions that have `$defs`: a reader looks at those of a whole schema alone."""
        for root in roots:
            for definition in used[root].definitions:
                counts[definition[:2]] += 1
                used[definition[:2]] = definition
                if definition.is_nested:
                    self._inner.add(definition.name)
        self.digests: dict[str, str] = {}
        self._schemas: dict[str, Any] = {}
        if not all(digest for _, digest in counts):
            return
        for (name, digest), count in counts.most_common():
            if count > 1 and name not in self.digests:
                self.digests[name] = digest
                self._schemas[name] = used[name, digest].schema

    def has_types_of(self, other: SharedTypes) -> bool:
        """Return whether the same stands under `types`."""
        return self.digests == other.digests and self._inner == other._inner

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
        is_shared = name in self.digests and self.digests[name] == self._digest(schema)
        return {"$ref": TYPES + name} if is_shared else schema


def with_types(tool: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry with the shared schemas in the place of the references.

    Raises:
        LookupError: a reference is to no type.
    """

    def named(schema: Any) -> Any:
        reference = schema.get("$ref") if isinstance(schema, dict) and len(schema) == 1 else None
        if isinstance(reference, str) and reference.startswith(TYPES):
            return types[reference.removeprefix(TYPES)]
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
