"""Values between loop, activities and clients: encoded as JSON, and decoded to a copy."""

from __future__ import annotations

from typing import Any, Final

from pydantic_core import from_json, to_json

from toolgen.runtime.engine import EngineError, PayloadTooLargeError

NULL: Final = b"null"


def encode(value: Any, what: str, limit: int | None = None) -> tuple[bytes, Any]:
    """Return the JSON of a value, and the value as its receiver decodes it.

    `to_json` writes much that is no JSON, such as dates; such a value comes back as another one.

    Raises:
        EngineError: it is not JSON; the message names `what` and the place in it.
        PayloadTooLargeError: the JSON has more than `limit` bytes.
    """
    try:
        text = to_json(value, inf_nan_mode="null")
        copy = from_json(text)
        is_same = bool(copy == value)
    except Exception as error:
        raise EngineError(f"{what} is not JSON: {_find_non_json(value) or error}") from error
    if not is_same:
        raise EngineError(f"{what} is not JSON: {_find_non_json(value) or 'it comes back as something else'}")
    if limit is not None and len(text) > limit:
        raise PayloadTooLargeError(
            f"{what} has {len(text)} bytes of JSON; the engine keeps {limit}",
            hint="put it into a store, and hand over its reference",
        )
    return text, copy


def decode(text: bytes) -> Any:
    return from_json(text)


def _find_non_json(value: object, path: str = "$", depth: int = 0) -> str:
    """Return the part of a value that is not JSON, with its place; "" where it is not found."""
    match value:
        case None | bool() | int():
            return ""
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                return f"{path} has a lone surrogate, {value!r:.60}"
            return ""
        case float():
            return "" if value - value == 0 else f"{path} is {value}"
        case dict() | list() if depth > 150:
            return f"it is nested deeper than {depth} levels, or holds itself"
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    return f"{path} has the key {key!r:.60}, which is not a text"
                if found := _find_non_json(item, f"{path}.{key}", depth + 1):
                    return found
            return ""
        case list():
            places = (_find_non_json(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value))
            return next(filter(None, places), "")
        case _:
            return f"{path} is a {type(value).__qualname__}"
