"""Text and arguments that every provider, store and engine accepts: UTF-8, JSON objects. Pure.

Python and some providers read and write values that JSON does not have (RFC 8259): NaN, infinity, lone
surrogates. A conversation never stores them, because a later recipient could reject the whole conversation.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from toolgen.contract.limits import portable_text as portable_text


def escaped_text(text: str) -> str:
    """Return a JSON text with lone surrogates escaped, which JSON parsers then reject."""
    return text.encode(errors="backslashreplace").decode()


def portable_arguments(text: str) -> str:
    """Return the arguments of a call for storage: the same text if it is a JSON object.

    Anything else is quoted in an object, so that the model sees what it wrote next to the error that it
    caused.
    """
    if not text.strip():
        return "{}"
    try:
        document = from_json(text.encode(), allow_inf_nan=False)
        json.dumps(
            document, allow_nan=False
        )  # as SDKs serialize it; not every number that can be parsed can be serialized
        if isinstance(document, dict):
            return text
    except (ValueError, RecursionError):
        pass
    return json.dumps({"invalid_arguments": portable_text(text)}, ensure_ascii=False)


def portable_json(value: Any) -> Any:
    """Return a JSON value with null for numbers that JSON does not have, and portable texts.

    A value that is not JSON at all stays unchanged; whatever stores it has to reject it.
    """
    match value:
        case str():
            return portable_text(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {portable_json(key): portable_json(item) for key, item in value.items()}
        case list() | tuple():
            return [portable_json(item) for item in value]
        case _:
            return value
