"""The ledger of an import: each note of a tool's schema that its design leaves out.

Clauses accept the same values as the schema. They cannot express every annotation at every place, for example
a format or the description of an item. A note is searched at the place that it has in the source: at a
property with the same name, in an item, in a value of a map. A definition's note can be at any place that
uses it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from toolgen.contract.json_pointer import definition_of, escaped, referred
from toolgen.contract.json_value import Json, identity
from toolgen.shapes import naming
from toolgen.shapes.foreign.reader.keywords import CONSTRAINTS, NAMED, children

from .enum_labels import LABELS

Place: TypeAlias = tuple[str, ...]
"""Name of the last property above a note and the steps below it; empty for a note of a definition."""

STRUCTURE: Final = (
    CONSTRAINTS
    | NAMED
    | frozenset(
        "$schema $id $anchor $dynamicAnchor $recursiveAnchor $vocabulary additionalItems nullable".split()
    )
)
"""Keywords that determine which values are valid, or contain schemas; the schema reader checks them."""
_TEXTS: Final = ("title", "description")
_ITEMS: Final = ("items", "prefixItems", "additionalItems", "unevaluatedItems")
_VALUES: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_TRANSPARENT: Final = ("anyOf", "oneOf", "allOf")
_BASE64: Final = ("contentEncoding", identity("base64"))
"""JSON Schema for the format `byte` of OpenAPI 3.0."""
_COMPARED: Final = 200
"""Number of compared characters of a text; a design contains only the beginning of a very long one."""
_MOST: Final = 200_000
"""Maximum number of schemas of one document that are visited."""


@dataclass(slots=True)
class Notes:
    """Notes of a schema by place and by each suffix of it, because a definition knows only its suffix."""

    values: set[tuple[Place, str, Any]] = field(default_factory=set)
    texts: dict[Place, set[str]] = field(default_factory=dict)

    def add(self, place: Place, keyword: str, value: Any) -> None:
        ends = [place[start:] for start in range(len(place) + 1)]
        if keyword in _TEXTS:
            text = _plain(value)
            for at in ends:
                self.texts.setdefault(at, set()).add(text)
            return
        values = value if keyword == "examples" and isinstance(value, list) else [value]
        for each in map(identity, values):
            self.values.update((at, keyword, each) for at in ends)

    def hold(self, place: Place, keyword: str, value: Any) -> bool:
        """Return whether a note exists at its place."""
        if keyword in LABELS:
            labels = value.values() if isinstance(value, Mapping) else value
            return isinstance(value, Mapping | list) and all(self._has_text(place, each) for each in labels)
        if keyword in _TEXTS:
            return self._has_text(place, value)
        if keyword in ("example", "examples"):
            examples = value if keyword == "examples" and isinstance(value, list) else [value]
            return all((place, "examples", identity(each)) in self.values for each in examples)
        if keyword == "format" and value == "byte" and (place, *_BASE64) in self.values:
            return True
        return value in (False, None) or (place, keyword, identity(value)) in self.values

    def _has_text(self, place: Place, value: object) -> bool:
        text = _plain(value)
        texts = self.texts.get(place, ())
        begin, end = text[:_COMPARED], text[-_COMPARED:]
        if not text or any(each.startswith(begin) or each.endswith(end) for each in texts):
            return True
        words = naming.words(text) if len(text) < _COMPARED else ()
        return bool(words) and any(naming.words(each) == words for each in texts if len(each) < _COMPARED)


def notes_of(root: Any, start: Any, others: Collection[str]) -> Notes:
    """Return the notes of a schema that was written into a root, without the definitions in `others`."""
    notes = Notes()
    for place, keyword, value, _ in _notes_in(root, start, others=others, is_written=True):
        notes.add(place, keyword, value)
    return notes


def lost_notes(schema: Any, written: object, name: str) -> Iterator[str]:
    """Yield the JSON Pointer of each annotation in a schema that `written` lacks.

    A root title that only repeats the name of the tool does not count.
    """
    words = naming.words(name)
    notes = notes_of(written, written, ())
    for place, keyword, value, pointer in _notes_in(schema, schema):
        is_name = pointer == "/title" and naming.words(_plain(value))[: len(words)] == words
        if not is_name and not notes.hold(place, keyword, value):
            yield pointer


def _plain(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _notes_in(
    root: Any, start: Json, *, others: Collection[str] = (), is_written: bool = False
) -> Iterator[tuple[Place, str, Json, str]]:
    """Yield place, keyword, value and JSON Pointer of each note that is reachable from a schema of the root.

    In a written schema, the place of a definition is where it is used, because each kept schema has a
    definition of its own. Its pointer is not needed, and is "".
    """
    seen: set[int] = set()
    waiting: list[tuple[object, Place, str]] = [(start, (), "")]
    while waiting and len(seen) < _MOST:
        schema, place, pointer = waiting.pop()
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        inner: list[tuple[Any, Place, str]] = []
        for tokens, value in children(schema):
            if tokens[0] not in ("$defs", "definitions"):
                below = "" if is_written else "/".join((pointer, *map(escaped, tokens)))
                inner.append((value, place_of(place, tokens), below))
        for keyword, value in schema.items():
            if keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
                if definition_of(value) in others:
                    continue
                inner.append((referred(root, value), place if is_written else (), value[1:]))
            elif keyword not in STRUCTURE:
                yield place, keyword, value, "" if is_written else f"{pointer}/{escaped(keyword)}"
        waiting += reversed(inner)


def place_of(place: Place, tokens: tuple[str, ...]) -> Place:
    """Return the place of a subschema."""
    match tokens[0]:
        case "properties":
            return (tokens[-1],)
        case word if word in _TRANSPARENT:
            return place
        case word if word in _ITEMS:
            return (*place, "[]")
        case word if word in _VALUES:
            return (*place, "{}")
        case word:
            return (*place, word)
