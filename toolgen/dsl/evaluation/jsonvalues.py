"""Values of a design as JSON, whatever was written."""

from __future__ import annotations

import json

from toolgen.contract.fields import Json
from toolgen.contract.values import plain


class NoJsonError(ValueError):
    """The value has no JSON form; the text says why."""


def json_value(value: object) -> Json:
    """Return the JSON value of a Python value.

    Raises:
        NoJsonError: it, or something inside it, has none.
    """
    try:
        result = plain(value)
        json.dumps(result, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise NoJsonError("is nested too deep") from None
    except UnicodeEncodeError:
        raise NoJsonError("holds half of a surrogate pair") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise NoJsonError(str(error)) from None
    return result
