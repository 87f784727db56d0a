"""Artifacts over HTTP: ranges, validators, and whose they are. Catalogs with their validator."""

from __future__ import annotations

from typing import Any

import pytest

from toolgen.catalog import parse_catalog

from .shop import SHOP, Served, problem, served

DATA = b'{"orders":3}'


async def saved(shop: Served) -> dict[str, str]:
    """Return the query of an artifact of the caller."""
    return {"uri": (await shop.call("report")).json()["result"]}


@pytest.mark.parametrize(
    ("wanted", "status", "data", "content_range"),
    [
        ("", 200, DATA, None),
        ("bytes=0-3", 206, DATA[:4], "bytes 0-3/12"),
        ("bytes=2-", 206, DATA[2:], "bytes 2-11/12"),
        ("bytes=-5", 206, DATA[-5:], "bytes 7-11/12"),
        ("bytes=-500", 206, DATA, "bytes 0-11/12"),
        ("bytes=10-500", 206, DATA[10:], "bytes 10-11/12"),
        ("bytes=12-", 416, b"", "bytes */12"),
        ("bytes=-0", 416, b"", "bytes */12"),
        ("bytes=3-1", 200, DATA, None),
        ("bytes=-", 200, DATA, None),
        ("bytes=0-1,3-4", 200, DATA, None),
        ("items=0-1", 200, DATA, None),
    ],
)
async def test_a_range_is_a_part(wanted: str, status: int, data: bytes, content_range: str | None) -> None:
    async with served() as shop:
        query = await saved(shop)
        headers = {"range": wanted} if wanted else {}
        answer = await shop.client.get("/artifacts", params=query, headers=headers)
    assert (answer.status_code, answer.content) == (status, data)
    assert answer.headers.get("content-range") == content_range
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"


async def test_validators_of_an_artifact() -> None:
    async with served() as shop:
        query = await saved(shop)
        whole = await shop.client.get("/artifacts", params=query)
        tag = whole.headers["etag"]
        assert whole.headers["content-type"] == "application/json"
        assert whole.headers["content-disposition"] == "attachment"
        for condition, status in ((tag, 304), (f'W/{tag}, "x"', 304), ("*", 304), ('"x"', 200)):
            answer = await shop.client.get("/artifacts", params=query, headers={"if-none-match": condition})
            assert answer.status_code == status
        for condition, status in ((tag, 206), ('"x"', 200)):
            headers = {"range": "bytes=0-1", "if-range": condition}
            assert (await shop.client.get("/artifacts", params=query, headers=headers)).status_code == status
        head = await shop.client.head("/artifacts", params=query, headers={"range": "bytes=0-1"})
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "12")


async def test_artifacts_of_others_are_not_there() -> None:
    async with served() as shop:
        query = await saved(shop)
        answer = await shop.client.get("/artifacts", params=query, headers={"x-caller": "bob"})
        assert problem(answer) == (404, "not-found")
        for uri in ("", "artifact:x", query["uri"].replace("day", "night"), "file:///etc/passwd"):
            assert problem(await shop.client.get("/artifacts", params={"uri": uri})) == (404, "not-found")
        root = await shop.client.get("/artifacts", params=query, headers={"x-caller": "root"})
        assert root.content == DATA


async def test_the_catalog_is_read_once() -> None:
    async with served() as shop:
        answer = await shop.client.get("/catalog")
        document: Any = answer.json()
        again = await shop.client.get("/catalog", headers={"if-none-match": answer.headers["etag"]})
        other = await shop.client.get("/catalog", headers={"if-none-match": '"x"'})
    assert (again.status_code, again.content) == (304, b"")
    assert other.content == answer.content
    assert document["catalog"]["design"] == "shop"
    catalog = parse_catalog(document)
    assert {tool["id"] for tool in catalog.tools} >= {f"{SHOP}.order", f"{SHOP}.destroy"}
