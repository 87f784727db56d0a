"""Checks whether no value matches two branches of a `oneOf`, so that `anyOf` means the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from toolgen.contract.json_value import Json, identity

_MOST_BRANCHES: Final = 100


def are_exclusive(branches: Sequence[Json]) -> bool:
    """Return whether types, values or the value of a required property distinguish each two branches.

    False if that is not obvious, and for very many branches.
    """
    return len(branches) <= _MOST_BRANCHES and all(
        _are_apart(left, right) for left, right in combinations(branches, 2)
    )


def _are_apart(left: Any, right: Any) -> bool:
    if not isinstance(left, Mapping) or not isinstance(right, Mapping):
        return False
    for first, second in _facets(left, right):
        if first is not None and second is not None and not first & second:
            return True
    return False


def _facets(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the accepted types or values of both branches; None if a branch does not limit them."""
    yield _types(left), _types(right)
    yield _values(left), _values(right)
    if _types(left) != {"object"} or _types(right) != {"object"}:
        return
    own, others = left.get("properties", {}), right.get("properties", {})
    for name in set(left.get("required", ())) & set(right.get("required", ())) & own.keys() & others.keys():
        yield _values(own[name]), _values(others[name])
        yield _types(own[name]), _types(others[name])


def _types(schema: Any) -> set[str] | None:
    kinds = schema.get("type") if isinstance(schema, Mapping) else None
    if kinds is None or schema.get("nullable"):
        return None
    return {
        "number" if kind == "integer" else kind for kind in ([kinds] if isinstance(kinds, str) else kinds)
    }


def _values(schema: Any) -> set[object] | None:
    if not isinstance(schema, Mapping):
        return None
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is None:
        return None
    return set(map(identity, [*values, None] if schema.get("nullable") else values))
