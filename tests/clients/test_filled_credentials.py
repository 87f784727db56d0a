"""Credentials that stand in further places of a request: headers, the query and the body."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.books import Book, Books, GetBook, operation
from tests.clients.servers import Received, Respond, answer, answering, serving
from tests.clients.test_security import BEARER, BOOK, KEY, OAUTH, Known
from toolgen.clients import HTTP, Body, Operation, Paging, Parameter, Requirement, Response, SecurityScheme
from toolgen.runtime import ToolError, ToolModel


class ListBooks(ToolModel):
    id: str
    cursor: str | None = None


class Page(ToolModel):
    items: list[str]
    next: str | None = None


SECRET = 'tok"en/1+2'
QUOTED = "tok%22en%2F1%2B2"


def filled(held: Body | None, scheme: SecurityScheme = BEARER, /, **places: Any) -> Any:
    http = HTTP(
        verb="POST",
        path="/books",
        parameters=() if held else (Parameter("id", "query"), Parameter("tags", "query")),
        body=held,
        responses=(Response(200),),
        security=((Requirement(scheme, **places),),),
    )
    return operation(http, errors={})


async def sent(of: Any, respond: Respond | None = None, **secrets: list[str]) -> list[Received]:
    known = Known(**secrets or {"token": [SECRET], "google": [SECRET], "library_key": [SECRET]})
    async with serving(respond or answering(BOOK)) as server:
        async with Books(server=server.url, credentials=known) as client:
            await client.send(of, GetBook(id="1"))
        return server.received


@pytest.mark.parametrize("scheme", [BEARER, OAUTH])
async def test_a_token_stands_in_a_further_header_and_the_query(scheme: SecurityScheme) -> None:
    [request] = await sent(filled(None, scheme, header="X-Token", query="to ken"))
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.headers["x-token"] == SECRET
    assert request.target == f"/books?id=1&to%20ken={QUOTED}"


async def test_a_key_stands_in_a_further_place() -> None:
    [request] = await sent(filled(None, KEY, query="key"))
    assert (request.headers["x-api-key"], request.target) == (SECRET, f"/books?id=1&key={QUOTED}")


@pytest.mark.parametrize(
    ("body", "content_type", "content"),
    [
        (None, "application/x-www-form-urlencoded", f"token={QUOTED}"),
        (Body(attributes=("id",)), "application/json", r'{"token": "tok\"en/1+2", "id":"1"}'),
        (Body(attributes=()), "application/json", r'{"token": "tok\"en/1+2"}'),
        (
            Body(attributes=("id",), content_type="application/merge-patch+json"),
            "application/merge-patch+json",
            r'{"token": "tok\"en/1+2", "id":"1"}',
        ),
        (Body(attributes=("id",), media="form"), "application/x-www-form-urlencoded", f"id=1&token={QUOTED}"),
        (Body(attributes=(), media="form"), "application/x-www-form-urlencoded", f"token={QUOTED}"),
    ],
)
async def test_a_token_stands_in_the_body(body: Body | None, content_type: str, content: str) -> None:
    [request] = await sent(filled(body, body="token"))
    assert request.headers["content-type"] == content_type
    assert request.body.decode() == content
    assert request.headers["authorization"] == f"Bearer {SECRET}"


async def test_a_token_is_a_part_of_a_multipart_body() -> None:
    for attributes in (("id",), ()):
        [request] = await sent(filled(Body(attributes=attributes, media="multipart"), body="token"))
        assert request.headers["content-type"].startswith("multipart/form-data; boundary=")
        part = f'Content-Disposition: form-data; name="token"\r\n\r\n{SECRET}\r\n'
        assert part.encode() in request.body


@pytest.mark.parametrize("places", [{"query": "access_token"}, {"body": "access_token"}])
async def test_an_access_token_is_sent_in_one_way(places: dict[str, str]) -> None:
    [request] = await sent(filled(None, **places))
    assert "authorization" not in request.headers
    assert f"access_token={QUOTED}" in f"{request.target}{request.body.decode()}"


async def test_another_token_stands_in_all_places() -> None:
    respond = answering(answer(401), BOOK)
    of = filled(Body(attributes=("id",), media="form"), header="token", body="token")
    [_, second] = await sent(of, respond, token=["old-token", "new-token"])
    assert second.body == b"id=1&token=new-token"
    assert (second.headers["token"], second.headers["authorization"]) == ("new-token", "Bearer new-token")


async def test_no_other_place_gets_it() -> None:
    respond = answering(answer(307, Location="https://elsewhere.example/books"))
    with pytest.raises(ToolError, match="was not followed"):
        await sent(filled(None, header="token", query="token"), respond)


async def test_a_payload_has_no_key_of_a_credential() -> None:
    with pytest.raises(ToolError, match="the payload must not have a key that is a credential"):
        await sent(filled(Body(attributes=("id",)), body="ID"))


async def test_an_answer_does_not_say_it() -> None:
    said = answer(200, f'{{"id":"1","title":"{QUOTED}"}}'.encode())
    known = Known(token=[SECRET])
    async with serving(answering(said)) as server, Books(server=server.url, credentials=known) as client:
        book = await client.send(filled(None, query="token"), GetBook(id="1"))
    assert isinstance(book, Book)
    assert QUOTED not in book.title


async def test_a_link_to_the_next_page_has_no_credential() -> None:
    link = f'</books?id=1&token={QUOTED}&page=2>; rel="next"'
    http = HTTP(
        verb="GET",
        path="/books",
        parameters=(Parameter("id", "query"),),
        responses=(Response(200),),
        paging=Paging(style="link", cursor="cursor", next="next"),
        security=((Requirement(BEARER, query="token"),),),
    )
    known = Known(token=[SECRET])
    respond = answering(answer(200, b'{"items":["a"]}', Link=link))
    of: Operation[Any, Any] = Operation("Books", "list", http, payload=ListBooks, result=Page, errors={})
    async with serving(respond) as server, Books(server=server.url, credentials=known) as client:
        page = await client.send(of, ListBooks(id="1"))
        assert page.next == "page=2"
        await client.send(of, ListBooks(id="1", cursor="page=2&token=mine"))
    assert [request.target for request in server.received] == [
        f"/books?id=1&token={QUOTED}",
        f"/books?id=1&page=2&token={QUOTED}",
    ]
