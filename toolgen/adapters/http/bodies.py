"""Request bodies, which are limited before they are decoded, and query values."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, Final

from pydantic_core import from_json
from starlette.requests import Request

from toolgen.agents import Upload
from toolgen.contract.json_value import Json
from toolgen.contract.limits import Limits, exceeded_limit

from .problems import HTTPProblem

_ROOM_KEYS: Final = 100
"""Members allowed in a body in addition to the members of the document in it."""
_ROOM_DEPTH: Final = 2
_LONGEST_KEY: Final = 200
"""Maximum number of characters of an `Idempotency-Key`."""
_CLOSE: Final = {"Connection": "close"}
MOST_ITEMS: Final = 1_000
"""Maximum number of items in a page."""
_ITEMS: Final = 100
"""Default number of items in a page."""


async def read_body(request: Request, limits: Limits, most_bytes: int) -> dict[str, Json]:
    """Return the JSON object in the body of a request; an empty object if there is no body.

    Raises:
        HTTPProblem: The body is too large, not JSON, or not an object.
    """
    body = await _read(request, most_bytes)
    if not body:
        return {}
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":  # cross-site forms can send other types
        sent = f"has the Content-Type {media_type}" if media_type else "has no Content-Type header"
        raise HTTPProblem("unsupported-media-type", f"the request {sent}; send application/json")
    room = replace(limits, bytes=most_bytes, keys=limits.keys + _ROOM_KEYS, depth=limits.depth + _ROOM_DEPTH)
    if (exceeded := exceeded_limit(body, room)) is not None:
        raise HTTPProblem("content-too-large", f"the body {exceeded.message}")
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise HTTPProblem("invalid-request", f"the body is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise HTTPProblem("invalid-request", "the body is not a JSON object")
    return document


async def _read(request: Request, most_bytes: int) -> bytes:
    parts, size = [], 0
    try:
        async for part in request.stream():
            parts.append(part)
            size += len(part)
            if size > most_bytes:
                raise HTTPProblem(
                    "content-too-large", f"the body has more than {most_bytes} bytes", headers=_CLOSE
                )
    except TimeoutError:
        raise HTTPProblem("request-timeout", headers=_CLOSE) from None
    return b"".join(parts)


def require_known(body: dict[str, Json], *names: str) -> None:
    """Refuse a body with members other than `names`: a misspelled name would have no effect.

    Raises:
        HTTPProblem: The body has an unknown member.
    """
    if unknown := sorted(body.keys() - set(names)):
        raise HTTPProblem(
            "invalid-request",
            f"the body has the unknown member {unknown[0]!r}; its members are {', '.join(sorted(names))}",
        )


def require_known_query(request: Request, *names: str) -> None:
    """Refuse a query with parameters other than `names`: a misspelled filter would have no effect.

    Raises:
        HTTPProblem: The query has an unknown parameter.
    """
    if unknown := sorted(set(request.query_params).difference(names)):
        raise HTTPProblem(
            "invalid-request",
            f"the query has the unknown parameter {unknown[0]!r}; its parameters are "
            f"{', '.join(sorted(names))}",
        )


def text_of(body: dict[str, Json], name: str, *, default: str | None = "") -> str:
    """Return a string from a body. If there is no default, it is required and must not be empty.

    Raises:
        HTTPProblem: The value is not a string, or is missing.
    """
    value = body.get(name, default)
    if value is None or (value == "" and default is None):
        raise HTTPProblem("invalid-request", f"the body has no member {name!r}")
    if not isinstance(value, str):
        raise HTTPProblem("invalid-request", f"{name!r} is not a string")
    return value


def files_of(body: dict[str, Json]) -> list[Upload]:
    """Return the files in a body, whose data is Base64 (RFC 4648, section 4).

    Raises:
        HTTPProblem: A file has another form.
    """
    files = body.get("files", [])
    if not isinstance(files, list):
        raise HTTPProblem("invalid-request", "'files' is not a list")
    return [_file(number, file) for number, file in enumerate(files)]


def _file(number: int, file: Json) -> Upload:
    match file:
        case {"name": str(name), "media_type": str(media_type), "data": str(data), **more} if not more:
            try:
                content = base64.b64decode(data, validate=True)
            except ValueError:
                raise HTTPProblem("invalid-request", f"the data of files[{number}] is not Base64") from None
            return Upload(name=name, data=content, media_type=media_type)
    raise HTTPProblem("invalid-request", f"files[{number}] needs a name, a media_type and data, all strings")


def seconds_of(body: dict[str, Json], name: str, default: float, most: float) -> float:
    """Return a number of seconds from a body, at most `most`.

    Raises:
        HTTPProblem: The value is not a number of seconds.
    """
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise HTTPProblem("invalid-request", f"{name!r} is not a number of seconds")
    return min(float(value), most)


def required(body: dict[str, Any], name: str) -> Json:
    """Return a required value from a body.

    Raises:
        HTTPProblem: The value is missing.
    """
    if name not in body:
        raise HTTPProblem("invalid-request", f"the body has no member {name!r}")
    value: Json = body[name]
    return value


def idempotency_key(request: Request) -> str:
    """Return the `Idempotency-Key` of a request; "" if it has none.

    Raises:
        HTTPProblem: The key is empty or too long.
    """
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= _LONGEST_KEY:
        raise HTTPProblem("invalid-request", f"an Idempotency-Key has 1 to {_LONGEST_KEY} characters")
    return key or ""


def limit_of(request: Request) -> int:
    """Return the number of items in the requested page, at most `MOST_ITEMS`.

    Raises:
        HTTPProblem: The limit is not a number.
    """
    return max(1, min(number_of(request, "limit", _ITEMS), MOST_ITEMS))


def number_of(request: Request, name: str, default: int) -> int:
    """Return a number with at most 15 digits from the query.

    Raises:
        HTTPProblem: The value is not a number.
    """
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise HTTPProblem("invalid-request", f"{name!r} is not a number")
    return int(text)


def has_tag(request: Request, tag: str) -> bool:
    """Return whether a client already has the content with this tag (RFC 9110, 13.1.2)."""
    tags = {etag.strip().removeprefix("W/") for etag in request.headers.get("if-none-match", "").split(",")}
    return tag in tags or "*" in tags


def choice_of(request: Request, name: str, choices: tuple[str, ...]) -> Any:
    """Return a query value that must be one of `choices`; None if the query does not have it.

    Raises:
        HTTPProblem: The value is not one of `choices`.
    """
    text = request.query_params.get(name)
    if text is not None and text not in choices:
        raise HTTPProblem("invalid-request", f"{name!r} must be one of {', '.join(choices)}")
    return text
