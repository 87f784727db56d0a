"""Values of a union's tag, which a discriminator writes as strings: the keys of its mapping."""

from __future__ import annotations

import json
from collections.abc import Set
from typing import TypeAlias

TagValue: TypeAlias = str | int | float
"""String, number or boolean."""


def tag_value(key: str, types: Set[str]) -> TagValue | None:
    """Return the value of a mapping key for a property of these JSON types; None if it does not fit."""
    if not types or "string" in types:
        return key
    try:
        value = json.loads(key.lower())  # some generators write True
    except ValueError:
        return None
    match value:
        case bool():
            return value if "boolean" in types else None
        case int():
            return value if types & {"integer", "number"} else None
        case float() if "number" in types:
            return value
        case float() if "integer" in types and value.is_integer():
            return int(value)
    return None


def is_tag_key(key: str, value: TagValue) -> bool:
    """Return whether a mapping key represents a value."""
    if isinstance(value, str):
        return key == value
    return tag_value(key, {"boolean"} if isinstance(value, bool) else {"number"}) == value
