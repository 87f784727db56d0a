"""Pairs of schemas: random ones, those of tools, and each beside a version that somebody may write next."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from tests.schema_reader.random_schemas import Draws

Pair: TypeAlias = tuple[Any, Any]

CORPORA: Final = Path(__file__).parents[3] / "shared" / "corpora"
CATALOG: Final = Path(__file__).parents[2] / "gen" / "tool_schemas.json"


def tool_schemas() -> list[Any]:
    """Return the schemas of the example's catalog, and those of the corpora where they are there."""
    from toolgen.catalog import load_catalog

    found = [type_.schema for type_ in load_catalog(CATALOG).types()]
    for file in sorted(CORPORA.glob("tools_*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            record = json.loads(line)
            found += [record[key] for key in ("input_schema", "output_schema") if record.get(key)]
    return [schema for schema in found if len(json.dumps(schema)) < 20_000]


def random_pairs(seed: int) -> Iterator[Pair]:
    """Yield pairs of small random schemas without end, most of them two versions of one."""
    chance, draws = Random(seed), Draws(seed)
    while True:
        schema = draws.root(draft_7=False)
        other = draws.root(draft_7=False) if chance.random() < 0.2 else next_version(schema, chance)
        yield (schema, other) if chance.random() < 0.5 else (other, schema)


def tool_pairs(schemas: Sequence[Any], seed: int) -> Iterator[Pair]:
    """Yield pairs of two versions of a tool's schema without end."""
    chance = Random(seed)
    while True:
        schema = chance.choice(schemas)
        other = next_version(schema, chance)
        yield (schema, other) if chance.random() < 0.5 else (other, schema)


def next_version(schema: Any, chance: Random) -> Any:
    """Return the schema with one to three changes as authors make them."""
    changed = copy.deepcopy(schema)
    for _ in range(chance.randint(1, 3)):
        places = [place for place in _places(changed) if isinstance(place, dict)]
        if places:
            chance.choice(_CHANGES)(chance.choice(places), chance)
    return changed


def _places(schema: Any) -> Iterator[Any]:
    yield schema
    if not isinstance(schema, dict):
        return
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        if isinstance(schema.get(key), dict):
            for part in schema[key].values():
                yield from _places(part)
    for key in ("items", "additionalProperties", "not"):
        yield from _places(schema.get(key)) if isinstance(schema.get(key), dict) else ()
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in schema.get(key, ()):
            yield from _places(part)


def _limit(place: dict[str, Any], chance: Random) -> None:
    words = [word for word, value in place.items() if type(value) in (int, float)]
    if words:
        word = chance.choice(words)
        place[word] += chance.choice((-1, 1, 2) if place[word] >= 1 else (1, 2))
    elif place.get("type") in ("integer", "number"):
        place[chance.choice(("minimum", "maximum", "exclusiveMinimum"))] = chance.choice((0, 1, 1.5, 100))
    elif place.get("type") == "string":
        place[chance.choice(("minLength", "maxLength"))] = chance.choice((0, 1, 3))
    elif place.get("type") == "array":
        place[chance.choice(("minItems", "maxItems"))] = chance.choice((0, 1, 3))


def _require(place: dict[str, Any], chance: Random) -> None:
    names = [*place.get("properties", {}), "a"]
    required = set(place.get("required", ())) ^ {chance.choice(names)}
    place["required"] = sorted(required)


def _remove(place: dict[str, Any], chance: Random) -> None:
    if place.get("properties"):
        place["properties"].pop(chance.choice([*place["properties"]]))
    elif place:
        removable = [word for word in place if word not in ("$defs", "definitions")]
        place.pop(chance.choice(removable), None) if removable else None


def _add(place: dict[str, Any], chance: Random) -> None:
    if isinstance(place.get("properties"), dict):
        kind = chance.choice(("string", "integer", "object"))
        place["properties"][chance.choice(("a", "b", "added"))] = {"type": kind}


def _enumerate(place: dict[str, Any], chance: Random) -> None:
    values = place.get("enum")
    if isinstance(values, list) and len(values) > 1 and chance.random() < 0.5:
        values.pop(chance.randrange(len(values)))
    elif isinstance(values, list):
        values.append(chance.choice(("added", 7, None)))
    elif place.get("type") == "string":
        place["enum"] = ["a", "b", "abc"]


def _retype(place: dict[str, Any], chance: Random) -> None:
    match place.get("type"):
        case "integer":
            place["type"] = "number"
        case "number":
            place["type"] = "integer"
        case str() as kind:
            place["type"] = [kind, "null"]
        case list() as kinds if len(kinds) > 1:
            place["type"] = kinds[:-1]
        case _:
            pass


def _close(place: dict[str, Any], chance: Random) -> None:
    if "properties" in place:
        place["additionalProperties"] = not place.get("additionalProperties", True)


def _regroup(place: dict[str, Any], chance: Random) -> None:
    whole = {key: place.pop(key) for key in [*place] if key not in ("$defs", "definitions", "$schema")}
    word = chance.choice(("anyOf", "oneOf", "allOf"))
    others: list[Any] = (
        [] if chance.random() < 0.5 else [chance.choice(({"type": "null"}, {"type": "string"}))]
    )
    place[word] = [*others, whole]


def _word(place: dict[str, Any], chance: Random) -> None:
    word, value = chance.choice(
        (
            ("uniqueItems", True),
            ("pattern", "^[a-z]+$"),
            ("multipleOf", 2),
            ("not", {"type": "null"}),
            ("minProperties", 1),
            ("propertyNames", {"maxLength": 5}),
            ("format", "date"),
            ("contains", {"type": "string"}),
            ("dependentRequired", {"a": ["b"]}),
            ("description", "New words."),
        )
    )
    place[word] = value


_CHANGES: Final[tuple[Callable[[dict[str, Any], Random], None], ...]] = (
    _limit,
    _limit,
    _require,
    _remove,
    _add,
    _enumerate,
    _retype,
    _close,
    _regroup,
    _word,
)
