"""Values of the primitives with a lexical form, as Python expressions."""

from __future__ import annotations

import datetime as dt
from typing import assert_never

from toolgen.contract.json_value import Json
from toolgen.shapes.design.validator import Validator
from toolgen.shapes.fields import ScalarKind, ScalarType

from .imports import Imports
from .text import literal


def scalar_value(kind: ScalarKind, value: Json, imports: Imports) -> str:
    """Return the expression of a JSON value of the kind."""
    match kind:
        case "boolean" | "any" | "url":
            return literal(value)
        case "uuid":
            return f"{imports.name('uuid', 'UUID')}({literal(value)})"
        case "decimal":
            return f"{imports.name('decimal', 'Decimal')}({literal(value)})"
        case "bytes" | "date" | "datetime" | "duration":
            parsed = Validator(ScalarType(kind=kind), {}).parse(value)
            if isinstance(parsed, bytes):
                return repr(parsed)
            return _moment(parsed, imports.module("datetime", "dt"))
        case _:
            assert_never(kind)


def _moment(value: dt.date | dt.timedelta, module: str) -> str:
    match value:
        case dt.datetime():
            numbers = [*value.timetuple()[:6], value.microsecond]
            while len(numbers) > 3 and not numbers[-1]:
                numbers.pop()
            return f"{module}.datetime({', '.join(map(str, numbers))}, tzinfo={_zone(value, module)})"
        case dt.date():
            return f"{module}.date({value.year}, {value.month}, {value.day})"
        case dt.timedelta():
            return _period(value, module)
        case _:
            assert_never(value)


def _zone(value: dt.datetime, module: str) -> str:
    offset = value.utcoffset()
    return f"{module}.timezone({_period(offset, module)})" if offset else f"{module}.UTC"


def _period(value: dt.timedelta, module: str) -> str:
    sign = "-" if value < dt.timedelta(0) else ""
    minutes, seconds = divmod(abs(value).seconds, 60)
    hours, minutes = divmod(minutes, 60)
    units = {"days": abs(value).days, "hours": hours, "minutes": minutes, "seconds": seconds}
    units["microseconds"] = abs(value).microseconds
    arguments = ", ".join(f"{unit}={count}" for unit, count in units.items() if count)
    return f"{sign}{module}.timedelta({arguments})"
