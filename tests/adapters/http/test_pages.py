"""Lists on pages: each item is read about once, whoever owns it."""

from __future__ import annotations

from toolgen.adapters.http.pages import fetched

ITEMS = [f"{number}" for number in range(1000)]


async def test_all_pages_read_each_item_about_once() -> None:
    for owned in (1, 7):
        read: list[str] = []

        async def fetch(after: str, most: int, read: list[str] = read) -> list[str]:
            start = ITEMS.index(after) + 1 if after else 0
            read += ITEMS[start : start + most]
            return ITEMS[start : start + most]

        async def is_own(item: str, owned: int = owned) -> bool:
            return int(item) % owned == 0

        seen, after = list[str](), ""
        while True:
            page, after = await fetched(fetch, is_own, after, 10, str)
            seen += page
            if not after:
                break
        assert seen == ITEMS[::owned]
        assert len(read) <= 2 * len(ITEMS) + 400, owned


async def test_after_an_item_that_is_gone_comes_nothing() -> None:
    async def fetch(after: str, most: int) -> list[str]:
        return [] if after else ITEMS[:most]

    async def is_own(item: str) -> bool:
        return True

    assert await fetched(fetch, is_own, "gone", 10, str) == ([], "")
