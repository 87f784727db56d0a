"""The Python types of a JSON value, and when two values are one."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def identity(value: Any) -> Any:
    """Return a key that is equal for values that JSON Schema holds equal: 1 and 1.0, never 1 and true."""
    match value:
        case bool():
            return "boolean", value
        case list():
            return "array", tuple(map(identity, value))
        case dict():
            return "object", frozenset((key, identity(inner)) for key, inner in value.items())
        case _:
            return "scalar", value
