"""Normal nodes of strings, numbers and enums, from a merged schema."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from toolgen.contract.json_value import Json, identity

from ...constraints import LIMITS, Holder, lengths_of, limits_of
from ...numbers import EXACT_FLOATS
from ...patterns import PatternError, to_rust
from ...union_shapes import types_of
from ..annotations import is_written_by_toolgen
from ..nodes import NULL, Node
from .keywords import NUMBER_KEYWORDS, STRING_KEYWORDS, Schema
from .merging import named_types
from .validator import scalar_check

_LONGEST: Final = 2**31
"""Size that no text, array or object reaches; the types count in machine words."""
_WORD: Final = 2**63
"""Integers from here on, and below its negative, are not found by pydantic among the values of an enum."""


def sizes(schema: Schema, holder: Holder, losses: set[str]) -> Node:
    """Return the effective bounds of the size for a kind of type, as ints."""
    node: Node = {}
    low, high = lengths_of(holder)
    minimum, maximum = schema.get(low, 0), schema.get(high, _LONGEST)
    if minimum >= _LONGEST:
        losses.add(low)
    elif minimum:
        node[low] = int(minimum)
    if maximum < _LONGEST:
        node[high] = int(maximum)
    return node


def string(schema: Schema, losses: set[str]) -> Node:
    node: Node = {"type": "string", **sizes(schema, "string", losses)}
    pattern = schema.get("pattern")
    if pattern:
        if expressible(pattern):
            node["pattern"] = pattern
        else:
            losses.add("pattern")
    if isinstance(schema.get("format"), str):
        node["format"] = schema["format"]
    if is_written_by_toolgen(schema):
        node.update((row.keyword, schema[row.keyword]) for row in LIMITS if row.keyword in schema)
    return node


def expressible(pattern: str) -> bool:
    """Return whether the types can hold the pattern."""
    try:
        to_rust(pattern)
    except PatternError:
        return False
    return True


def number(schema: Schema, losses: set[str]) -> Node:
    node: Node = {"type": "number"}
    for word in NUMBER_KEYWORDS:
        if word in schema:
            if abs(schema[word]) < EXACT_FLOATS:
                node[word] = schema[word]
            else:
                losses.add(word)
    return node


_BOUNDS: Final = {row.keyword: row for row in limits_of("integer", "bound")}


def integer(schema: Schema, losses: set[str]) -> Node:
    node: Node = {"type": "integer"}
    for word in NUMBER_KEYWORDS:
        if word not in schema:
            continue
        value = schema[word]
        if word in _BOUNDS:
            node[word] = _BOUNDS[word].integer_limit(value)
        elif value == int(value):
            if value != 1:
                node[word] = int(value)
        elif Fraction(value).numerator != 1:
            losses.add(word)
    return node


def enumerated(schema: Schema, losses: set[str]) -> list[Node]:
    """Return nodes for the values of `enum` and `const` that the rest of the schema accepts."""
    kinds = set(named_types(schema["type"])) if "type" in schema else None
    by_kind: dict[str, list[Json]] = {}
    accepts: Callable[[object], bool] | None = None
    for value in _listed(schema):
        kind, *others = types_of(value)
        if kinds is not None and kinds.isdisjoint([kind, *others]):
            continue
        if _is_constrained(schema, kind):
            accepts = accepts or scalar_check(schema)
            if not accepts(value):
                continue
        by_kind.setdefault(kind, []).append(value)
    return [_of_kind(kind, values, losses) for kind, values in by_kind.items()]


def _listed(schema: Schema) -> list[Any]:
    values = schema.get("enum", [schema.get("const")])
    if "const" in schema:
        values = [value for value in values if identity(value) == identity(schema["const"])]
    by_identity: dict[object, object] = {}
    for value in values:
        by_identity.setdefault(identity(value), value)
    return list(by_identity.values())


def _is_constrained(schema: Schema, kind: str) -> bool:
    words = {"string": STRING_KEYWORDS, "integer": NUMBER_KEYWORDS, "number": NUMBER_KEYWORDS}.get(kind, ())
    return any(word in schema for word in words)


def _of_kind(kind: str, values: list[Any], losses: set[str]) -> Node:
    match kind:
        case "null":
            return NULL.copy()
        case "boolean":
            return {"type": "boolean"} if len(values) == 2 else {"enum": values}
        case "string":
            return {"enum": values}
        case "integer" if all(-_WORD <= value < _WORD for value in values):
            return {"enum": [int(value) for value in values]}
        case "integer" | "number":
            node: Node = {"type": kind}
        case "array":
            node = {"type": "array", "items": {}}
        case _:
            node = {"type": "object", "additionalProperties": {}}
    losses.add("enum")
    return node
