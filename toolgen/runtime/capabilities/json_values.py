"""What may be stored: JSON values and nothing that only looks like them."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from toolgen.contract.fields import Json

_DEEPEST: Final = 100


def stored_text(value: object) -> str:
    """Return the value as JSON text.

    Raises:
        TypeError: it, or something in it, is no JSON value; the message has its type and never itself.
    """
    _check(value, _DEEPEST)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def copied(value: Json) -> Any:
    """Return a copy that shares nothing with a JSON value."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def _check(value: object, depth: int) -> None:
    if not depth:
        raise TypeError(f"it is nested deeper than {_DEEPEST}")
    kind = type(value)
    if value is None or kind in (bool, int):
        return
    if isinstance(value, str) and kind is str:
        _check_text(value)
    elif isinstance(value, float) and kind is float:
        if not math.isfinite(value):
            raise TypeError("it holds a float that is not finite, which JSON does not have")
    elif isinstance(value, list) and kind is list:
        for item in value:
            _check(item, depth - 1)
    elif isinstance(value, dict) and kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError(f"it holds a map with a {type(key).__name__} as key; JSON has only str")
            _check_text(key)
            _check(item, depth - 1)
    else:
        raise TypeError(f"it holds a {kind.__name__}{_advice(kind)}")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TypeError("it holds text with a lone surrogate, which UTF-8 does not have") from None


def _advice(kind: type) -> str:
    if "Secret" in kind.__name__:
        return "; credentials are never stored here, ask a capability of the host for them"
    if hasattr(kind, "model_dump"):
        return "; store its model_dump(mode='json')"
    return ", which is no JSON value: null, bool, int, float, str, list, dict"
