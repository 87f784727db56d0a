"""Pages by cursor, offset, number and Link header, each read to its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from pydantic import Field

from tests.clients.books import operation
from tests.clients.servers import Received, answer, answering, serving
from toolgen.clients import HTTP, HTTPClient, Paging, Parameter, Response
from toolgen.runtime import ToolError, ToolModel

ITEMS = [f"book {number}" for number in range(7)]


class List(ToolModel):
    shelf: str = "a"
    cursor: str | None = None
    size: int | None = None


class Listed(ToolModel):
    books: list[str]
    next_: Annotated[str | None, Field(alias="next")] = None
    total: int | None = None


def listing(paging: Paging, *parameters: Parameter, response: Response | None = None) -> Any:
    http = HTTP(
        verb="GET",
        path="/shelves/{shelf}",
        parameters=(Parameter("shelf", "path"), *parameters),
        responses=(response or Response(200),),
        paging=paging,
    )
    return operation(http, payload=List, result=Listed, errors={})


def paged(page: Callable[[dict[str, str]], tuple[Any, dict[str, str]]]) -> Any:
    async def respond(request: Received, writer: Any) -> None:
        query = {key: values[0] for key, values in parse_qs(urlsplit(request.target).query).items()}
        body, headers = page(query)
        writer.write(answer(200, json.dumps(body).encode(), **headers))

    return respond


async def pages(of: Any, respond: Any, **payload: Any) -> tuple[list[list[str]], list[str]]:
    """Return the items of all pages, and what was asked for."""
    found: list[list[str]] = []
    cursor: str | None = None
    async with serving(respond) as server, HTTPClient(server=server.url) as client:
        while True:
            result = await client.send(of, List(cursor=cursor, **payload))
            found.append(result.books)
            cursor = result.next_
            if cursor is None:
                return found, [unquote(request.target) for request in server.received]


THREE = [ITEMS[:3], ITEMS[3:6], ITEMS[6:]]


@pytest.mark.parametrize("kind", [str, int])
@pytest.mark.parametrize("end", [None, "", False, "absent"])
async def test_a_cursor_is_what_the_answer_says(kind: type, end: Any) -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        at = int(query.get("cursor", 0))
        following = kind(at + 3) if at + 3 < 7 else end
        return {"books": ITEMS[at : at + 3], **({} if following == "absent" else {"next": following})}, {}

    of = listing(Paging(cursor="cursor", next="next"), Parameter("cursor", "query"))
    found, asked = await pages(of, paged(page))
    assert found == THREE
    assert asked == ["/shelves/a", "/shelves/a?cursor=3", "/shelves/a?cursor=6"]


async def test_a_cursor_stands_at_a_pointer_and_has_a_name() -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        at = int(query.get("after", 0))
        meta = {"page/info": [{"end": at + 3}]} if at + 3 < 7 else {}
        return {"books": ITEMS[at : at + 3], "meta": meta}, {}

    of = listing(Paging(cursor="cursor", next="next", name="after", at="/meta/page~1info/0/end"))
    found, asked = await pages(of, paged(page))
    assert (found, asked[1:]) == (THREE, ["/shelves/a?after=3", "/shelves/a?after=6"])


@pytest.mark.parametrize("at", ["/info/00", "/info/-1", "/info/\u0660", "/info/1"])
async def test_a_pointer_to_nothing_is_the_end(at: str) -> None:
    """The place of an item has no leading zero, no sign and no other digits (RFC 6901, section 4)."""
    of = listing(Paging(cursor="cursor", next="next", at=at))
    found, asked = await pages(
        of, paged(lambda query: ({"books": ITEMS[:3], "info": [] if query else ["3"]}, {}))
    )
    assert (found, asked) == ([ITEMS[:3]], ["/shelves/a"])


SIZED = Parameter("size", "query", "limit")


@pytest.mark.parametrize("has_total", [False, True])
@pytest.mark.parametrize("first", [0, 1])
async def test_offsets(has_total: bool, first: int) -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        at = int(query["offset"]) - first
        return {"books": ITEMS[at : at + 3], **({"total": 7} if has_total else {})}, {}

    paging = Paging(
        style="offset", cursor="cursor", next="next", size="size", items="books", total="total", first=first
    )
    found, asked = await pages(listing(paging, SIZED), paged(page), size=3)
    assert found == THREE
    assert asked[1] == f"/shelves/a?limit=3&offset={first + 3}"


@pytest.mark.parametrize("has_total", [False, True])
@pytest.mark.parametrize("first", [0, 1])
async def test_numbers_of_pages(has_total: bool, first: int) -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        at = (int(query["p"]) - first) * 3
        return ITEMS[at : at + 3], {"X_Total": "7"} if has_total else {}

    paging = Paging(
        style="page",
        cursor="cursor",
        next="next",
        name="p",
        size="size",
        items="books",
        total="total",
        first=first,
    )
    response = Response(200, body="books", headers={"total": "X-Total"})
    found, asked = await pages(listing(paging, SIZED, response=response), paged(page), size=3)
    assert found == THREE
    assert asked[0] == f"/shelves/a?limit=3&p={first}"


async def test_without_a_size_pages_end_with_an_empty_one() -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        at = int(query["offset"])
        return {"books": ITEMS[at : at + 3]}, {}

    paging = Paging(style="offset", cursor="cursor", next="next", items="books")
    found, _ = await pages(listing(paging), paged(page))
    assert found == [*THREE, []]


async def test_a_full_last_page_is_the_last_where_the_total_says_so() -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        return {"books": ITEMS[:3], "total": 3}, {}

    paging = Paging(style="page", cursor="cursor", next="next", size="size", items="books", total="total")
    found, _ = await pages(listing(paging, SIZED), paged(page), size=3)
    assert found == [ITEMS[:3]]


LINKS = [
    '</other>; rel="prev", <{target}>; rel="next"',
    "<{target}>;rel=next",
    '<{target}>; title="a, <b>; rel=prev"; rel="last next"',
    '<{target}>; REL = "next"; x',
]


@pytest.mark.parametrize("link", LINKS)
async def test_links(link: str) -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        at = int(query.get("after", 0))
        target = f"/shelves/a?after={at + 3}&shelf=x%26y"
        return {"books": ITEMS[at : at + 3]}, {"Link": link.format(target=target)} if at + 3 < 7 else {}

    found, asked = await pages(listing(Paging(style="link", cursor="cursor", next="next")), paged(page))
    assert found == THREE
    assert asked[1] == "/shelves/a?after=3&shelf=x&y"


@pytest.mark.parametrize(
    "link",
    [
        '<http://elsewhere.test/?after=3>; rel="next"',
        '<//elsewhere.test/?a=3>; rel="next"',
        '</3>; rel="next"',
        '<ftp:x?a>; rel="next"',
    ],
)
async def test_a_link_to_another_place_is_not_followed(link: str) -> None:
    of = listing(Paging(style="link", cursor="cursor", next="next"))
    with pytest.raises(ToolError, match="a link to the next page"):
        await pages(of, answering(answer(200, b'{"books":[]}', Link=link)))


async def test_a_cursor_of_a_model_changes_nothing_that_the_operation_says() -> None:
    """A model may make a cursor up: the path and the parameters of its call stay."""
    of = listing(Paging(style="link", cursor="cursor", next="next"), Parameter("size", "query", "tenant"))
    async with (
        serving(answering(answer(200, b'{"books":[]}'))) as server,
        HTTPClient(server=server.url) as client,
    ):
        await client.send(of, List(cursor="tenant=9&x=1&%74enant=8", size=1))
        assert server.received[0].target == "/shelves/a?tenant=1&x=1"
        for cursor in ("a b", "a#b", "\r\nX: 1", "é", "x" * 5_000):
            with pytest.raises(ToolError, match="cursor is not a cursor from an earlier page"):
                await client.send(of, List(cursor=cursor))


async def test_a_cursor_sets_no_parameter_that_is_absent() -> None:
    """It may be a field that the host fills, or one of another value than the tool allows."""
    of = listing(Paging(style="link", cursor="cursor", next="next"), Parameter("size", "query", "tenant"))
    link = answer(200, b'{"books":[]}', Link='</shelves/a?tenant=9&after=3>; rel="next"')
    async with serving(answering(link)) as server, HTTPClient(server=server.url) as client:
        result = await client.send(of, List(cursor="tenant=9&x=1&%74enant=8"))
        assert server.received[0].target == "/shelves/a?x=1"
        assert result.next_ == "after=3"


@pytest.mark.parametrize(
    "part",
    ["tenant[x]=9", "tenant%5Bx%5D=9", "Tenant=9", "tenant[]=9", "tenant%00=9", "%20tenant=9", "tenant.x=9"],
)
async def test_a_cursor_has_no_other_spelling_of_a_parameter(part: str) -> None:
    of = listing(Paging(style="link", cursor="cursor", next="next"), Parameter("size", "query", "tenant"))
    link = answer(200, b'{"books":[]}', Link=f'</shelves/a?{part}&after=3>; rel="next"')
    async with serving(answering(link)) as server, HTTPClient(server=server.url) as client:
        for size in (None, 1):
            result = await client.send(of, List(cursor=f"{part}&x=1", size=size))
            assert result.next_ == "after=3"
        targets = [request.target for request in server.received]
    assert targets == ["/shelves/a?x=1", "/shelves/a?tenant=1&x=1"]


async def test_a_cursor_may_be_a_member_of_what_has_parameters_too() -> None:
    """As in JSON:API: `page[size]` is a parameter, and `page[after]` the cursor."""
    of = listing(Paging(style="link", cursor="cursor", next="next"), Parameter("size", "query", "page[size]"))
    link = answer(200, b'{"books":[]}', Link='</shelves/a?page[size]=5&page[after]=3>; rel="next"')
    async with serving(answering(link)) as server, HTTPClient(server=server.url) as client:
        result = await client.send(of, List(size=1))
        assert result.next_ == "page[after]=3"
        await client.send(of, List(cursor=result.next_, size=1))
        assert unquote(server.received[1].target) == "/shelves/a?page[size]=1&page[after]=3"


async def test_a_link_sets_the_parameter_that_the_design_names() -> None:
    def page(query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        at = int(query.get("limit", 1))
        link = {"Link": f'</shelves/a?limit={at + 1}>; rel="next"'} if at < 3 else {}
        return {"books": THREE[at - 1]}, link

    paging = Paging(style="link", cursor="cursor", next="next")
    with pytest.raises(ToolError, match="whose query adds nothing to this page"):
        await pages(listing(paging, SIZED), paged(page))
    found, asked = await pages(listing(replace(paging, name="limit"), SIZED), paged(page))
    assert (found, asked[2]) == (THREE, "/shelves/a?limit=3")


async def test_a_cursor_changes_no_query_that_stands_in_the_path() -> None:
    http = HTTP(
        verb="GET", path="/books?kind=new&tenant=1", paging=Paging(style="link", cursor="cursor", next="next")
    )
    of = operation(http, payload=List, result=Listed, errors={})
    async with (
        serving(answering(answer(200, b'{"books":[]}'))) as server,
        HTTPClient(server=server.url) as client,
    ):
        await client.send(of, List(cursor="kind=old&tenant=9&page=2"))
    assert server.received[0].target == "/books?kind=new&tenant=1&page=2"


@pytest.mark.parametrize("cursor", ["-1", "x", "1e3", "٣", "1&admin=1", ""])
async def test_a_number_of_a_model_is_a_number(cursor: str) -> None:
    of = listing(Paging(style="offset", cursor="cursor", next="next", items="books"))
    with pytest.raises(ToolError, match="cursor is not a cursor from an earlier page"):
        async with HTTPClient(server="http://127.0.0.1:1") as client:
            await client.send(of, List(cursor=cursor))


async def test_a_header_of_brackets_is_read_at_once() -> None:
    """Each might begin a link that has no end."""
    of = listing(Paging(style="link", cursor="cursor", next="next"))
    found, _ = await pages(of, answering(answer(200, b'{"books":[]}', Link="<" * 90_000)))
    assert found == [[]]


async def test_a_cursor_that_is_too_long_is_malformed() -> None:
    of = listing(Paging(cursor="cursor", next="next"))
    body = json.dumps({"books": [], "next": "x" * 5_000}).encode()
    with pytest.raises(ToolError, match="a cursor of more than 4000 characters"):
        await pages(of, answering(answer(200, body)))
