"""Pages of lists: `after` is the id of the last item of the previous page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_MOST = 200
"""Items that are fetched at once, where some of them are left out."""


def cut(items: Sequence[T], after: str, limit: int, id_of: Callable[[T], str]) -> tuple[list[T], str]:
    """Return the items of a page, and what `after` is for the next one; "" where this is the last.

    Where the item that `after` names is gone, there are none.
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
    """Return a page as `cut`, of what is wanted of a list that is fetched from the item that `after` names.

    `fetch` gets the id of the item before those that it returns, and how many it returns at most.
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
