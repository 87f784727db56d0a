"""Order of the statements in a merged module: each variable is assigned above the statements that use it."""

from __future__ import annotations

import builtins
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import TypeAlias

from toolgen.importers.clauses_types import ordered

from .module_parts import Item
from .places import variable_of
from .source_text import Statement, UnreadableDesignError

IsUnedited: TypeAlias = Callable[[Statement], bool]
"""Returns whether an author's statement is from the last import, without edits."""
Needs: TypeAlias = list[set[int]]
"""For each statement, the indexes of those that have to be above it."""


def in_order(items: list[Item], is_unedited: IsUnedited) -> list[Item]:
    """Return the statements so that each new reference is below the definition of its name.

    New statements move first, then as few unedited ones as possible. The others keep their order. If these
    moves are not enough, the result is `items`.
    """
    needs = _needs(items)
    if _is_satisfied(needs, range(len(items))):
        return items
    fixed = _fixed(items, is_unedited)
    above = {below: {index} for index, below in pairwise(fixed)}
    inside = [sorted(each | above.get(index, set())) for index, each in enumerate(needs)]
    order = [*ordered(range(len(items)), inside.__getitem__)]
    if not _is_satisfied(inside, order):
        return items
    in_place = _in_place([index for index in order if items[index].statement], fixed)
    return [
        replace(items[index], is_moved=items[index].statement is not None and index not in in_place)
        for index in order
    ]


def check_order(items: list[Item], is_unedited: IsUnedited) -> None:
    """Check that the merged module uses no variable before the statement that assigns it.

    Raises:
        UnreadableDesignError: A variable is used too early.
    """
    first = _first_bindings(items)
    for index, item in enumerate(items):
        for name in sorted(_new_names(item)):
            if name not in first and not hasattr(builtins, name):
                raise UnreadableDesignError(
                    f"lacks {name!r}, which {_name(item)!r} now uses; define it above", _line(item)
                )
            if first.get(name, -1) > index:
                raise _refusal(items, {*_fixed(items, is_unedited)}, (index, first[name]))


def _refusal(items: list[Item], fixed: set[int], early: tuple[int, int]) -> UnreadableDesignError:
    """Return the reason why no order satisfies all references; `early` are a statement and one it needs."""
    needs = _needs(items)
    reached = [[*ordered(sorted(each), lambda other: sorted(needs[other]))] for each in needs]
    for index, others in enumerate(reached):
        if index in others:
            other = next(each for each in sorted(needs[index]) if index in (each, *reached[each]))
            return UnreadableDesignError(
                f"has {_name(items[index])!r} and {_name(items[other])!r}, which now use each other; "
                "in one of them, write the name of the other in quotes",
                _line(items[index]),
            )
    pairs = ((index, each) for index in sorted(fixed) for each in reached[index] if each > index)
    index, other = next((pair for pair in pairs if pair[1] in fixed), early)
    name, used = _name(items[index]), _name(items[other])
    return UnreadableDesignError(
        f"has {name!r} above {used!r}, which it now uses; move {used!r} above {name!r}", _line(items[index])
    )


def _name(item: Item) -> str:
    return min(item.bound, default="")


def _line(item: Item) -> int:
    return item.statement.node.lineno if item.statement else 1


def _fixed(items: list[Item], is_unedited: IsUnedited) -> list[int]:
    """Return the statements that keep their order: edited ones, and those of a repeatedly bound name."""
    counts = Counter(chain.from_iterable(item.bound for item in items))
    repeated = {name for name, count in counts.items() if count > 1}
    return [
        index
        for index, item in enumerate(items)
        if item.statement is not None
        and (not is_unedited(item.statement) or repeated & (item.bound | item.loaded))
    ]


def _needs(items: list[Item]) -> Needs:
    """Return the needs of all statements; only new references can be to a statement below."""
    first = _first_bindings(items)
    bindings: dict[str, list[int]] = {}
    needs: Needs = []
    for index, item in enumerate(items):
        above = {at for name in item.loaded for at in bindings.get(name, ())}
        below = {first[name] for name in _new_names(item) if first.get(name, -1) > index}
        needs.append(above | below)
        for name in item.bound:
            bindings.setdefault(name, []).append(index)
    return needs


def _is_satisfied(needs: Sequence[Collection[int]], order: list[int] | range) -> bool:
    place = {index: at for at, index in enumerate(order)}
    return all(place[need] < place[index] for index, each in enumerate(needs) for need in each)


def _new_names(item: Item) -> frozenset[str]:
    """Return the names that an assignment reads since the merge."""
    return item.loaded - item.loaded_before if variable_of(item.node) else frozenset()


def _first_bindings(items: list[Item]) -> dict[str, int]:
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        for name in item.bound:
            first.setdefault(name, index)
    return first


def _in_place(order: list[int], fixed: list[int]) -> set[int]:
    """Return as many statements as possible that are in their original order, with all fixed ones."""
    lasts: list[int] = []
    before: dict[int, int] = {}
    passed = 0
    for index in order:
        low = fixed[passed - 1] if passed else -1
        high = fixed[passed] if passed < len(fixed) else index + 1
        if low < index <= high:
            passed += index == high
            at = bisect_left(lasts, index)
            before[index] = lasts[at - 1] if at else -1
            lasts[at : at + 1] = [index]
    kept: set[int] = set()
    index = lasts[-1] if lasts else -1
    while index >= 0:
        kept.add(index)
        index = before[index]
    return kept
