"""Estimates how many paths through a schema a validator takes for one document.

Alternatives inside alternatives multiply: the errors of a document may be more than anybody can collect. So
may be the attempts to find out whether it fits, where no reference leads back; below one that does,
jsonschema-rs tries each value once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from toolgen.contract.json_pointer import tokens_of
from toolgen.contract.json_value import Json

from .schema import BRANCHES, CONDITIONS

_MOST: Final = 5_000
_MOST_A_STEP: Final = 4
"""Ways for each place in the document; a long list has many ways, but none of them twice."""
MOST_TRIED: Final = 500_000
"""Ways that are tried to find out whether a document fits."""
_FEW: Final = 1_000
"""Ways by which a schema may look at one value that no document makes many."""
_MANY: Final = 1_000_000_000
"""More are not told apart."""
_MOST_VALUES: Final = 1_000
_MOST_PAIRS: Final = 100_000
"""Pairs of members of an object: jsonschema-rs copies the object into an error of each of its keys."""
_OF_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties")
_OF_ITEMS: Final = ("items", "unevaluatedItems")
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas")
_SCALARS: Final = ("string", "number", "integer", "boolean", "null")


def count_error_paths(schema: Any, document: Json) -> tuple[int, int]:
    """Return the number of paths that collect an error each, and of steps that they share."""
    paths = _Paths(schema)
    try:
        count = paths.count(schema, document)
    except RecursionError:
        return MOST_TRIED + 1, 0
    return count, paths.steps


def are_too_many(count: int, places: int, most: int = _MOST) -> bool:
    """Return whether many paths lead to few places, because alternatives multiply."""
    return count > most + _MOST_A_STEP * places


def is_large(document: Json) -> bool:
    """Return whether the errors of a document may be more than memory holds."""
    values = pairs = 0
    waiting = [document]
    while waiting:
        value = waiting.pop()
        values += 1
        if isinstance(value, Mapping):
            pairs += len(value) ** 2
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        if values > _MOST_VALUES or pairs > _MOST_PAIRS:
            return True
    return False


class Attempts:
    """Estimates how often a validator of one schema visits the values of a document."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._back: set[int] = set()
        """Schemas whose reference leads back to what holds them, by `id`."""
        self._a_level = 1
        """How often a schema looks at one value itself."""
        try:
            self._a_value, _ = self._most(schema, {}, set())
        except RecursionError:
            self._a_value = self._a_level = _MANY

    def are_too_many(self, document: Json) -> bool:
        """Return whether it visits too often: `MOST_TRIED` times, and some times more for each value."""
        if self._a_value <= _FEW or self._bound(document)[1] <= MOST_TRIED:
            return False
        paths = _Paths(self._schema, self._back)
        total, seen = 0, set[tuple[int, int]]()
        paths.later.append((self._schema, document))
        while paths.later:
            schema, value = paths.later.pop()
            pair = id(schema), id(value)
            if pair not in seen:  # below a reference that leads back each value is tried once
                seen.add(pair)
                try:
                    total += paths.count(schema, value)
                except RecursionError:
                    return True
        return are_too_many(total, paths.steps, MOST_TRIED)

    def _bound(self, value: Json) -> tuple[int, int]:
        """Return the levels below a value, and how often at most it and what it holds are looked at."""
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        levels = total = 0
        for below, looks in map(self._bound, inner):
            levels = max(levels, below + 1)
            total += looks
        return levels, total + min(self._a_value, self._a_level**levels)

    def _most(self, schema: Any, counted: dict[int, tuple[int, int]], above: set[int]) -> tuple[int, int]:
        """Return how often a schema looks at a value below it, and at its own."""
        if not isinstance(schema, Mapping):
            return 1, 1
        key = id(schema)
        if key in counted:
            return counted[key]
        above.add(key)
        in_place = [inner for inner in self._in_place(schema) if not _is_scalar(inner)]
        most, level = 1, 0
        for number, inner in enumerate((*in_place, *_below(schema))):
            looks = (1, 1)
            if id(inner) in above:
                self._back.add(key)
            else:
                looks = self._most(inner, counted, above)
            most = max(most, looks[0])
            level += looks[1] if number < len(in_place) else 0
        above.discard(key)
        counted[key] = min(most * max(1, len(in_place)), _MANY), min(max(1, level), _MANY)
        self._a_level = max(self._a_level, counted[key][1])
        return counted[key]

    def _in_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the schemas that apply to the same value."""
        if isinstance(ref := schema.get("$ref"), str):
            yield target_of(self._schema, ref)
        for word in BRANCHES:
            yield from schema.get(word, ())
        yield from (schema[word] for word in CONDITIONS if word in schema)


class _Paths:
    def __init__(self, root: Any, back: Collection[int] = ()) -> None:
        self.steps = 0
        self.later: list[tuple[Any, Json]] = []
        """What references that lead back lead to; it is not counted with the rest."""
        self._root = root
        self._back = back
        self._counted: dict[tuple[int, int], int] = {}

    def count(self, schema: Any, value: Json) -> int:
        """Return the number of ways below a schema, each schema and value counted once only."""
        self.steps += 1
        if not isinstance(schema, Mapping):
            return 1
        pair = id(schema), id(value)
        if pair not in self._counted:
            self._counted[pair] = 1  # what leads back to itself on the same value ends here
            self._counted[pair] = 1 + sum(
                self.count(inner, held) for inner, held in self._next(schema, value)
            )
        return self._counted[pair]

    def _next(self, schema: Mapping[str, Any], value: Json) -> Iterator[tuple[Any, Json]]:
        if isinstance(ref := schema.get("$ref"), str):
            target = target_of(self._root, ref)
            if id(schema) in self._back:
                self.later.append((target, value))
            else:
                yield target, value
        for word in BRANCHES:
            yield from ((branch, value) for branch in schema.get(word, ()))
        yield from ((schema[word], value) for word in CONDITIONS if word in schema)
        if isinstance(value, Mapping):
            yield from ((inner, value) for inner in schema.get("dependentSchemas", {}).values())
            yield from _of_keys(schema, value)
        elif isinstance(value, list):
            first = schema.get("prefixItems", ())
            yield from zip(first, value, strict=False)
            yield from (
                (schema[word], held) for word in _OF_ITEMS if word in schema for held in value[len(first) :]
            )
            yield from ((schema["contains"], item) for item in value if "contains" in schema)


def target_of(root: Any, ref: str) -> Any:
    """Return the target of a JSON Pointer; True where only the validator can tell."""
    node = root
    if ref != "#" and not ref.startswith("#/"):
        return True
    for key in tokens_of(unquote(ref)):
        try:
            node = node[int(key) if isinstance(node, list) else key]
        except (KeyError, IndexError, TypeError, ValueError):
            return True
    return node


def _of_keys(schema: Mapping[str, Any], value: Mapping[str, Json]) -> Iterator[tuple[Any, Json]]:
    properties = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    rest = [schema[word] for word in _OF_MEMBERS if word in schema]
    for key, held in value.items():
        if key in properties:
            yield properties[key], held
        yield from ((inner, held) for inner in patterns.values())
        if key not in properties:
            yield from ((inner, held) for inner in rest)


def _below(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the schemas that apply to members and items."""
    for word in _NAMED:
        yield from schema.get(word, {}).values()
    yield from (schema[word] for word in (*_OF_MEMBERS, *_OF_ITEMS, "contains") if word in schema)
    yield from schema.get("prefixItems", ())


def _is_scalar(schema: Any) -> bool:
    return not isinstance(schema, Mapping) or schema.get("type") in _SCALARS
