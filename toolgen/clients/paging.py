"""Pagination: the query for the next page, and the cursor for it in a result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from toolgen.calls.errors import ToolError
from toolgen.contract.json_pointer import ABSENT, resolved
from toolgen.contract.json_value import Json
from toolgen.contract.transport import HTTP, Paging

from .parameter_names import TakenNames, name_of_part
from .security import query_keys
from .servers import Origin
from .styles import text_of

_LONGEST: Final = 4_000
"""Maximum number of characters of a cursor."""
_NUMBER: Final = re.compile(r"[0-9]{1,12}")
_QUERY: Final = re.compile(r"[A-Za-z0-9._~!$&'()*+,=:@/?%\[\]-]*")
_PARAMETER: Final = r"""\s*;\s*([\w!#$&+.^`|~*-]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s",;]*))?"""
_LINK: Final = re.compile(rf"<([^<>]*)>((?:{_PARAMETER})*)")
"""A target and its parameters (RFC 8288, section 3)."""


class PageError(Exception):
    """An answer refers to a page that must not be followed."""


def names_of_request(http: HTTP) -> TakenNames:
    """Return the query names that a link's cursor must not set: those of credentials and of the payload."""
    paging = http.paging
    own = set() if paging is None else {paging.cursor, paging.name}
    queries = [each for each in http.parameters if each.place == "query" and each.attribute not in own]
    keys = query_keys(http.security)
    return TakenNames(keys | ({each.name or each.attribute for each in queries} - own), free=own - keys)


def page_query(paging: Paging, document: Mapping[str, Json], query: list[str], keys: TakenNames) -> list[str]:
    """Return the query of a request for the page that the payload's cursor names.

    `keys` are the names that a cursor must not set, because a model could make it up.

    Raises:
        ToolError: The cursor cannot be from a result.
    """
    cursor = document.get(paging.cursor)
    if paging.style == "cursor" or (cursor is None and paging.style == "link"):
        return query
    text = "" if cursor is None else text_of(cursor)
    if paging.style == "link":
        if len(text) > _LONGEST or not _QUERY.fullmatch(text):
            raise ToolError(f"{paging.cursor} is not a cursor from an earlier page")
        sent = TakenNames(map(name_of_part, query))
        parts = ((part, name_of_part(part)) for part in text.split("&"))
        return [*query, *(part for part, name in parts if name not in sent and name not in keys)]
    if cursor is not None and not _NUMBER.fullmatch(text):
        raise ToolError(f"{paging.cursor} is not a cursor from an earlier page")
    number = paging.first if cursor is None else int(text)
    return [*query, f"{paging.name or paging.style}={number}"]


def set_next(
    paging: Paging,
    sent: Mapping[str, Json],
    result: dict[str, Json],
    body: Json,
    headers: Mapping[str, str],
    url: str,
    keys: TakenNames,
) -> None:
    """Set the cursor of the next page in the JSON of a result; remove it on the last page.

    Args:
        sent: JSON values of the payload.
        result: Result of the answer; its items and its total are set.
        body: JSON value of the complete body.
        url: URL that the answer came from.
        keys: Query names that a cursor must not set.

    Raises:
        PageError: The next page is not at the address of this operation's pages.
    """
    match paging.style:
        case "link":
            cursor: Json = _linked(headers.get("link", ""), url, keys)
        case "cursor":
            cursor = _at(body, paging.at) if paging.at else result.get(paging.next)
        case _:
            cursor = _counted(paging, sent, result)
    result.pop(paging.next, None)
    if cursor not in (None, "", False):
        text = text_of(cursor)
        if len(text) > _LONGEST:
            raise PageError(f"a cursor of more than {_LONGEST} characters")
        result[paging.next] = text


def _at(body: Json, pointer: str) -> Json:
    """Return the scalar at a JSON Pointer; None if there is none."""
    value = resolved(body, pointer)
    return None if value is ABSENT or isinstance(value, dict | list) else value


def _counted(paging: Paging, sent: Mapping[str, Json], result: Mapping[str, Json]) -> Json:
    """Return the next offset or page; None if no items can remain."""
    items = result.get(paging.items)
    count = len(items) if isinstance(items, list | dict) else 0
    cursor, size, total = sent.get(paging.cursor), sent.get(paging.size), result.get(paging.total)
    at = paging.first if cursor is None else int(text_of(cursor))
    if count == 0:
        return None
    is_sized = isinstance(size, int) and not isinstance(size, bool) and size > 0
    if paging.style == "offset":
        following, seen = at + count, at - paging.first + count
    else:
        each = size if isinstance(size, int) and is_sized else count
        following, seen = at + 1, (at - paging.first) * each + count
    if isinstance(total, int | float) and not isinstance(total, bool):
        return following if seen < total else None
    return None if isinstance(size, int) and is_sized and count < size else following


def _linked(header: str, url: str, keys: TakenNames) -> Json:
    """Return the query of the link to the next page (RFC 8288); None without one.

    Only the query is used, with the path of the operation: a model's cursor cannot lead elsewhere.

    Raises:
        PageError: The link is at another origin, or has no query.
    """
    target = next(_targets(header), None)
    if target is None:
        return None
    absolute_url = urljoin(url, target)
    try:
        is_same = Origin.of(absolute_url) == Origin.of(url)
    except ValueError:
        is_same = False
    if not is_same:
        raise PageError("a link to the next page that is at another origin or malformed")
    query = "&".join(
        part for part in urlsplit(absolute_url).query.split("&") if name_of_part(part) not in keys
    )
    if not query or not _QUERY.fullmatch(query) or not parse_qsl(query, keep_blank_values=True):
        raise PageError("a link to the next page whose query adds nothing to this page, or is malformed")
    return query


def _targets(header: str) -> Iterator[str]:
    """Yield the targets of the links to a next page."""
    for link in _LINK.finditer(header):
        for name, value in re.findall(_PARAMETER, link[2]):
            if name.lower() == "rel" and "next" in value.strip('"').lower().split():
                yield link[1].strip()
