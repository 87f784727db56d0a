"""Artifact data, with ranges (RFC 9110, 14) and validators (RFC 9110, 8.8)."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final
from urllib.parse import unquote

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from toolgen.capabilities import StoredArtifact
from toolgen.runtime import Runtime

from .bodies import has_tag
from .call_views import spec_of
from .callers import Caller
from .problems import HTTPProblem

_RANGE: Final = re.compile(r"bytes=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*")
"""A single range. For several ranges the complete data is sent, which RFC 9110, 14.2 permits."""
_SESSION: Final = re.compile(r"artifact:(?:session/([^?]*)|run/([^/?]*)/[^?]*)/[^/?]+\?version=\d+")
_SAFE: Final = re.compile(r"image/(?:png|jpeg|gif|webp|avif)|audio/[\w.+-]+|video/[\w.+-]+")
"""Media types that a browser shows without executing any content; all others are downloads."""
_HEADERS: Final = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}


async def read_artifact(runtime: Runtime, request: Request, caller: Caller) -> Response:
    """Return the artifact data for the URI in the query, or a range of it.

    Raises:
        HTTPProblem: The artifact does not exist, or belongs to another caller.
    """
    uri = request.query_params.get("uri", "")
    session = _session_of(uri)
    if session is not None:
        await caller.require(session)
    elif not caller.sees_all:
        raise HTTPProblem("not-found", "no artifact has this URI")
    stored = await runtime.artifacts.load(uri, session_id=session)
    data = _public(runtime, stored)
    tag = f'"{hashlib.sha256(data).hexdigest()}"'
    headers = {**_HEADERS, "ETag": tag, "Content-Disposition": _disposition(stored)}
    if has_tag(request, tag):
        return Response(status_code=304, headers=headers)
    media_type = stored.info.media_type or "application/octet-stream"
    part = _range_of(request, tag, len(data))
    if part is None:
        return _response(request, data, 200, headers, media_type)
    first, end = part
    if first >= end:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {first}-{end - 1}/{len(data)}"
    return _response(request, data[first:end], 206, headers, media_type)


def _session_of(uri: str) -> str | None:
    """Return the session id in a URI; None if it contains none.

    The store verifies it again.
    """
    parts = _SESSION.fullmatch(uri)
    if parts is None:
        return None
    # A session id is quoted once as the owner of a run, and each owner is quoted once in its URI.
    return unquote(parts[1]) if parts[1] is not None else unquote(unquote(parts[2]))


def _public(runtime: Runtime, stored: StoredArtifact) -> bytes:
    """Return the data; if it is an artifact of a result, without sensitive values."""
    facts = stored.info.metadata
    spec = spec_of(runtime, str(facts.get("tool", "")))
    kind = None if spec is None else spec.artifacts.get(str(facts.get("kind", "")))
    if kind is None or not kind.codec.sensitive:
        return stored.data
    return to_json(kind.codec.public(json.loads(stored.data)))


def _range_of(request: Request, tag: str, size: int) -> tuple[int, int] | None:
    """Return the first byte and the end of the requested range; None for the complete data.

    If the first byte is not before the end, the range cannot be satisfied. HEAD has no ranges (RFC 9110,
    14.2).
    """
    wanted = _RANGE.fullmatch(request.headers.get("range", ""))
    condition = request.headers.get("if-range")
    if request.method != "GET" or wanted is None or (condition is not None and condition.strip() != tag):
        return None
    first, last = wanted.groups()
    if not first and not last:
        return None
    if not first:  # the last N bytes
        return (max(0, size - int(last)), size) if int(last) and size else (size, size)
    if last and int(last) < int(first):
        return None  # invalid, so ignored
    return int(first), min(size, int(last) + 1 if last else size)


def _response(
    request: Request, data: bytes, status: int, headers: dict[str, str], media_type: str
) -> Response:
    if request.method != "HEAD":
        return Response(data, status, headers, media_type)
    return Response(b"", status, {**headers, "Content-Length": str(len(data))}, media_type)


def _disposition(stored: StoredArtifact) -> str:
    return "inline" if _SAFE.fullmatch(stored.info.media_type) else "attachment"
