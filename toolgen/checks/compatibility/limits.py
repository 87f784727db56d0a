"""Limits of values that are strings in JSON (dates, decimals) and formats, as codecs check them.

JSON Schema validators treat both as annotations, so jsonschema-rs gets these checks as extensions.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from pydantic import TypeAdapter

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import CONSTRAINTS, OF_BYTES, Constraint
from toolgen.shapes.lexical import BYTES, DATE, DATETIME, DECIMAL, DURATION, STRING_FORMATS, URL, UUID

ROWS: Final[Mapping[str, Constraint]] = MappingProxyType(
    {row.keyword: row for row in (*CONSTRAINTS, *OF_BYTES) if row.is_annotation}
)
"""Constraints that toolgen adds to JSON Schema, by keyword."""
_STEP: Final = next(row for row in ROWS.values() if row.takes == "step")
_DURATIONS: Final = TypeAdapter(dt.timedelta)


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return the kind of text: date, datetime, duration, decimal or bytes; "" for other schemas."""
    match schema:
        case {"format": "date"}:
            return "date"
        case {"format": "date-time"}:
            return "datetime"
        case {"contentEncoding": "base64", "pattern": pattern} if pattern == BYTES:
            return "bytes"
        case {"pattern": pattern}:
            return {DURATION: "duration", DECIMAL: "decimal"}.get(pattern, "")
        case _:
            return ""


def value_of(kind: str, text: Any) -> Any:
    """Return the value of a text, for bytes their number; None if the text is invalid."""
    with suppress(ValueError, ArithmeticError):
        match kind:
            case "date":
                return dt.date.fromisoformat(text)
            case "datetime":
                return dt.datetime.fromisoformat(text.upper())
            case "duration":
                return _DURATIONS.validate_python(text)
            case "decimal":
                return Decimal(str(text))
            case "bytes":
                return len(base64.b64decode(text)) if isinstance(text, str) else text
            case _:
                pass
    return None


def implies(had: tuple[Constraint, object], wanted: tuple[Constraint, object]) -> bool:
    """Return whether every value within the first bound is also within the second one."""
    (row, limit), (other, bound) = had, wanted
    if row.side is None or row.side != other.side:
        return False
    if limit == bound:
        return row.is_exclusive or not other.is_exclusive
    return other.passes(limit, bound)


def is_multiple(value: Json, step: Json) -> bool:
    """Return whether a value is a multiple of a step of the same kind."""
    return _STEP.passes(value, step)


def _limit(keyword: str) -> type:
    """Return a validator class for a keyword, for jsonschema-rs."""
    row = ROWS[keyword]

    class Limit:
        def __init__(self, schema: Mapping[str, Json], limit: Json, path: object) -> None:
            self._kind = kind_of(schema)
            self._limit = value_of(self._kind, limit)

        def validate(self, instance: Json) -> None:
            if self._limit is None or not isinstance(instance, str):
                return
            value = value_of(self._kind, instance)
            if value is not None and not row.passes(value, self._limit):
                raise ValueError(row.message_of(self._limit))

    return Limit


KEYWORDS: Final[Mapping[str, type]] = MappingProxyType({keyword: _limit(keyword) for keyword in ROWS})
"""Validators of the keywords in `ROWS`, for jsonschema-rs."""


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def _read_by(kind: str, pattern: str) -> Callable[[str], bool]:
    is_written = _matches(pattern)
    return lambda text: is_written(text) and value_of(kind, text) is not None


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "date": _read_by("date", DATE),
        "date-time": _read_by("datetime", DATETIME),
        "uuid": _matches(UUID),
        "uri": _matches(URL),
        **{name: _matches(pattern) for name, pattern in STRING_FORMATS.items()},
    }
)
"""Validators of the formats that codecs validate."""
