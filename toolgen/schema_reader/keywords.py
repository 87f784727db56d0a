"""The keywords of JSON Schema 2020-12 that reading a schema knows, by what their values are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from toolgen.shapes.constraints import FLAGS, LIMITS, lengths_of, limits_of

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema object under reading; its values are JSON."""
Subschema: TypeAlias = "Schema | bool"

ONE: Final = (
    "items",
    "additionalItems",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)
"""Keywords whose value is one schema; `items` may be several before 2020-12."""
SEVERAL: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
NAMED: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions")
IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas look at the same value (Core 10.2)."""

ANNOTATIONS: Final = ("title", "description", "default", "examples", "deprecated")

STRING_WORDS: Final = (*(row.keyword for row in limits_of("string")), "pattern")
NUMBER_WORDS: Final = tuple(row.keyword for row in limits_of("number"))
ARRAY_WORDS: Final = (
    "items",
    "prefixItems",
    *(row.keyword for row in (*limits_of("array"), *FLAGS)),
    "contains",
    "unevaluatedItems",
)
OBJECT_WORDS: Final = (
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
TYPED_WORDS: Final = (*STRING_WORDS, *NUMBER_WORDS, *ARRAY_WORDS, *OBJECT_WORDS)
"""Keywords that say something of one type only; all other values pass them (Validation 6)."""
ANY_WORDS: Final = (
    "type",
    "enum",
    "const",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
)
CONSTRAINTS: Final = frozenset((*TYPED_WORDS, *ANY_WORDS, "then", "else", "minContains", "maxContains"))
"""Every keyword that may refuse a value."""


def children(schema: Schema) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the tokens to each subschema and its value, whether it is a schema or not."""
    for key, value in schema.items():
        if key in NAMED and isinstance(value, dict):
            yield from (((key, name), inner) for name, inner in value.items() if not isinstance(inner, list))
        elif key in SEVERAL and isinstance(value, list):
            yield from (((key, str(at)), inner) for at, inner in enumerate(value))
        elif key in ONE:
            yield (key,), value


def escaped(token: str) -> str:
    """Return the token as it stands in a JSON Pointer (RFC 6901, section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def never(schema: object) -> bool:
    """Return whether the schema plainly refuses every value."""
    return schema is False or (
        isinstance(schema, dict) and "not" in schema and "$ref" not in schema and trivial(schema["not"])
    )


def trivial(schema: object) -> bool:
    """Return whether the schema plainly accepts every value."""
    if isinstance(schema, dict):
        return all(key not in CONSTRAINTS or idle(key, schema) for key in schema)
    return schema is True


_LEAST_SIZES: Final = frozenset(row.keyword for row in LIMITS if row.takes == "length" and row.side == "low")
_FLAGS: Final = frozenset(row.keyword for row in FLAGS)
_, _MOST_ITEMS = lengths_of("array")


def idle(word: str, schema: Schema) -> bool:
    """Return whether the keyword plainly refuses nothing, as it stands in its schema."""
    value = schema[word]
    match word:
        case _ if word in _LEAST_SIZES:
            return bool(value == 0)
        case _ if word in _FLAGS:
            return not value or schema.get(_MOST_ITEMS, 2) <= 1
        case "pattern" | "required" | "dependentRequired" | "dependentSchemas" | "allOf":
            return not value or (word == "allOf" and all(map(trivial, value)))
        case (
            "items" | "additionalProperties" | "propertyNames" | "unevaluatedProperties" | "unevaluatedItems"
        ):
            return trivial(value)
        case "properties" | "patternProperties":
            return all(map(trivial, value.values()))
        case "prefixItems":
            return all(map(trivial, value))
        case "contains":
            return schema.get("minContains") == 0 and "maxContains" not in schema
        case "anyOf":
            return any(map(trivial, value))
        case "not":
            return never(value)
        case "if":
            return trivial(schema.get("then", True)) and trivial(schema.get("else", True))
        case "then" | "else" | "minContains" | "maxContains":
            return True  # read with `if` and `contains`
        case _:
            return False
