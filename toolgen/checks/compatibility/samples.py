"""Sample documents that a conjunction probably accepts, at its limits and at another schema's limits."""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, Final, TypeGuard

from toolgen.contract.json_value import Json, identity
from toolgen.shapes.constraints import exact_number
from toolgen.shapes.lexical import FORMAT_NAMES
from toolgen.shapes.values import plain

from .conjunctions import (
    BOUNDS,
    SIZES,
    STEP,
    Conjunction,
    Flat,
    UnionKey,
    flatten,
    item_of,
    listed_items,
    property_of,
    required_of,
    unnamed_keys,
)
from .documents import SchemaNode, accepts, lone
from .limits import ROWS, kind_of, value_of
from .strings import texts_of

MOST: Final = 12
"""Maximum number of documents for one conjunction."""
_DEEPEST: Final = 12
_LONGEST: Final = 10_000
"""Maximum number of characters or items of a document that reaches a limit."""
_FURTHEST: Final = 1_000_000
"""Maximum number of characters or items of the one document that exceeds a limit of the other side."""
_TEXTS: Final = ("", "a", "ab", "0", "toolgen", "a b", "é")
_NUMBERS: Final = (0, 1, -1, 0.5, 2, 100, 10**6, -(10**6))
_EXAMPLES: Final = dict(FORMAT_NAMES.values())
_BY_PATTERN: Final = {pattern: example for pattern, (_, example) in FORMAT_NAMES.items()}
_NEXT: Final = {"date": dt.timedelta(days=1), "datetime": dt.timedelta(seconds=1), "decimal": Decimal(1)}


class Samples:
    """Creates documents until the limit of work is reached."""

    def __init__(self, most: int = 3_000) -> None:
        """Set the maximum number of conjunctions to process."""
        self._remaining_steps = most

    def of(
        self,
        conjunction: Conjunction,
        other: SchemaNode | None = None,
        most: int = MOST,
        chosen: frozenset[UnionKey] = frozenset(),
        depth: int = 0,
    ) -> list[Any]:
        """Return documents that the conjunction accepts and that `other`, if passed, refuses."""
        documents: dict[Any, Any] = {}
        for document in islice(self._tried(conjunction, chosen, other, depth), 40 * most):
            if len(documents) == most:
                break
            is_wanted = other is None or not accepts((other,), document)
            if is_wanted and accepts(conjunction, document):
                documents.setdefault(identity(document), document)
        return list(documents.values())

    def first(self, conjunction: Conjunction, depth: int = 0) -> list[Any]:
        """Return a list with one document that the conjunction accepts; empty if none was found."""
        documents = self._tried(conjunction, frozenset(), None, depth)
        return next(([each] for each in islice(documents, 60) if accepts(conjunction, each)), [])

    def _tried(
        self, conjunction: Conjunction, chosen: frozenset[UnionKey], other: SchemaNode | None, depth: int
    ) -> Iterator[object]:
        self._remaining_steps -= 1
        if depth > _DEEPEST or self._remaining_steps < 0:
            return
        flat = flatten(conjunction, chosen)
        if flat.is_empty:
            return
        if flat.values is not None:
            yield from flat.values.values()
            return
        for union, branches in flat.unions[:1]:
            for branch in branches:
                yield from islice(
                    self._tried((*conjunction, branch), chosen | {union}, other, depth), 8 * MOST
                )
            return
        compared = Flat()
        if other is not None:
            branches = [branch for _, union in flatten((other,)).unions for branch in union]
            branches += [node.child("not") for node in flatten((other,)).nodes if "not" in node.schema]
            compared.nodes += [*flatten((other,)).nodes, *flatten(tuple(branches)).nodes]
        yield from _written(flat, compared)
        makers = {"string": _strings, "integer": _numbers, "fraction": _numbers}
        for kind in ("string", "integer", "fraction", "array", "object", "null", "boolean"):
            if kind not in flat.kinds:
                continue
            if kind in makers:
                yield from makers[kind](flat, compared)
            elif kind == "array":
                yield from self._arrays(flat, compared, depth)
            elif kind == "object":
                yield from self._objects(flat, compared, depth)
            else:
                yield from (None,) if kind == "null" else (False, True)

    def _arrays(self, flat: Flat, compared: Flat, depth: int) -> Iterator[object]:
        sizes = {0, 1, 2}
        for keyword in SIZES["array"]:
            for size in (*flat.of(keyword), *compared.of(keyword)):
                sizes |= {int(size) - 1, int(size), int(size) + 1}
        sizes.add(listed_items(flat) + 1)
        rest = item_of(flat.nodes, listed_items(flat))
        various = self.of(rest, most=3, depth=depth + 1) if depth < 3 else self.first(rest, depth + 1)
        for size in sorted(size for size in sizes if 0 <= size <= _LONGEST):
            yield from self.array(flat, size, depth, various)
            yield from self.array(flat, size, depth, various[:1])
        for size in _beyond(compared, "array"):
            yield from self.array(flat, size, depth, various[:1])

    def array(self, flat: Flat, size: int, depth: int = 0, various: list[Any] | None = None) -> Iterator[Any]:
        """Yield arrays of a size; items without a schema in `prefixItems` come from `various`."""
        first = []
        for place in range(min(size, listed_items(flat))):
            first += self.first(item_of(flat.nodes, place), depth + 1)
        if various is None:
            various = self.of(item_of(flat.nodes, listed_items(flat)), most=3, depth=depth + 1)
        rest_size = size - len(first)
        if len(first) < min(size, listed_items(flat)) or (rest_size and not various):
            return
        yield first + [various[at % len(various)] for at in range(rest_size)]
        if rest_size > len(various) and isinstance(various[0], str):
            yield first + [f"{various[0]}{at}" for at in range(rest_size)]
        if rest_size > len(various) and is_number(various[0]):
            yield first + [various[0] + at for at in range(rest_size)]

    def object(self, flat: Flat, fixed: dict[str, Any], depth: int = 0) -> dict[str, Any] | None:
        """Return an object with these keys and all required keys; None if one of them has no value."""
        result: dict[str, Any] = {}
        for name in {**required_of(flat), **dict.fromkeys(fixed)}:
            values = [fixed[name]] if name in fixed else self.first(property_of(flat.nodes, name), depth + 1)
            if not values:
                return None
            result[name] = values[0]
        return result

    def _objects(self, flat: Flat, compared: Flat, depth: int) -> Iterator[Any]:
        least = self.object(flat, {}, depth)
        if least is None:
            return
        yield least
        names = [
            name for side in (flat, compared) for properties in side.of("properties") for name in properties
        ]
        names += required_of(compared)
        rests = [
            texts_of(pattern)[:2]
            for pattern, _ in (*unnamed_keys(flat, frozenset()), *unnamed_keys(compared, frozenset()))
            if pattern
        ]
        names += [name for needs in compared.of("dependentRequired") for name in needs]
        names += self._refused_names(flat, compared, depth)
        names += [name for some in rests for name in some] + ["x", "X-1", ""]
        complete = dict(least)
        for name in dict.fromkeys(names):
            for value in self.first(property_of(flat.nodes, name), depth + 1):
                yield {**least, name: value}
                if name not in ("x", "X-1", ""):
                    complete[name] = value
        yield complete
        for name in least:
            yield {key: value for key, value in complete.items() if key != name}
        for keyword in SIZES["object"]:
            for size in (*flat.of(keyword), *compared.of(keyword)):
                for value in self.first(property_of(flat.nodes, "k0"), depth + 1):
                    for count in (int(size) - 1, int(size), int(size) + 1):
                        more = {f"k{at}": value for at in range(min(count, _LONGEST) - len(least))}
                        yield {**least, **more}

    def _refused_names(self, flat: Flat, compared: Flat, depth: int) -> Iterator[str]:
        """Yield keys that fit `propertyNames` of the first side but not of the other side."""
        own, others = (
            [node.child("propertyNames") for node in side.nodes if "propertyNames" in node.schema]
            for side in (flat, compared)
        )
        for other in others:
            yield from self.of((lone({"type": "string"}), *own), other, 2, depth=depth + 1)


def is_number(value: Json) -> TypeGuard[float]:
    """Return whether a value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _written(flat: Flat, compared: Flat) -> Iterator[object]:
    """Yield the values in the schemas: defaults, constants, examples and enum values."""
    for side in (flat, compared):
        yield from side.of("default")
        yield from side.of("const")
        for keyword in ("examples", "enum"):
            for values in side.of(keyword):
                yield from values if isinstance(values, list) else ()


def _numbers(flat: Flat, compared: Flat) -> Iterator[object]:
    limits = [
        exact_number(limit) for side in (flat, compared) for keyword in BOUNDS for limit in side.of(keyword)
    ]
    steps = [exact_number(step) for side in (flat, compared) for step in side.of(STEP)]
    near = [limit + by for limit in limits for by in (0, 1, -1, Fraction(1, 2), Fraction(-1, 2))]
    own = [exact_number(step) for step in flat.of(STEP)]
    step = max(own, default=Fraction(0))
    if step:
        near = [
            step * (value // step + by) for value in (*near, *limits, Fraction(0)) for by in (0, 1, -1, 2)
        ]
    for value in (*near, *steps, *(Fraction(str(each)) for each in _NUMBERS)):
        with suppress(OverflowError):  # a fraction outside the range of floats
            yield int(value) if value.denominator == 1 else float(value)
    for limit in limits:
        with suppress(OverflowError):
            yield from (math.nextafter(float(limit), way) for way in (math.inf, -math.inf))


def _strings(flat: Flat, compared: Flat) -> Iterator[str]:
    for side in (flat, compared):
        for name in side.of("format"):
            yield from (_EXAMPLES[name],) if name in _EXAMPLES else ()
        for pattern in side.of("pattern"):
            yield from (_BY_PATTERN[pattern],) if pattern in _BY_PATTERN else texts_of(pattern)
    yield from _around_limits((*flat.nodes, *compared.nodes))
    yield from _TEXTS
    sizes = {
        int(size) + by
        for side in (flat, compared)
        for keyword in SIZES["string"]
        for size in side.of(keyword)
        for by in (-1, 0, 1)
    }
    starts = [
        text for side in (flat, compared) for pattern in side.of("pattern") for text in texts_of(pattern)
    ]
    for size in sorted(size for size in sizes if 0 <= size <= _LONGEST):
        yield "a" * size
        yield from (f"{text}{text[-1] * size}"[:size] for text in starts if text)
    yield from (f"~{text}" for text in starts)
    yield from (f"{text}~" for text in starts)
    for size in _beyond(compared, "string"):
        yield "a" * size
        yield from (f"{text}{text[-1] * size}"[:size] for text in starts if text)


def _beyond(compared: Flat, kind: str) -> list[int]:
    """Return the sizes just above limits that are too large for more than one document."""
    sizes = {int(size) + 1 for size in compared.of(SIZES[kind][1])}
    return sorted(size for size in sizes if _LONGEST < size <= _FURTHEST + 1)


def _around_limits(nodes: Iterable[SchemaNode]) -> Iterator[str]:
    """Yield dates, durations, decimals and bytes at their limits, and one step above and below them."""
    for node in nodes:
        kind = kind_of(node.schema)
        for keyword in ROWS.keys() & node.schema.keys() if kind else ():
            limit = value_of(kind, node.schema[keyword])
            if isinstance(limit, int):
                yield from (
                    base64.b64encode(b"a" * max(limit + by, 0)).decode()
                    for by in (-1, 0, 1)
                    if limit < _LONGEST
                )
            elif limit is not None:
                step = _NEXT.get(kind, dt.timedelta(seconds=1))
                for value in (limit, limit + step, limit - step):
                    yield str(plain(value))
