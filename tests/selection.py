"""What `make test` leaves to `make conformance`, and what that leaves to `make lab`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product
from typing import Any, TypeGuard, TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

T = TypeVar("T")

IS_LAB = False
"""Whether this is a part of `make lab`; set from the option `--lab` before tests are collected."""
SEED = 0
"""Where `stride` begins; set from the option `--seed`."""
COSTLY = 16
"""`make conformance` runs every sixteenth test marked `costly`, beginning elsewhere each day."""


def volume(short: int, *, lab: int) -> int:
    """Return how many inputs a test marked `volume` tries: `short`, or in `make lab` so many."""
    return lab if IS_LAB else short


def stride(values: Sequence[T], every: int) -> Sequence[T]:
    """Return every `every`-th value, beginning where `SEED` says; in `make lab` all."""
    return values if IS_LAB else values[SEED % min(every, len(values) or 1) :: every]


def left_out(items: Iterable[pytest.Item], every: int) -> set[pytest.Item]:
    """Return what a run of every `every`-th `exhaustive` value of each test leaves out.

    Every sixteenth `costly` test is run, counted over all of them; a `costly(whole=True)` file counts as one.
    """
    if every == 1:
        return set()
    of_test = defaultdict[str, list[pytest.Item]](list)
    costly = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        values = getattr(item, "callspec", None)
        mark = item.get_closest_marker("costly")
        if mark is not None:
            costly[item.nodeid.partition("::")[0] if mark.kwargs.get("whole") else item.nodeid].append(item)
        elif values is not None and any(mark.name == "exhaustive" for mark in values.marks):
            of_test[item.nodeid.partition("[")[0]].append(item)
    kept = set(stride(sorted(costly), COSTLY))
    return {
        *(item for those in of_test.values() for item in set(those) - set(stride(those, every))),
        *(item for name, those in costly.items() if name not in kept for item in those),
    }


def first(values: Iterable[Any], count: int = 1) -> list[Any]:
    """Return values for `parametrize`; those after `count` are `exhaustive`."""
    return [one if at < count else _exhaustive(one) for at, one in enumerate(values)]


def diagonal(*axes: Iterable[Any]) -> list[Any]:
    """Return the product of axes for `parametrize`; `exhaustive` but for a diagonal that has each value.

    A value that is `exhaustive` in its axis is so with each other. An axis of several arguments has tuples.
    """
    every = [list(axis) for axis in axes]
    plain = [[one for one in axis if not _is_marked(one)] for axis in every]
    longest = max(map(len, plain))
    kept = [tuple(axis[at % len(axis)] for axis in plain) for at in range(longest)]
    rows = product(*every)
    return [_spread(row) if row in kept else _exhaustive(_spread(row)) for row in rows]


def covering(values: Iterable[Any], facts: Callable[[Any], Sequence[Hashable]]) -> list[Any]:
    """Return values for `parametrize`; those that show no new fact are `exhaustive`.

    What `facts` returns are the places of a value on axes. A value with the most unseen facts is
    taken until each fact is seen.
    """
    every = list(values)
    unseen = [set(enumerate(facts(one))) for one in every]
    kept = set[int]()
    while any(unseen):
        best = max(range(len(every)), key=lambda at: len(unseen[at]))
        kept.add(best)
        seen = set(unseen[best])
        for others in unseen:
            others -= seen
    return [one if at in kept else _exhaustive(one) for at, one in enumerate(every)]


def _exhaustive(value: Any) -> Any:
    """Return a value for `make conformance` alone; a tuple is the values of several arguments."""
    values, id_ = (value.values, value.id) if isinstance(value, ParameterSet) else (value, None)
    return pytest.param(
        *(values if isinstance(values, tuple) else (values,)), id=id_, marks=pytest.mark.exhaustive
    )


def _spread(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of the arguments of several axes."""
    parts = [one.values if isinstance(one, ParameterSet) else one for one in row]
    return tuple(value for part in parts for value in (part if isinstance(part, tuple) else (part,)))


def _is_marked(value: Any) -> TypeGuard[ParameterSet]:
    return isinstance(value, ParameterSet) and bool(value.marks)
