"""Pagination of lists: `after` is the id of the last item of the previous page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_MOST = 200
"""Maximum number of items that are fetched at once if some of them are filtered out."""


def cut(items: Sequence[T], after: str, limit: int, id_of: Callable[[T], str]) -> tuple[list[T], str]:
    """Return the items of a page, and `after` for the next page; "" if this is the last page.

    If the item that `after` names no longer exists, the page is empty.
    """
    start = 0
    if after:
        start = next((place for place, item in enumerate(items, 1) if id_of(item) == after), len(items))
    page = list(items[start : start + limit])
    return page, id_of(page[-1]) if page and len(items) > start + limit else ""


async def fetched(
    fetch: Callable[[str, int], Awaitable[Sequence[T]]],
    is_wanted: Callable[[T], Awaitable[bool]],
    after: str,
    limit: int,
    id_of: Callable[[T], str],
) -> tuple[list[T], str]:
    """Return a page as `cut` does, with the wanted items of a list that is fetched piece by piece.

    `fetch` receives the id of the item before the first one to return, and the maximum number of items.
    """
    page: list[T] = []
    most = limit + 1
    while True:
        items = await fetch(after, most)
        for item in items:
            if await is_wanted(item):
                if len(page) == limit:
                    return page, id_of(page[-1])
                page.append(item)
        if len(items) < most:
            return page, ""
        after, most = id_of(items[-1]), max(most, min(2 * most, _MOST))
