"""The arguments of a call as they came, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from toolgen.shapes.issues import FieldIssue
from toolgen.shapes.values import plain

from .errors import ToolValidationError

Arguments = bytes | str | Mapping[str, object]
"""Arguments of a call, as they came: JSON text, or a mapping of JSON values."""
NO_ARGUMENTS: Final = b"{}"


def json_document(data: Mapping[str, object]) -> bytes:
    """Return a mapping of Python values as JSON bytes.

    Raises:
        ToolValidationError: a value has no JSON form.
    """
    try:
        return json.dumps(plain(data)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        issue = FieldIssue(keys=(), constraint="invalid_json", message=f"is not JSON: {error}")
        raise ToolValidationError((issue.shortened(),)) from None


def arguments_json(data: Arguments) -> bytes:
    """Return the arguments as JSON bytes; empty arguments become `{}`.

    Raises:
        ToolValidationError: a mapping that is not JSON.
    """
    if not isinstance(data, bytes | str):
        return json_document(data)
    if not data or data.isspace():
        return NO_ARGUMENTS
    return data if isinstance(data, bytes) else data.encode(errors="replace")


def is_blank(data: Arguments) -> bool:
    """Return whether arguments are a text without content, which some models send for `{}`."""
    return isinstance(data, bytes | str) and (not data or data.isspace())


def arguments_json_or_empty(data: Arguments) -> bytes:
    """Return the arguments as JSON bytes; empty for a mapping that is not JSON."""
    try:
        return arguments_json(data)
    except ToolValidationError:
        return b""
