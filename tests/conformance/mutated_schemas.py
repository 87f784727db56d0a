"""Schemas of real tools, each with a few random changes, of accident or of malice."""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

Keys = tuple[Any, ...]

KEYWORDS = tuple(
    "type properties required additionalProperties items prefixItems enum const anyOf oneOf allOf not if then"
    " $ref $defs $id $anchor $schema default examples pattern patternProperties propertyNames minimum"
    " multipleOf maxLength minItems format title description dependentRequired unevaluatedProperties"
    " uniqueItems".split()
)
TEXTS = tuple(
    "x string integer number object array null # #/ #/$defs/x #/properties #a https://example.com/x ^( (?=a)"
    ' [^]] a{0,400} date-time class __class__ model_config """\\'.split()
)
HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 1.0, 0.5, 1e308, 5e-324, 2**53 + 1, 10**400),
    *("", " ", "a\u2028b\x00", "\U0001f600", *TEXTS),
    *([], {}, [None], [{}], ["a", "a"], ["string", "null"], [1, 1.0, True, "1"], {"": {}}),
    *({"type": "object"}, {"const": {}}, {"enum": []}, {"not": {}}, {"$ref": "#"}, {"$ref": "#/nowhere"}),
    {"pattern": "^a"},
    {"type": "array", "items": {"$ref": "#"}},
    {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
)
COPIES = (2, 3, 60, 300)
LEVELS = (1, 30, 60, 110)
LARGEST = 20_000
"""Values of what is put in the place of a part."""


def mutated(schema: Any, others: Sequence[Any], chance: Random) -> Any:
    """Return the schema with one or two changes; parts of the others may come into it."""
    changed = [copy.deepcopy(schema)]
    for _ in range(chance.randint(1, 2)):
        *way, key = chance.choice([*_places(changed)])
        parent: Any = functools.reduce(operator.getitem, way, changed)
        if way and chance.random() < 0.1:
            del parent[key]
        else:
            parent[key] = _change(parent[key], others, chance)
    return changed[0]


def _change(part: Any, others: Sequence[Any], chance: Random) -> Any:
    match chance.choice(("hostile", "keyword", "foreign", "foreign", "merged", "merged", "wide", "deep")):
        case "hostile":
            return copy.deepcopy(chance.choice(HOSTILE))
        case "merged" if isinstance(part, dict):
            return {**part, **copy.deepcopy(chance.choice([*_objects(chance.choice(others))]))}
        case "keyword":
            value = copy.deepcopy(chance.choice([*HOSTILE, [part], {"x": part}]))
            return {**(part if isinstance(part, dict) else {}), chance.choice(KEYWORDS): value}
        case "foreign" | "merged":
            return copy.deepcopy(chance.choice([*_objects(chance.choice(others))]))
        case "wide":
            return _wide(part, chance)
        case _:
            word = chance.choice(("items", "anyOf", "allOf", "additionalProperties", "properties", "not"))
            for _ in range(chance.choice(LEVELS)):
                part = {
                    word: [part] if word.endswith("Of") else {"a": part} if word == "properties" else part
                }
            return part


def _wide(part: Any, chance: Random) -> Any:
    count = chance.choice([n for n in COPIES if n == COPIES[0] or n * len([*_places(part)]) < LARGEST])
    word = chance.choice(("anyOf", "oneOf", "allOf", "prefixItems", "enum", "properties", "$defs"))
    if word in ("properties", "$defs"):
        return {word: {f"p {number}": part for number in range(count)}}
    if not isinstance(part, dict):
        return {"enum": [*range(count)]}
    return {word: [{**part, "title": f"T{number}"} for number in range(count)]}


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _places(value: Any) -> Iterator[Keys]:
    waiting: list[tuple[Keys, Any]] = [((), value)]
    while waiting:
        keys, part = waiting.pop()
        if keys:
            yield keys
        if isinstance(part, dict):
            waiting += [((*keys, key), child) for key, child in part.items()]
        elif isinstance(part, list):
            waiting += [((*keys, at), child) for at, child in enumerate(part)]
