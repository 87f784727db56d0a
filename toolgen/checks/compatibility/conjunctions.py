"""Conjunctions: the merged keywords of several schemas that apply to one value.

Unsupported keywords are left out. A conjunction then accepts more values than its schemas do, so a proof
that starts from it stays correct.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

from toolgen.contract.json_value import Json, identity
from toolgen.shapes.constraints import (
    CONSTRAINTS,
    FLAGS,
    Constraint,
    Holder,
    exact_number,
    lengths_of,
    limits_of,
)
from toolgen.shapes.union_shapes import types_of

from .documents import SchemaNode, accepts, matches
from .limits import ROWS

Conjunction: TypeAlias = tuple[SchemaNode, ...]
"""Schemas that all apply to one value."""
UnionKey: TypeAlias = tuple[tuple[int, str], str]
"""Key of a schema, and its keyword `anyOf` or `oneOf`."""

ALL: Final = frozenset(("null", "boolean", "integer", "fraction", "string", "array", "object"))
"""The kinds of values; a number is an integer, by value, or a fraction."""
NUMBERS: Final = frozenset(("integer", "fraction"))
_HOLDERS: Final[dict[str, Holder]] = {"string": "string", "array": "array", "object": "map"}
BOUNDS: Final = {
    row.keyword: row for row in CONSTRAINTS if row.takes in ("bound", "length") and not row.is_annotation
}
"""The rows of keywords that bound a number or a size."""
LIMITS: Final = frozenset((*BOUNDS, *ROWS))
"""The keywords that limit a value or a size, including toolgen's own for dates and decimals."""
STEP: Final = limits_of("number", "step")[0].keyword
UNIQUE: Final = FLAGS[0].keyword
SIZES: Final = {kind: lengths_of(holder) for kind, holder in _HOLDERS.items()}
"""The keywords for the smallest and the largest size of a kind of value."""
_SIDES: Final = {
    side: [row for row in limits_of("number", "bound") if row.side == side] for side in ("low", "high")
}
_LITERAL: Final = frozenset(("null", "boolean"))


def kinds_of(types: Any) -> frozenset[str]:
    """Return the kinds of values of a `type`."""
    names = {types} if isinstance(types, str) else set(types)
    return frozenset(names - {"number"} | (NUMBERS if "number" in names else set()))


def kind_of(value: object) -> str:
    """Return the kind of a value."""
    kind, *_ = types_of(value)
    return "fraction" if kind == "number" else kind


@dataclass(slots=True)
class Flat:
    """The merged keywords of a conjunction, with references and `allOf` followed."""

    nodes: list[SchemaNode] = field(default_factory=list)
    """The schema objects of the conjunction."""
    kinds: frozenset[str] = ALL
    values: dict[Any, Any] | None = None
    """Accepted values by identity; None if the schemas do not list values."""
    unions: list[tuple[UnionKey, list[SchemaNode]]] = field(default_factory=list)
    """Unions that are not merged; a value has to fit at least one branch of each."""
    is_empty: bool = False

    def of(self, keyword: str) -> Iterator[Any]:
        """Yield the values of a keyword."""
        return (node.schema[keyword] for node in self.nodes if keyword in node.schema)

    def bound(self, *keywords: str) -> tuple[Constraint, Fraction] | None:
        """Return the tightest limit of keywords that are either all lower or all upper limits."""
        rows = map(BOUNDS.__getitem__, keywords)
        limits = [(row, exact_number(limit)) for row in rows for limit in self.of(row.keyword)]
        if not limits:
            return None
        if limits[0][0].side == "low":
            return max(limits, key=lambda each: (each[1], each[0].is_exclusive))
        return min(limits, key=lambda each: (each[1], not each[0].is_exclusive))

    def range(self, side: str) -> tuple[Constraint, Fraction] | None:
        """Return the lowest or the highest number; an integer if only integers are accepted."""
        rows = _SIDES[side]
        tightest = self.bound(*(row.keyword for row in rows))
        if tightest is None or "fraction" in self.kinds:
            return tightest
        row, limit = tightest
        if side == "low":
            integer = math.floor(limit) + 1 if row.is_exclusive else math.ceil(limit)
        else:
            integer = math.ceil(limit) - 1 if row.is_exclusive else math.floor(limit)
        return next(each for each in rows if not each.is_exclusive), Fraction(integer)


@lru_cache(8_192)
def flatten(conjunction: Conjunction, chosen: frozenset[UnionKey] = frozenset()) -> Flat:
    """Return the merged keywords of a conjunction, with the branches of the unions in `chosen`.

    The result is cached, so callers must not change it.
    """
    flat = Flat()
    seen: set[tuple[int, str]] = set()
    waiting = [*reversed(conjunction)]
    while waiting:
        node = waiting.pop()
        if node.key in seen or node.schema is True:
            continue
        seen.add(node.key)
        if node.schema is False:
            flat.is_empty = True
            return flat
        flat.nodes.append(node)
        if "$ref" in node.schema:
            waiting.append(node.target())
        waiting += [part for _, part in node.children("allOf")]
        for keyword in ("anyOf", "oneOf"):
            if keyword in node.schema and (node.key, keyword) not in chosen:
                branches = [branch for _, branch in node.children(keyword)]
                flat.unions.append(((node.key, keyword), branches))
    for types in flat.of("type"):
        flat.kinds &= kinds_of(types)
    _drop_kinds(flat)
    flat.values = _values(flat, conjunction)
    if flat.values is not None:
        flat.kinds &= frozenset(map(kind_of, flat.values.values()))
    flat.is_empty = not flat.kinds
    return flat


def _values(flat: Flat, conjunction: Conjunction) -> dict[object, object] | None:
    listed: list[list[Any]] = [*flat.of("enum"), *([value] for value in flat.of("const"))]
    if not listed and flat.kinds <= _LITERAL:
        literals: dict[str, list[Json]] = {"null": [None], "boolean": [False, True]}
        listed = [[value for kind in flat.kinds for value in literals[kind]]]
    if not listed:
        return None
    fewest = min(listed, key=len)
    return {identity(value): value for value in fewest if accepts(conjunction, value)}


def _drop_kinds(flat: Flat) -> None:
    """Remove the kinds for which the limits leave no value."""
    if any(exact_number(step).denominator == 1 for step in flat.of(STEP)):
        flat.kinds -= {"fraction"}
    low, high = flat.range("low"), flat.range("high")
    if low and high:
        is_open = low[0].is_exclusive or high[0].is_exclusive
        if low[1] > high[1]:
            flat.kinds -= NUMBERS
        elif low[1] == high[1] and (is_open or low[1].denominator == 1):
            flat.kinds -= {"fraction"} | ({"integer"} if is_open else set())
    for kind, (shortest, longest) in SIZES.items():
        least, most = flat.bound(shortest), flat.bound(longest)
        if least and most and least[1] > most[1]:
            flat.kinds -= {kind}


def property_of(nodes: Iterable[SchemaNode], name: str) -> Conjunction:
    """Return the schemas that apply to the value under a key."""
    return tuple(part for node in nodes for part in _of_key(node, name))


def _of_key(node: SchemaNode, name: str) -> Iterator[SchemaNode]:
    is_named = False
    if name in node.schema.get("properties", ()):
        is_named = True
        yield node.child("properties", name)
    for pattern, part in node.children("patternProperties"):
        if matches(pattern, name):
            is_named = True
            yield part
    if "additionalProperties" in node.schema and not is_named:
        yield node.child("additionalProperties")


def unnamed_keys(flat: Flat, covered: frozenset[str]) -> Iterator[tuple[str, Conjunction]]:
    """Yield each pattern with its schema, then "" with the schemas of keys without a pattern.

    Patterns in `covered` are left out.
    """
    for node in flat.nodes:
        for pattern, part in node.children("patternProperties"):
            if pattern not in covered:
                yield pattern, (part,)
    rest = "additionalProperties"
    yield "", tuple(node.child(rest) for node in flat.nodes if rest in node.schema)


def item_of(nodes: Iterable[SchemaNode], place: int) -> Conjunction:
    """Return the schemas that apply to the item at an index."""
    parts = []
    for node in nodes:
        first = node.schema.get("prefixItems", ())
        if place < len(first):
            parts.append(node.child("prefixItems", place))
        elif "items" in node.schema:
            parts.append(node.child("items"))
    return tuple(parts)


def listed_items(flat: Flat) -> int:
    """Return the number of items that have a schema of their own in `prefixItems`."""
    return max((len(first) for first in flat.of("prefixItems")), default=0)


def required_of(flat: Flat) -> dict[str, None]:
    """Return the required keys of an object, in their order."""
    return {name: None for names in flat.of("required") for name in names}


class Emptiness:
    """Proves that conjunctions accept no value; a conjunction without a proof can still be empty."""

    def __init__(self, deepest: int = 12, most: int = 4_000) -> None:
        self._deepest = deepest
        self._remaining_steps = most
        self._results: dict[object, bool] = {}

    def of(self, conjunction: Conjunction, chosen: frozenset[UnionKey] = frozenset(), depth: int = 0) -> bool:
        """Return whether it is proved that no value fits."""
        key = frozenset(node.key for node in conjunction), chosen
        if key in self._results:
            return self._results[key]
        self._remaining_steps -= 1
        if depth > self._deepest or self._remaining_steps < 0:
            return False
        self._results[key] = False
        self._results[key] = self._is_empty(conjunction, chosen, depth)
        return self._results[key]

    def _is_empty(self, conjunction: Conjunction, chosen: frozenset[UnionKey], depth: int) -> bool:
        flat = flatten(conjunction, chosen)
        if flat.is_empty:
            return True
        if flat.values is not None:
            return False
        if flat.kinds == {"object"} and any(
            self.of(property_of(flat.nodes, name), depth=depth + 1) for name in required_of(flat)
        ):
            return True
        for union, branches in flat.unions[:1]:
            then = chosen | {union}
            return all(self.of((*conjunction, branch), then, depth + 1) for branch in branches)
        return False
