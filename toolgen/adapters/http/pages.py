"""Lists on pages: `after` is the id of the last item of the page before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_FIRST = 200
"""Items that are fetched at first, where some of them are left out."""


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
    fetch: Callable[[int], Awaitable[Sequence[T]]],
    is_wanted: Callable[[T], Awaitable[bool]],
    after: str,
    limit: int,
    id_of: Callable[[T], str],
) -> tuple[list[T], str]:
    """Return a page as `cut`, of what is wanted of a list that is fetched from its beginning.

    `fetch` gets how many items it returns at most.
    """
    most = max(_FIRST, 2 * limit)
    while True:
        items = await fetch(most)
        wanted = [item for item in items if await is_wanted(item)]
        is_found = not after or any(id_of(item) == after for item in wanted)
        page, following = cut(wanted, after, limit, id_of)
        if (is_found and following) or len(items) < most:
            return page, following
        most *= 4
