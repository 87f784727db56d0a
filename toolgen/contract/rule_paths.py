"""How many ways a validator walks through a schema for one document.

Alternatives inside alternatives multiply: the errors of a document may be more than anybody can collect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from .fields import Json

_MOST: Final = 5_000
_MOST_A_STEP: Final = 4
"""Ways for each place in the document; a long list has many ways, but none of them twice."""
_SEVERAL: Final = ("allOf", "anyOf", "oneOf")
_REST: Final = ("additionalProperties", "unevaluatedProperties")


def multiplies(schema: Any, document: Json) -> bool:
    """Return whether there are too many ways to collect an error from each."""
    paths = _Paths(schema)
    try:
        found = paths.count(schema, document)
    except RecursionError:
        return True
    return are_too_many(found, paths.steps)


def are_too_many(ways: int, places: int) -> bool:
    """Return whether so many errors say little about so many places: alternatives multiply."""
    return ways > _MOST + _MOST_A_STEP * places


class _Paths:
    def __init__(self, root: Any) -> None:
        self.steps = 0
        self._root = root
        self._known: dict[tuple[int, int], int] = {}

    def count(self, schema: Any, value: Json) -> int:
        """Return the number of ways below a schema, each schema and value counted once only."""
        self.steps += 1
        if not isinstance(schema, Mapping):
            return 1
        pair = id(schema), id(value)
        if pair not in self._known:
            self._known[pair] = 1  # what leads back to itself on the same value ends here
            self._known[pair] = 1 + sum(self.count(inner, held) for inner, held in self._next(schema, value))
        return self._known[pair]

    def _next(self, schema: Mapping[str, Any], value: Json) -> Iterator[tuple[Any, Json]]:
        if isinstance(ref := schema.get("$ref"), str):
            yield self._target(ref), value
        for word in _SEVERAL:
            yield from ((branch, value) for branch in schema.get(word, ()))
        yield from ((schema[word], value) for word in ("then", "else") if word in schema)
        if isinstance(value, Mapping):
            yield from ((inner, value) for inner in schema.get("dependentSchemas", {}).values())
            yield from _of_keys(schema, value)
        elif isinstance(value, list):
            first = schema.get("prefixItems", ())
            yield from zip(first, value, strict=False)
            yield from ((schema["items"], item) for item in value[len(first) :] if "items" in schema)

    def _target(self, ref: str) -> Any:
        """Return what a JSON Pointer leads to; True where only the validator can tell."""
        node = self._root
        if ref != "#" and not ref.startswith("#/"):
            return True
        for token in unquote(ref).split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            try:
                node = node[int(key) if isinstance(node, list) else key]
            except (KeyError, IndexError, TypeError, ValueError):
                return True
        return node


def _of_keys(schema: Mapping[str, Any], value: Mapping[str, Json]) -> Iterator[tuple[Any, Json]]:
    properties = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    rest = [schema[word] for word in _REST if word in schema]
    for key, held in value.items():
        if key in properties:
            yield properties[key], held
        yield from ((inner, held) for inner in patterns.values())
        if key not in properties:
            yield from ((inner, held) for inner in rest)
