"""The keywords of JSON Schema 2020-12 that the reader knows, by the kind of their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from toolgen.contract.json_value import Json

from ...constraints import FLAGS, LIMITS, lengths_of, limits_of
from ...keywords import BRANCHES, CONDITIONS, MAPS, REFERENCES

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema object that is being read; its values are JSON."""
Subschema: TypeAlias = "Schema | bool"

ONE_SCHEMA: Final = tuple(
    "items additionalItems additionalProperties propertyNames contains not if then else unevaluatedItems "
    "unevaluatedProperties contentSchema".split()
)
"""Keywords whose value is one schema; `items` can be several before 2020-12."""
SEVERAL: Final = (*BRANCHES, "prefixItems", "items")
NAMED: Final = MAPS | {"dependencies"}
_HOLDING: Final = NAMED.union(SEVERAL, ONE_SCHEMA)
IN_PLACE: Final = frozenset((*BRANCHES, *CONDITIONS, "dependentSchemas"))

ANNOTATIONS: Final = ("title", "description", "default", "examples", "deprecated")

STRING_KEYWORDS: Final = (*(row.keyword for row in limits_of("string")), "pattern")
NUMBER_KEYWORDS: Final = tuple(row.keyword for row in limits_of("number"))
ARRAY_KEYWORDS: Final = (
    "items",
    "prefixItems",
    *(row.keyword for row in (*limits_of("array"), *FLAGS)),
    "contains",
    "unevaluatedItems",
)
OBJECT_KEYWORDS: Final = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    *(row.keyword for row in limits_of("map")),
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
)
TYPED_KEYWORDS: Final = (*STRING_KEYWORDS, *NUMBER_KEYWORDS, *ARRAY_KEYWORDS, *OBJECT_KEYWORDS)
"""Keywords that constrain only one type; values of all other types pass them (Validation 6)."""
CONSTRAINTS: Final = frozenset((*TYPED_KEYWORDS, *BRANCHES, *CONDITIONS, *REFERENCES)).union(
    ("type", "enum", "const", "minContains", "maxContains")
)
"""Every keyword that can reject a value."""


def children(schema: Schema) -> Iterable[tuple[tuple[str, ...], Any]]:
    """Return the tokens to each subschema and its value, even if the value is not a schema."""
    return () if _HOLDING.isdisjoint(schema) else _children(schema)


def _children(schema: Schema) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in schema.items():
        if key not in _HOLDING:
            continue
        if key in NAMED:
            for name, inner in value.items() if isinstance(value, dict) else ():
                if not isinstance(inner, list):
                    yield (key, name), inner
        elif key in SEVERAL and isinstance(value, list):
            for at, inner in enumerate(value):
                yield (key, str(at)), inner
        elif key in ONE_SCHEMA:
            yield (key,), value


def in_place(schema: Schema) -> Iterator[Json]:
    """Yield the subschemas that apply to the same value, even if they are not schemas."""
    if IN_PLACE.isdisjoint(schema):
        return
    for key, value in schema.items():
        if key in IN_PLACE:
            yield from (child for _, child in children({key: value}))


def rejects_all(schema: object) -> bool:
    """Return whether the schema obviously rejects every value."""
    return schema is False or (
        isinstance(schema, dict) and "not" in schema and "$ref" not in schema and accepts_all(schema["not"])
    )


def accepts_all(schema: object) -> bool:
    """Return whether the schema obviously accepts every value."""
    if isinstance(schema, dict):
        for key in schema:  # noqa: SIM110 - a generator takes longer, and this is asked of each schema
            if key in CONSTRAINTS and not has_no_effect(key, schema):
                return False
        return True
    return schema is True


def effective(schema: Schema, *words: str) -> list[str]:
    """Return the keywords among `words` that a schema has and that can reject a value."""
    return [word for word in words if word in schema and not has_no_effect(word, schema)]


_LEAST_SIZES: Final = frozenset(row.keyword for row in LIMITS if row.takes == "length" and row.side == "low")
_FLAGS: Final = frozenset(row.keyword for row in FLAGS)
_, _MOST_ITEMS = lengths_of("array")
_ALWAYS: Final = frozenset(("type", "enum", "const", "oneOf", *REFERENCES))
"""Keywords that have an effect with any value; they are checked first because they are the most frequent."""


def has_no_effect(word: str, schema: Schema) -> bool:
    """Return whether the keyword obviously rejects nothing in its schema."""
    if word in _ALWAYS:
        return False
    value = schema[word]
    match word:
        case _ if word in _LEAST_SIZES:
            return bool(value == 0)
        case _ if word in _FLAGS:
            return not value or schema.get(_MOST_ITEMS, 2) <= 1
        case "pattern" | "required" | "dependentRequired" | "dependentSchemas" | "allOf":
            return not value or (word == "allOf" and all(map(accepts_all, value)))
        case (
            "items" | "additionalProperties" | "propertyNames" | "unevaluatedProperties" | "unevaluatedItems"
        ):
            return accepts_all(value)
        case "properties" | "patternProperties":
            return all(map(accepts_all, value.values()))
        case "prefixItems":
            return all(map(accepts_all, value))
        case "contains":
            return schema.get("minContains") == 0 and "maxContains" not in schema
        case "anyOf":
            return any(map(accepts_all, value))
        case "not":
            return rejects_all(value)
        case "if":
            return accepts_all(schema.get("then", True)) and accepts_all(schema.get("else", True))
        case "then" | "else" | "minContains" | "maxContains":
            return True  # read together with `if` and `contains`
        case _:
            return False
