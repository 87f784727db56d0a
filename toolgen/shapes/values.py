"""Python values as JSON values, in their lexical forms (`lexical`)."""

from __future__ import annotations

import base64
import datetime as dt
import uuid
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PurePath

from toolgen.contract.json_value import Json


def plain(value: object) -> Json:
    """Return the JSON value of a Python value.

    Raises:
        TypeError: the value, or one inside it, has no JSON form; the message names its type.
    """
    match value:
        case str() | None | bool() | int() | float():
            return value
        case dict():  # before the others, which a schema has few of
            return {_key(key): plain(item) for key, item in value.items()}
        case bytes():
            return bytes_text(value)
        case dt.datetime():
            return value.isoformat().replace("+00:00", "Z")
        case dt.date() | uuid.UUID():
            return str(value)
        case dt.timedelta():
            return duration_text(value)
        case Decimal():
            return decimal_text(value)
        case list() | tuple():
            return [plain(item) for item in value]
        case Mapping():
            return {_key(key): plain(item) for key, item in value.items()}
        case Enum():
            return plain(value.value)
        case PurePath():
            return str(value)
        case _:
            raise TypeError(f"a value of type {type(value).__name__} cannot be serialized to JSON")


def bytes_text(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def decimal_text(value: Decimal) -> str:
    return format(value, "f")


def duration_text(value: dt.timedelta) -> str:
    """Return an ISO 8601 duration of days and smaller units: `P1DT2H`, `-PT0.5S`, `PT0S`."""
    microseconds = abs(value) // dt.timedelta(microseconds=1)
    seconds, fraction = divmod(microseconds, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    second = f"{seconds}.{fraction:06}".rstrip("0") if fraction else str(seconds)
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if second != "0":
        # RFC 3339 Appendix A does not allow hours followed by seconds, so the minutes are written even if
        # zero.
        time += ("0M" if hours and not minutes else "") + f"{second}S"
    text = (f"{days}D" if days else "") + (f"T{time}" if time else "")
    return ("-" if value < dt.timedelta(0) else "") + f"P{text or 'T0S'}"


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a value of type {type(key).__name__} cannot be a key of a JSON object")
    return key
