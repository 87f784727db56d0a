"""Types that several tools of a catalogue have: since format 3 they stand once in the file, under `types`.

A schema, or one of its `$defs`, is `{"$ref": "#/types/NAME"}` then: a JSON Pointer into the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolgen.contract.json_value import compact
from toolgen.contract.names import TYPES

_TYPED: Final = frozenset("payload result artifacts errors confirmation long_running ack progress".split())
"""Keys of an entry below which a `schema` stands."""


class UsedType(NamedTuple):
    """A type of a tool, as far as it decides which of them stand once in a file."""

    name: str
    digest: str
    """Equal for equal schemas; "" of one that has what a reader would take for a reference."""
    is_nested: bool = False
    """It is a definition that has `$defs`."""
    definitions: tuple[UsedType, ...] = ()
    text: tuple[str, ...] = ()
    """The JSON of the schema, in parts: between them stand those of the definitions."""


class SharedTypes:
    """The schemas that stand more than once in some entries, by the names of their types.

    Where one name has several schemas, it is the one that stands there most often.
    """

    def __init__(self, types: Iterable[UsedType]) -> None:
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
        self._types: dict[str, UsedType] = {}
        if not all(digest for _, digest in counts):
            return
        for (name, digest), count in counts.most_common():
            if count > 1 and name not in self._types:
                self._types[name] = used[name, digest]

    def types(self) -> dict[str, str]:
        """Return the JSON of what stands under `types`."""
        return {
            name: "".join(_whole(type_) if name in self._inner else self._with_references(type_))
            for name, type_ in sorted(self._types.items())
        }

    def line(self, text: Sequence[str], types: Iterable[UsedType]) -> str:
        """Return the JSON of an entry with references in the place of the shared schemas.

        It is given in parts, between which stand the schemas of its types.
        """
        parts = [text[0]]
        for type_, after in zip(types, text[1:], strict=True):
            parts += self._reference(type_) or self._with_references(type_)
            parts.append(after)
        return "".join(parts)

    def _with_references(self, type_: UsedType) -> Iterator[str]:
        return _filled(type_.text, (self._reference(inner) or inner.text for inner in type_.definitions))

    def _reference(self, type_: UsedType) -> tuple[str, ...]:
        """Return the JSON of the reference to a type; nothing where it is not shared."""
        shared = self._types.get(type_.name)
        if shared is None or shared.digest != type_.digest:
            return ()
        return (compact({"$ref": TYPES + type_.name}),)


def _whole(type_: UsedType) -> Iterator[str]:
    """Yield the parts of the JSON of a schema."""
    return _filled(type_.text, (inner.text for inner in type_.definitions))


def _filled(text: Sequence[str], between: Iterable[Sequence[str]]) -> Iterator[str]:
    yield text[0]
    for parts, after in zip(between, text[1:], strict=True):
        yield from parts
        yield after


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
        if definitions := definitions_of(schema):
            schema = {**schema, "$defs": {name: named(inner) for name, inner in definitions.items()}}
        return {**part, "schema": schema}

    return changed_parts(tool, whole)


def typed_parts(tool: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of an entry that have a `schema`, such as its payload."""
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
    tool: Mapping[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Return an entry whose parts that have a schema are changed, in their order."""
    return {key: _changed(value, change) if key in _TYPED else value for key, value in tool.items()}


def _changed(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    return change(value) if "schema" in value else changed_parts(value, change)


def definitions_of(schema: Any) -> dict[str, Any]:
    """Return the `$defs` of a schema; the schemas true and false have none."""
    definitions = schema.get("$defs") if isinstance(schema, dict) else None
    return definitions if isinstance(definitions, dict) else {}
