"""Rules by which the contributions of several calls to one key of the state become one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from toolgen.contract.fields import Json

Rule: TypeAlias = Callable[[Json, Json], Json]
"""Returns the new value of what is stored, None when nothing is, and of a contribution.

Pure, and without effect on either; raises TypeError when they do not fit, naming types and no values.
"""


def add(stored: Json, given: Json) -> Json:
    """Return the sum of two numbers."""
    return _number(0 if stored is None else stored) + _number(given)


def append(stored: Json, given: Json) -> Json:
    """Return the list with the items of another list at its end."""
    return [*_list([] if stored is None else stored), *_list(given)]


def update(stored: Json, given: Json) -> Json:
    """Return the map with the entries of another map, which win."""
    return {**_map({} if stored is None else stored), **_map(given)}


def _number(value: Json) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"`add` takes numbers, not a {type(value).__name__}")
    return value


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError(f"`append` takes lists, not a {type(value).__name__}")
    return value


def _map(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError(f"`update` takes maps, not a {type(value).__name__}")
    return value
