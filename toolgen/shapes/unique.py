"""Arrays without equal items (JSON Schema Validation 6.4.3)."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticCustomError, to_jsonable_python

from toolgen.contract.json_value import Json, identity

from .constraints import FLAGS
from .values import plain

(_UNIQUE,) = FLAGS
_ERROR: Final[Any] = _UNIQUE.error
_MESSAGE: Final[Any] = _UNIQUE.message
"""As of pydantic's errors, literals to type checkers."""
_PLAIN: Final = frozenset((str, int, float))
"""Classes whose values are equal in Python just where they are one value in JSON; bool is not among them."""


def all_different(items: list[Any]) -> list[Any]:
    """Return the items, or raise where two are equal.

    They are compared as the codec writes them: 1 is 1.0 and not true, keys have no order, two texts of one
    UUID are one value, and a field that is absent is its default.

    Raises:
        PydanticCustomError: two of them are one value.
    """
    are_plain = _PLAIN.issuperset(map(type, items))
    if len(set(items) if are_plain else {identity(_written(item)) for item in items}) < len(items):
        raise PydanticCustomError(_ERROR, _MESSAGE)
    return items


def _written(value: Any) -> Json:
    match value:
        case BaseModel():
            written: Json = to_jsonable_python(value, by_alias=True, exclude_none=True)
            return written
        case list():
            return [_written(item) for item in value]
        case dict():
            return {key: _written(item) for key, item in value.items()}
        case _:
            return plain(value)
