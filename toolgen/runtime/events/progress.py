"""Validates reported progress by the design's `LongRunning(progress=)`."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python

from toolgen.contract.json_value import Json

from ..errors import MalformedResultError, ToolValidationError
from ..specs import ToolSpec


def check_progress(fraction: object, text: object) -> None:
    """Raise where the fraction or the text of progress has a wrong type.

    Raises:
        MalformedResultError: the fraction is no number, or the text is none.
    """
    if not isinstance(fraction, int | float | None):
        raise MalformedResultError(
            f"the fraction of its progress must be a number, not {type(fraction).__name__}"
        )
    if not isinstance(text, str):
        raise MalformedResultError(f"the text of its progress must be a string, not {type(text).__name__}")


def progress_json(spec: ToolSpec[Any, Any], value: Any) -> Json:
    """Return progress as JSON: a value of the declared class, or its JSON; any JSON where none is declared.

    Raises:
        MalformedResultError: it does not fit the design, or is no JSON.
    """
    codec = spec.long_running.progress if spec.long_running else None
    try:
        if codec is None or value is None:
            plain: Json = to_jsonable_python(value)
            return plain
        shown: Json = json.loads(codec.encode(codec.decode(value) if isinstance(value, dict) else value))
    except (MalformedResultError, ToolValidationError, ValueError) as error:
        raise MalformedResultError(f"the progress of {spec.name} does not fit: {error}") from error
    return shown
