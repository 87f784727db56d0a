"""`allOf` as one schema: what fits all parts fits the merged one, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolgen.contract.json_value import identity
from toolgen.shapes.constraints import FLAGS, LIMITS

_BOUNDS: Final = {row.keyword: row for row in LIMITS if row.side}
_FLAGS: Final = frozenset(row.keyword for row in FLAGS)
_ANNOTATIONS: Final = frozenset(
    "title description default examples example deprecated readOnly writeOnly $comment discriminator".split()
)


class UnmergeableError(ValueError):
    """Two schemas have no simple schema that is both."""


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of what fits both; annotations are those of the first, where both have them.

    Raises:
        UnmergeableError: it takes more than one keyword of each.
    """
    found = dict(one)
    for keyword, value in other.items():
        if keyword not in found:
            found[keyword] = value
        elif identity(found[keyword]) != identity(value) and keyword not in _ANNOTATIONS:
            found[keyword] = _both(keyword, found[keyword], value)
    _check_closed(one, other)
    _check_closed(other, one)
    return found


def _both(keyword: str, one: Any, other: Any) -> Any:
    match keyword:
        case "properties" | "$defs" | "definitions":
            shared = {key: merged_parts(one[key], other[key]) for key in one.keys() & other.keys()}
            return {**one, **other, **shared}
        case "required":
            return [*one, *(name for name in other if name not in one)]
        case "type":
            return _types(one, other)
        case "enum":
            values = [value for value in one if identity(value) in map(identity, other)]
            if values:
                return values
        case "items" | "additionalProperties" | "propertyNames":
            return merged_parts(one, other)
        case _ if keyword in _FLAGS:
            return bool(one or other)
        case _ if keyword in _BOUNDS and not isinstance(one, bool) and not isinstance(other, bool):
            return _BOUNDS[keyword].tighter(one, other)
    raise UnmergeableError(f"{keyword} stands in two parts of allOf")


def merged_parts(one: Any, other: Any) -> Any:
    """Return the schema of what fits both, which may be booleans too; raises as `merged`."""
    if one is False or other is False:
        return False
    if one is True:
        return other
    return one if other is True else merged(one, other)


def _types(one: Any, other: Any) -> Any:
    first, second = ([kinds] if isinstance(kinds, str) else list(kinds) for kinds in (one, other))
    kept = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    kept += [kind for kind in second if kind == "integer" and "number" in first and kind not in kept]
    if not kept:
        raise UnmergeableError("no type fits all parts of allOf")
    return kept[0] if len(kept) == 1 else kept


def _check_closed(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Refuse a part that is closed for properties that only the other one has."""
    own = one.get("properties", {})
    others = other.get("properties", {}).keys() - own.keys()
    is_open = one.get("additionalProperties", True) in (True, {}) and "patternProperties" not in one
    if others and not is_open:
        raise UnmergeableError("a part of allOf is closed for properties of another one")
