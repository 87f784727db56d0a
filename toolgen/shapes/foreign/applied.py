"""The subschemas that a validator applies, in any draft: to the same value, and to its members and items.

Keywords without a meaning in the schema's draft are included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json

from ..keywords import BRANCHES, CONDITIONS
from .targets import Targets

_OF_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties")
_FIRST_ITEMS: Final = ("prefixItems", "items")
"""Keywords with lists of schemas for the first items; `items` can be one up to 2019-09."""
_OF_ITEMS: Final = ("items", "additionalItems", "unevaluatedItems")
_OF_KEYS: Final = ("dependentSchemas", "dependencies")
"""Keywords with maps of schemas for objects that have the key; `dependencies` is one up to draft-07."""
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")


def in_place(targets: Targets, schema: Mapping[str, Json]) -> Iterator[Json]:
    """Yield the schemas that apply to the same value, the targets of references first."""
    yield from targets.of(schema)
    for word in BRANCHES:
        yield from list_of(schema, word)
    yield from (schema[word] for word in CONDITIONS if word in schema)
    for word in _OF_KEYS:
        yield from map_of(schema, word).values()


def held_by(schema: Mapping[str, Json], value: Json) -> Iterator[tuple[Json, Json]]:
    """Yield the schemas that apply to keys, members and items of a value, each with that value."""
    if isinstance(value, Mapping):
        yield from _of_keys(schema, value)
    elif isinstance(value, list):
        for word in _FIRST_ITEMS:
            yield from zip(list_of(schema, word), value, strict=False)
        rest = [schema[word] for word in _OF_ITEMS if isinstance(schema.get(word), Mapping | bool)]
        start = min([len(first) for word in _FIRST_ITEMS if (first := list_of(schema, word))], default=0)
        yield from ((inner, member) for inner in rest for member in value[start:])
        yield from ((schema["contains"], item) for item in value if "contains" in schema)


def _of_keys(schema: Mapping[str, Json], value: Mapping[str, Json]) -> Iterator[tuple[Json, Json]]:
    properties = map_of(schema, "properties")
    patterns = map_of(schema, "patternProperties")
    rest = [schema[word] for word in _OF_MEMBERS if word in schema]
    if not (patterns or rest or "propertyNames" in schema):
        yield from ((properties[key], value[key]) for key in properties.keys() & value)
        return
    for key, member in value.items():
        if key in properties:
            yield properties[key], member
        yield from ((inner, member) for inner in patterns.values())
        if key not in properties:
            yield from ((inner, member) for inner in rest)
        if "propertyNames" in schema:
            yield schema["propertyNames"], key


def below(schema: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the schemas of which one applies to each member or item, and those that apply to any."""
    nearest = [*map_of(schema, "properties").values()]
    for word in _FIRST_ITEMS:
        nearest += list_of(schema, word)
    words = (*_OF_MEMBERS, *_OF_ITEMS, "contains", "propertyNames")
    every = [schema[word] for word in words if isinstance(schema.get(word), Mapping | bool)]
    return nearest, [*map_of(schema, "patternProperties").values(), *every]


def has_unevaluated(schema: Mapping[str, Json]) -> bool:
    """Return whether the other keywords are evaluated again to find the unevaluated parts."""
    return any(word in schema for word in _UNEVALUATED)


def map_of(schema: Mapping[str, Json], word: str) -> Mapping[str, Json]:
    """Return the value of a keyword that is a map; an empty map if the keyword has another value."""
    value = schema.get(word)
    return value if isinstance(value, Mapping) else {}


def list_of(schema: Mapping[str, Json], word: str) -> list[Json]:
    """Return the value of a keyword that is a list; an empty list if it is something else."""
    value = schema.get(word)
    return value if isinstance(value, list) else []
