"""Durations as an author writes them: `500ms`, `30s`, `2m`, `1h`."""

from __future__ import annotations

import re
from typing import Final

from toolgen.expr import codes
from toolgen.expr.source import Source

from ..report import Report, source_text

_SPAN: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m|h)")
_MILLISECONDS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_LONGEST: Final = 24 * 3600
"""Seconds; work that takes longer answers later, see `LongRunning`."""


def seconds(text: str, what: str, source: Source, report: Report) -> float | None:
    """Return the seconds of a duration; None when it was reported."""
    fault, hint, found = "", "", _SPAN.fullmatch(text)
    span = float(found[1]) * _MILLISECONDS[found[2]] / 1000 if found else 0.0
    if not found:
        fault, hint = "is no number with its unit", _repair_hint(text)
    elif span <= 0:
        fault, hint = "leaves no time at all", 'write a span above 0, such as "30s"'
    elif span > _LONGEST:
        fault, hint = "is longer than 24 hours", 'write at most "24h"; LongRunning tools may answer later'
    else:
        return span
    report.add(codes.BAD_DURATION, source, what=what, value=source_text(text), fault=fault, hint=hint)
    return None


def _repair_hint(text: str) -> str:
    number = re.match(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", text.lower())
    unit = {"": "s", "sec": "s", "seconds": "s", "second": "s", "min": "m", "minutes": "m", "hours": "h"}
    known = number and unit.get(number[2], number[2])
    if number and known in _MILLISECONDS and number.end() == len(text.rstrip()):
        return f'write "{number[1]}{known}"'
    return 'write a span such as "500ms", "30s", "2m" or "1h"'
