"""Python values of a design as JSON values."""

from __future__ import annotations

import datetime as dt
import json

from toolgen.contract.json_value import Json
from toolgen.shapes.values import plain


class NoJsonError(ValueError):
    """The value has no JSON form; the text has the reason."""


def json_value(value: object) -> Json:
    """Return the JSON value of a Python value.

    Raises:
        NoJsonError: the value, or a nested value, has no JSON form.
    """
    try:
        result = plain(value)
        json.dumps(result, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise NoJsonError("is nested too deeply") from None
    except UnicodeEncodeError:
        raise NoJsonError("holds a lone surrogate") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise NoJsonError(str(error)) from None
    return result


def check_aware(value: object) -> None:
    """Raise for a datetime without a time zone.

    Raises:
        NoJsonError: the value, or a nested value, is a datetime without a time zone.
    """
    match value:
        case dt.datetime() if value.utcoffset() is None:
            raise NoJsonError(f"{value} needs a time zone: datetime(…, tzinfo=UTC)")
        case list() | tuple():
            for item in value:
                check_aware(item)
        case dict():
            for item in value.values():
                check_aware(item)
        case _:
            pass
