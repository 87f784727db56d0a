"""Proofs for the keywords of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from toolgen.contract.json_value import Json

from .conjunctions import SIZES, UNIQUE, item_of, listed_items
from .proof import Case, Gap, Rule

_SHORTEST, _LONGEST = SIZES["array"]


def _items(case: Case) -> list[Gap]:
    """Return the gaps of the items that `prefixItems` of the larger schema does not describe."""
    first = len(case.large.schema.get("prefixItems", ()))
    if "array" not in case.flat.kinds or _most(case) <= first:
        return []
    large = case.large.child("items")
    gaps: list[Gap] = []
    last = max(first, listed_items(case.flat))
    for place in range(first, int(min(last, _most(case)))):
        gaps += case.below(item_of(case.flat.nodes, place), large, str(place), _holding(case, place))
    if last < _most(case):
        gaps += case.below(item_of(case.flat.nodes, last), large, "*", _holding(case, last))
    return gaps


def _first_items(case: Case) -> list[Gap]:
    gaps: list[Gap] = []
    if "array" in case.flat.kinds:
        for place, large in case.large.children("prefixItems"):
            if place < _most(case):
                small = item_of(case.flat.nodes, place)
                gaps += case.below(small, large, str(place), _holding(case, place))
    return gaps


def _most(case: Case) -> float:
    """Return the maximum number of items; an array ends before an item that no value fits."""
    bound = case.flat.bound(_LONGEST)
    most = float("inf") if bound is None else float(bound[1])
    last = listed_items(case.flat)
    for place in range(last + 1):
        if place < most and case.proof.emptiness.of(item_of(case.flat.nodes, place)):
            return place
    return most


def _holding(case: Case, place: int) -> Callable[[object], Iterator[object]]:
    """Return a function that yields arrays of the smaller side with a document at an index."""

    def arrays(document: Any) -> Iterator[Json]:
        bound = case.flat.bound(_SHORTEST)
        size = max(place + 1, int(bound[1]) if bound else 0)
        for array in case.proof.samples.array(case.flat, size):
            yield [*array[:place], document, *array[place + 1 :]]
        if size == place + 1 and place == 0:
            yield [document]
        if any(case.flat.of(UNIQUE)) or _is_large(document, size):
            return
        yield [document] * size

    return arrays


def _is_large(document: Json, times: int) -> bool:
    """Return whether this many copies of a document are too large to create."""
    return isinstance(document, (str, list)) and len(document) * times > 2_000_000


def _unique_items(case: Case) -> list[Gap]:
    if not case.large.schema[UNIQUE] or "array" not in case.flat.kinds:
        return []
    if any(case.flat.of(UNIQUE)) or _most(case) <= 1:
        return []
    return [case.gap(UNIQUE, "accepts no duplicate items")]


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "items": _items,
        "prefixItems": _first_items,
        UNIQUE: _unique_items,
    }
)
