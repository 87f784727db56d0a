"""Connections and their failures: what was not sent, what may have run, limits of time and of answers."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
from typing import Any

import httpx
import pytest

from tests.clients.books import GET_BOOK, Book, Books, GetBook, operation
from tests.clients.clock import by_clock
from tests.clients.servers import Received, answer, answering, serving
from tests.clients.writing import BOOK, POST, PUT, closed_port, never, writes
from toolgen.clients import HTTP, Response
from toolgen.runtime import OutcomeUnknownError, ToolError, ToolModel


class Version(ToolModel):
    etag: str


async def failure_of(of: Any, respond: Any, **options: Any) -> ToolError:
    async with serving(respond) as server, Books(server=server.url, **options) as client:
        with pytest.raises(ToolError) as raised:
            await client.send(of, GetBook(id="1"))
        return raised.value


GZIP = gzip.compress(b" ")
LOST = {
    "closed": writes(b""),
    "cut": writes(answer(200, BOOK)[:-3]),
    "cut head": writes(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "cut chunks": writes(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"'),
    "no HTTP": writes(b"220 mail.example ESMTP\r\n"),
    "long head": writes(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000),
    "many headers": writes(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 40_000 + b"\r\n"),
    "unknown coding": writes(answer(200, BOOK, Content_Encoding="br")),
    "many codings": writes(answer(200, BOOK, Content_Encoding="gzip, gzip, gzip")),
    "cut member": writes(answer(200, gzip.compress(BOOK) + GZIP[:12], Content_Encoding="gzip")),
    "no gzip": writes(answer(200, BOOK, Content_Encoding="gzip")),
    "cut gzip": writes(answer(200, gzip.compress(BOOK)[:-12], Content_Encoding="gzip")),
}


@pytest.mark.parametrize("case", LOST)
async def test_a_lost_answer_is_unknown_where_the_request_may_not_repeat(case: str) -> None:
    failure = await failure_of(POST, LOST[case])
    assert isinstance(failure, OutcomeUnknownError)
    assert str(failure).startswith("Books.get_book has no result: ")
    assert str(failure).endswith("; it may have run")


@pytest.mark.exhaustive
@pytest.mark.parametrize("of", [GET_BOOK, PUT])
@pytest.mark.parametrize("case", LOST)
async def test_a_lost_answer_may_be_asked_for_again_by_an_idempotent_verb(case: str, of: Any) -> None:
    failure = await failure_of(of, LOST[case])
    assert not isinstance(failure, OutcomeUnknownError)
    assert failure.is_retryable
    assert failure.retry_hint is not None
    assert failure.retry_hint.reason == "tool_unavailable"


async def test_an_answer_that_is_too_long_is_not_asked_for_again() -> None:
    long = answering(answer(200, BOOK + b" " * 1_000))
    failure = await failure_of(GET_BOOK, long, max_response_bytes=1_000)
    assert "more than 1000 bytes" in str(failure)
    assert not failure.is_retryable
    assert isinstance(await failure_of(POST, long, max_response_bytes=1_000), OutcomeUnknownError)


@pytest.mark.exhaustive
async def test_a_bomb_is_unpacked_no_further_than_its_limit() -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    twice = gzip.compress(bomb)
    for packed, coding in ((bomb, "gzip"), (twice, "gzip, gzip")):
        failure = await failure_of(GET_BOOK, writes(answer(200, packed, Content_Encoding=coding)))
        assert "more than 4194304 bytes" in str(failure)


def chunked(chunks: bytes, **headers: str) -> bytes:
    """Return an answer whose body is these chunks and the last one."""
    lines = [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    head = "\r\n".join(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *lines, "", ""])
    return head.encode() + chunks + b"0\r\n\r\n"


EMPTY = gzip.compress(b"")
FLOODS = {
    "chunks": (chunked(b"1\r\n \r\n" * 20_000), "more than 10000 chunks of fewer than 1024 bytes"),
    "members": (
        answer(200, EMPTY * 20_000, Content_Encoding="gzip"),
        "more than 10000 chunks of fewer than 1024 bytes",
    ),
    "members of a member": (
        answer(200, gzip.compress(EMPTY * 1_000_000), Content_Encoding="gzip, gzip"),
        "more than 10000 chunks of fewer than 1024 bytes",
    ),
    "name of a member of a member": (
        answer(200, gzip.compress(b"\x1f\x8b\x08\x08" + b"x" * 5_000_000), Content_Encoding="gzip, gzip"),
        "more than 4194304 bytes",
    ),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, "more than 262144 bytes before its response"),
    "long interim": (
        (b"HTTP/1.1 103 Early Hints\r\nLink: " + b"x" * 60_000 + b"\r\n\r\n") * 20,
        "more than 262144 bytes before its response",
    ),
}


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_flood_ends_at_its_budget_and_is_not_asked_for_again(flood: str) -> None:
    sent, said = FLOODS[flood]
    failure = await failure_of(GET_BOOK, writes(sent))
    assert said in str(failure)
    assert not failure.is_retryable
    assert isinstance(await failure_of(POST, writes(sent)), OutcomeUnknownError)


@pytest.mark.parametrize("flood", ["chunks", "members"])
async def test_answers_to_a_given_client_have_the_same_budgets(flood: str) -> None:
    async with httpx.AsyncClient(verify=False) as http:
        assert FLOODS[flood][1] in str(await failure_of(GET_BOOK, writes(FLOODS[flood][0]), http=http))


async def test_of_a_failure_in_many_chunks_the_beginning_is_enough() -> None:
    sent = chunked(b"1\r\nx\r\n" * 20_000).replace(b"200 OK", b"400 No")
    assert "answered with status 400" in str(await failure_of(POST, writes(sent)))


async def test_interim_responses_and_small_chunks_are_no_failure() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in BOOK + b" " * 5_000)
    async with (
        serving(answering(hints + chunked(body))) as server,
        Books(server=server.url) as client,
    ):
        for _ in range(2):
            assert await client.send(GET_BOOK, GetBook(id="1")) == Book(id="1", title="Dune")
        assert server.connections == 1


async def test_a_connection_whose_answer_has_two_ends_is_not_used_again() -> None:
    """Its length is of somebody else's answer, where a proxy reads that."""
    body = b"%x\r\n%b\r\n" % (len(BOOK), BOOK)
    async with (
        serving(answering(chunked(body, Content_Length=str(len(body) + 5)))) as server,
        Books(server=server.url) as client,
    ):
        for _ in range(2):
            assert await client.send(GET_BOOK, GetBook(id="1")) == Book(id="1", title="Dune")
        assert server.connections == 2


async def test_an_endless_answer_ends_at_the_limit() -> None:
    async def respond(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65_536)
            await writer.drain()

    assert "more than 100000 bytes" in str(await failure_of(GET_BOOK, respond, max_response_bytes=100_000))


async def test_of_a_failure_the_beginning_is_enough() -> None:
    failure = await failure_of(POST, answering(answer(500, b"x" * 5_000)), max_response_bytes=1_000)
    assert "answered with status 500" in str(failure)
    assert not isinstance(failure, OutcomeUnknownError)
    cut = await failure_of(POST, writes(answer(400, b"no such book")[:-2]))
    assert "answered with status 400" in str(cut)


@by_clock
async def test_a_slow_answer_is_lost_when_the_time_is_over() -> None:
    assert isinstance(await failure_of(POST, never), OutcomeUnknownError)
    failure = await failure_of(GET_BOOK, never, timeout_s=5)
    assert str(failure) == "Books.get_book has no result: no answer came within 5 seconds"
    assert failure.retry_hint is not None
    assert failure.retry_hint.reason == "timeout"


@by_clock
async def test_a_slow_body_is_lost_when_the_time_is_over() -> None:
    async def respond(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(200, BOOK)[:-3])
        await writer.drain()
        await never(request, writer)

    assert isinstance(await failure_of(POST, respond), OutcomeUnknownError)


@pytest.mark.parametrize("of", [GET_BOOK, POST])
async def test_a_connection_that_was_not_made_is_no_unknown_outcome(of: Any) -> None:
    async with Books(server=f"http://127.0.0.1:{closed_port()}") as client:
        with pytest.raises(ToolError, match=r"was not run: 127\.0\.0\.1 cannot be reached") as raised:
            await client.send(of, GetBook(id="1"))
    assert not isinstance(raised.value, OutcomeUnknownError)
    assert raised.value.is_retryable


async def test_connections_are_used_again() -> None:
    async with serving(answering(answer(200, BOOK))) as server, Books(server=server.url) as client:
        for _ in range(3):
            await client.send(GET_BOOK, GetBook(id="1"))
        assert [request.connection for request in server.received] == [1, 1, 1]
        await client.aclose()
        assert await client.send(GET_BOOK, GetBook(id="1")) == Book(id="1", title="Dune")
        assert server.connections == 2


@pytest.mark.parametrize("is_failure", [False, True])
async def test_what_comes_after_an_answer_is_no_answer_to_the_next_request(is_failure: bool) -> None:
    other = answer(200, b'{"id":"1","title":"of somebody else"}')
    first = answer(500 if is_failure else 200, BOOK) + other
    async with (
        serving(answering(first, answer(200, BOOK))) as server,
        Books(server=server.url) as client,
    ):
        if is_failure:
            with pytest.raises(ToolError):
                await client.send(GET_BOOK, GetBook(id="1"))
        else:
            await client.send(GET_BOOK, GetBook(id="1"))
        assert await client.send(GET_BOOK, GetBook(id="1")) == Book(id="1", title="Dune")
        assert [request.connection for request in server.received] == [1, 2]


def test_a_client_is_used_in_one_loop_after_the_other() -> None:
    port = closed_port()
    client = Books(server=f"http://127.0.0.1:{port}")

    async def use() -> int:
        async with serving(answering(answer(200, BOOK)), port) as server:
            await client.send(GET_BOOK, GetBook(id="1"))
            await client.aclose()
            return server.connections

    assert [asyncio.run(use()), asyncio.run(use())] == [1, 1]


async def test_cookies_of_one_answer_are_in_no_other_request() -> None:
    answered = answer(200, BOOK, Set_Cookie="session=1; Path=/")
    async with serving(answering(answered)) as server, httpx.AsyncClient(verify=False) as http:
        for client in (Books(server=server.url), Books(server=server.url, http=http)):
            async with client:
                await client.send(GET_BOOK, GetBook(id="1"))
                await client.send(GET_BOOK, GetBook(id="1"))
        assert not any("cookie" in request.headers for request in server.received)


async def test_an_answer_without_a_body_keeps_its_connection() -> None:
    http = HTTP(verb="HEAD", path="/books", responses=(Response(200, headers={"etag": "ETag"}),))
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Encoding: br\r\nETag: x\r\n\r\n"
    of = operation(http, result=Version)
    async with serving(answering(head)) as server, Books(server=server.url) as client:
        for _ in range(2):
            assert await client.send(of, GetBook(id="1")) == Version(etag="x")
        assert server.connections == 1


async def test_headers_of_a_given_client_are_sent() -> None:
    given = {"X-Team": "a", "Accept": "text/html", "Accept-Encoding": "br", "User-Agent": "office"}
    async with (
        serving(answering(answer(200, BOOK))) as server,
        httpx.AsyncClient(verify=False, headers=given) as http,
    ):
        await Books(server=server.url, http=http).send(GET_BOOK, GetBook(id="1"))
        headers = server.received[0].headers
    assert (headers["x-team"], headers["user-agent"]) == ("a", "office")
    assert (headers["accept"], headers["accept-encoding"]) == ("application/json", "gzip, deflate")


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_a_hook_of_a_given_client_may_read_answers(coding: str) -> None:
    async def read(response: httpx.Response) -> None:
        await response.aread()

    packed = gzip.compress(BOOK) if coding == "gzip" else BOOK
    async with (
        serving(answering(answer(200, packed, Content_Encoding=coding))) as server,
        httpx.AsyncClient(event_hooks={"response": [read]}) as http,
        Books(server=server.url, http=http) as client,
    ):
        assert await client.send(GET_BOOK, GetBook(id="1")) == Book(id="1", title="Dune")
        short = Books(server=server.url, http=http, max_response_bytes=5)
        with pytest.raises(ToolError, match="more than 5 bytes"):
            await short.send(GET_BOOK, GetBook(id="1"))


async def test_a_hook_of_a_given_client_may_take_answers() -> None:
    async def take(response: httpx.Response) -> None:
        async for _ in response.aiter_raw():
            pass

    async with (
        serving(answering(answer(200, BOOK))) as server,
        httpx.AsyncClient(event_hooks={"response": [take]}) as http,
        Books(server=server.url, http=http) as client,
    ):
        with pytest.raises(ToolError, match="a hook of its client consumed the answer"):
            await client.send(GET_BOOK, GetBook(id="1"))


async def test_a_given_client_stays_open_and_has_no_say_in_what_is_followed() -> None:
    redirect = answer(302, b"", Location="http://books.other/")
    async with (
        serving(answering(redirect)) as server,
        httpx.AsyncClient(verify=False, follow_redirects=True) as http,
    ):
        async with Books(server=server.url, http=http) as client:
            with pytest.raises(ToolError, match=r"redirects to http://books\.other/"):
                await client.send(GET_BOOK, GetBook(id="1"))
        assert not http.is_closed
        assert len(server.received) == 1


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    async with serving(answering(answer(200, BOOK))) as server, Books(server=server.url) as client:
        assert await client.send(GET_BOOK, GetBook(id="1")) == Book(id="1", title="Dune")


def test_connections_end_with_their_loop() -> None:
    """A client that nobody closes, as one that a bound executor has made, leaves no connection open."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = Books(server=f"http://127.0.0.1:{listening.getsockname()[1]}")
        for _ in range(2):
            connection = threading.Thread(target=_answer_until_closed, args=(listening,), daemon=True)
            connection.start()
            assert asyncio.run(client.send(GET_BOOK, GetBook(id="1"))).title == "Dune"
            connection.join(30)
            assert not connection.is_alive()


def _answer_until_closed(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(answer(200, BOOK))
        while connection.recv(65_536):
            pass
