"""Parameter values as text, in the styles of OpenAPI 3.1 (Parameter Object) and of RFC 6570."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

from toolgen.calls.errors import ToolError
from toolgen.contract.json_value import Json
from toolgen.contract.transport import Style

_JOINED = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}
"""Separator of the items of one query parameter, by style."""


def text_of(value: Json) -> str:
    """Return a scalar as text; values that are nested deeper than the style allows become JSON."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def json_text(value: Json) -> str:
    """Return a value as ASCII JSON text, which is also valid in a header."""
    return json.dumps(value, separators=(",", ":"))


def encoded(value: Json) -> str:
    """Return a value's text, percent-encoded except for unreserved characters (RFC 3986, section 2.3)."""
    return quote(text_of(value), safe="")


def path_text(name: str, value: Json, style: Style, *, explode: bool) -> str:
    """Return the path text of a parameter."""
    pairs = list(_members(value, encoded))
    plain = _plain_items(value, pairs, explode=explode)
    match style:
        case "label":
            return "." + ("." if explode else ",").join(plain)
        case "matrix" if explode and isinstance(value, dict):
            return "".join(f";{part}" for part in plain)
        case "matrix" if explode:
            return "".join(_matrix(name, part) for part in plain)
        case "matrix":
            return _matrix(name, ",".join(plain))
        case _:
            return ",".join(plain)


def _matrix(name: str, text: str) -> str:
    return f";{quote(name, safe='')}={text}" if text else f";{quote(name, safe='')}"


def query_parts(name: str, value: Json, style: Style, *, explode: bool) -> list[str]:
    """Return the `name=value` parts of a query or form."""
    return _pairs(name, value, style, explode=explode)


def cookie_parts(name: str, value: Json, *, explode: bool) -> list[str]:
    """Return the `name=value` parts of a Cookie header."""
    return _pairs(name, value, "form", explode=explode)


def header_text(value: Json, *, explode: bool) -> str:
    """Return the value of a header, in the style `simple`, without percent-encoding."""
    return ",".join(_plain_items(value, list(_members(value, text_of)), explode=explode))


def _members(value: Json, encode: Callable[[Json], str]) -> Iterator[tuple[str, str]]:
    """Yield array items with "" as their names, the properties of an object, or the scalar."""
    match value:
        case dict():
            yield from ((encode(key), encode(inner)) for key, inner in value.items() if inner is not None)
        case list():
            yield from (("", encode(item)) for item in value if item is not None)
        case _:
            yield "", encode(value)


def _plain_items(value: Json, pairs: Iterable[tuple[str, str]], *, explode: bool) -> list[str]:
    if not isinstance(value, dict):
        return [text for _, text in pairs]
    if explode:
        return [f"{key}={text}" for key, text in pairs]
    return [part for pair in pairs for part in pair]


def deep_parts(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the scalars of a value with their names in the style `deepObject`, at any depth: `name[key][0]`.

    OpenAPI defines the style only for objects of scalars. PHP, Node's qs and Stripe read deeper values like
    this.

    Raises:
        ToolError: A key contains brackets, so that a server would read it as several keys.
    """
    match value:
        case dict():
            for key, inner in value.items():
                if "[" in key or "]" in key:
                    raise ToolError(f"{name} must not have a key with brackets")
                yield from deep_parts(f"{name}[{key}]", inner)
        case list():
            for at, inner in enumerate(value):
                yield from deep_parts(f"{name}[{at}]", inner)
        case None:
            return
        case _:
            yield name, value


def _pairs(name: str, value: Json, style: Style, *, explode: bool) -> list[str]:
    own = quote(name, safe="")
    if style == "deepObject":
        return [f"{encoded(part)}={encoded(inner)}" for part, inner in deep_parts(name, value)]
    pairs = list(_members(value, encoded))
    if not isinstance(value, dict | list):
        return [f"{own}={pairs[0][1]}"]
    if explode:
        return [f"{key or own}={text}" for key, text in pairs]
    joined = _JOINED.get(style, ",").join(_plain_items(value, pairs, explode=False))
    return [f"{own}={joined}"] if pairs else []
