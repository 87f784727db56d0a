"""What is said while work goes on, held to the design's `LongRunning(progress=)`."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python

from toolgen.contract.fields import Json

from .errors import MalformedResultError, ToolValidationError
from .specs import ToolSpec


def progress_of(spec: ToolSpec[Any, Any], value: Any) -> Json:
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
