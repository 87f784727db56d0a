"""Reported progress and its validation by the design's `LongRunning(progress=)`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from pydantic_core import to_jsonable_python

from toolgen.contract.json_value import is_json

from .errors import MalformedReportError, MalformedResultError, ToolValidationError

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .specs import ToolSpec

_ROUNDING: Final = 1e-9
"""Tolerated rounding error of a sum of fractions, for example ten times 0.1."""


def checked_fraction(fraction: object) -> float | None:
    """Return the fraction of progress, from 0 to 1; a value beyond that through rounding becomes 0 or 1.

    Raises:
        MalformedReportError: it is not a number, or not from 0 to 1.
    """
    if fraction is None:
        return None
    if not isinstance(fraction, int | float) or isinstance(fraction, bool):
        raise MalformedReportError(f"the progress fraction must be a number, not {type(fraction).__name__}")
    if not -_ROUNDING <= fraction <= 1 + _ROUNDING:  # rejects NaN too
        raise MalformedReportError("the progress fraction must be between 0 and 1")
    return min(max(fraction, 0.0), 1.0)


def require_text(text: object) -> None:
    """Check the message of a progress report.

    Raises:
        MalformedReportError: it is not a string.
    """
    if not isinstance(text, str):
        raise MalformedReportError(f"the progress message must be a string, not {type(text).__name__}")


def progress_json(spec: ToolSpec, value: object) -> Json:
    """Return progress as JSON.

    With a declared type, the value must be an instance of that class or its JSON; otherwise any JSON.

    Raises:
        MalformedReportError: it does not fit the design, or is not JSON.
    """
    codec = spec.long_running.progress if spec.long_running else None
    try:
        if codec is None or value is None:
            plain: Json = to_jsonable_python(value)
            if not is_json(plain):
                raise ValueError("it contains a number that is infinite or NaN")
            return plain
        shown: Json = json.loads(
            codec.encode(codec.decode_null_as_absent(value) if isinstance(value, dict) else value)
        )
    except (MalformedResultError, ToolValidationError, ValueError) as error:
        raise MalformedReportError(f"the progress of {spec.name} does not fit: {error}") from error
    return shown
