"""`allOf` as one schema: a value matches all parts if and only if it matches the merged schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json, identity
from toolgen.shapes.constraints import FLAGS, LIMITS

_BOUNDS: Final = {row.keyword: row for row in LIMITS if row.side}
_FLAGS: Final = frozenset(row.keyword for row in FLAGS)
_ANNOTATIONS: Final = frozenset(
    "title description default examples example deprecated readOnly writeOnly $comment discriminator".split()
)


class UnmergeableError(ValueError):
    """No simple schema expresses both schemas."""


def merged(left: Mapping[str, Json], right: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of values that match both; if both have an annotation, the first applies.

    Raises:
        UnmergeableError: it would need more than one keyword of each kind.
    """
    both = dict(left)
    for keyword, value in right.items():
        if keyword not in both:
            both[keyword] = value
        elif identity(both[keyword]) != identity(value) and keyword not in _ANNOTATIONS:
            both[keyword] = _both(keyword, both[keyword], value)
    _check_closed(left, right)
    _check_closed(right, left)
    return both


def _both(keyword: str, left: Any, right: Any) -> Any:
    match keyword:
        case "properties" | "$defs" | "definitions":
            shared = {key: merged_parts(left[key], right[key]) for key in left.keys() & right.keys()}
            return {**left, **right, **shared}
        case "required":
            return [*left, *(name for name in right if name not in left)]
        case "type":
            return _types(left, right)
        case "enum":
            values = [value for value in left if identity(value) in map(identity, right)]
            if values:
                return values
        case "items" | "additionalProperties" | "propertyNames":
            return merged_parts(left, right)
        case _ if keyword in _FLAGS:
            return bool(left or right)
        case _ if keyword in _BOUNDS and not isinstance(left, bool) and not isinstance(right, bool):
            return _BOUNDS[keyword].tighter(left, right)
    raise UnmergeableError(f"two parts of allOf have {keyword}")


def merged_parts(left: Any, right: Any) -> Any:
    """Return the schema of values that match both, which can be booleans.

    Raises:
        UnmergeableError: as for `merged`.
    """
    if left is False or right is False:
        return False
    if left is True:
        return right
    return left if right is True else merged(left, right)


def _types(left: Any, right: Any) -> Any:
    first, second = ([kinds] if isinstance(kinds, str) else list(kinds) for kinds in (left, right))
    shared = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    shared += [kind for kind in second if kind == "integer" and "number" in first and kind not in shared]
    if not shared:
        raise UnmergeableError("no type fits all parts of allOf")
    return shared[0] if len(shared) == 1 else shared


def _check_closed(left: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    """Raise if a closed part does not allow properties that only the other part has."""
    own = left.get("properties", {})
    others = right.get("properties", {}).keys() - own.keys()
    is_open = left.get("additionalProperties", True) in (True, {}) and "patternProperties" not in left
    if others and not is_open:
        raise UnmergeableError("a part of allOf does not allow the properties of another part")
