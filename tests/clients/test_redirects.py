"""Redirects, and addresses that are refused."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from typing import Any

import pytest

from tests.clients.books import Book, Books, GetBook, operation
from tests.clients.servers import Received, answer, answering, serving
from toolgen.clients import HTTP, Body, HTTPClient, Parameter, Response, Server, Variable
from toolgen.clients.servers import base_of, is_public
from toolgen.contract.transport import Verb
from toolgen.runtime import OutcomeUnknownError, RegistrationError, ToolError

BOOK = b'{"id":"1","title":"Dune"}'


def by(verb: Verb, *responses: Response) -> Any:
    body = Body(attributes=("id",)) if verb in ("POST", "PUT", "PATCH") else None
    parameters = () if body else (Parameter("id", "query"),)
    http = HTTP(
        verb=verb, path="/v1/books", parameters=parameters, body=body, responses=responses or (Response(200),)
    )
    return operation(http, errors={})


async def followed(of: Any, *answers: bytes, most_bytes: int = 10_000) -> tuple[Any, list[Received]]:
    """Return the result, or the error, and the requests."""
    respond = answering(*answers)
    async with (
        serving(respond) as server,
        Books(server=server.url, max_response_bytes=most_bytes) as client,
    ):
        try:
            return await client.send(of, GetBook(id="1")), server.received
        except ToolError as error:
            return error, server.received


def to(place: str, status: int = 302) -> bytes:
    return answer(status, b"", Location=place)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_safe_request_is_made_again_at_the_same_origin(status: int) -> None:
    result, requests = await followed(by("GET"), to("../v2/books?page=1#top", status), answer(200, BOOK))
    assert result == Book(id="1", title="Dune")
    assert [(one.verb, one.target) for one in requests] == [
        ("GET", "/v1/books?id=1"),
        ("GET", "/v2/books?page=1"),
    ]


@pytest.mark.parametrize("verb", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("status", [307, 308])
async def test_any_request_is_made_again_where_it_stays_the_same(verb: Verb, status: int) -> None:
    """By RFC 9110, sections 15.4.8 and 15.4.9: the method and the body stay."""
    result, requests = await followed(
        by(verb), to("/v1/books/", status), to("/v2/books/", status), answer(200, BOOK)
    )
    assert result == Book(id="1", title="Dune")
    sent = [(one.verb, one.body, one.headers.get("content-type")) for one in requests]
    assert sent == [sent[0]] * 3
    assert (sent[0][0], bool(sent[0][1])) == (verb, verb != "DELETE")
    assert [one.target for one in requests[1:]] == ["/v1/books/", "/v2/books/"]


@pytest.mark.parametrize("verb", ["POST", "PUT", "DELETE"])
async def test_what_was_done_is_read_elsewhere(verb: Verb) -> None:
    """By RFC 9110, section 15.4.4."""
    result, requests = await followed(by(verb), to("/v1/books/1", 303), answer(200, BOOK))
    assert result == Book(id="1", title="Dune")
    assert (requests[1].verb, requests[1].target, requests[1].body) == ("GET", "/v1/books/1", b"")
    assert "content-type" not in requests[1].headers


ELSEWHERE = [
    "http://169.254.169.254/latest/meta-data/",
    "http://localhost:1/",
    "//books.other/v1",
    "https://127.0.0.1/",
    "file:///etc/passwd",
    "ftp://127.0.0.1/",
    "http://127.0.0.1@books.other/",
    "javascript:alert(1)",
    "http://[::1/",
]


@pytest.mark.parametrize("place", ELSEWHERE)
async def test_no_other_origin_is_asked(place: str) -> None:
    error, requests = await followed(by("GET"), to(place))
    assert len(requests) == 1
    assert "redirects to" in str(error)
    assert "which was not followed" in str(error)


async def test_a_user_in_an_address_is_another_place() -> None:
    async def respond(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(to(f"http://me:s3cret@{request.headers['host']}/v1"))

    async with serving(respond) as server, Books(server=server.url) as client:
        with pytest.raises(ToolError, match="it is at another origin") as raised:
            await client.send(by("GET"), GetBook(id="1"))
        assert "s3cret" not in str(raised.value)


async def test_redirects_end() -> None:
    error, requests = await followed(by("GET"), to("/v1/books"))
    assert "redirects more than 3 times" in str(error)
    assert len(requests) == 4


@pytest.mark.parametrize("place", ELSEWHERE)
async def test_no_other_origin_gets_what_is_sent(place: str) -> None:
    error, requests = await followed(by("POST"), to(place, 307))
    assert len(requests) == 1
    assert "which was not followed" in str(error)


async def test_what_was_done_at_another_address_is_read_at_a_third() -> None:
    result, requests = await followed(
        by("POST"), to("/v1/books/", 307), to("/v1/books/1", 303), answer(200, BOOK)
    )
    assert result == Book(id="1", title="Dune")
    assert [(one.verb, bool(one.body)) for one in requests] == [
        ("POST", True),
        ("POST", True),
        ("GET", False),
    ]


async def test_the_answers_of_a_call_have_one_budget() -> None:
    """A redirect has a body too."""
    moved = answer(307, b"x" * 600, Location="/v2")
    large = answer(200, BOOK + b" " * 600)
    assert (await followed(by("POST"), large, most_bytes=1000))[0] == Book(id="1", title="Dune")
    error, requests = await followed(by("POST"), moved, large, most_bytes=1000)
    assert isinstance(error, OutcomeUnknownError)
    assert "the answer has more than 1000 bytes" in str(error)
    assert len(requests) == 2


async def test_a_redirect_without_a_place_is_a_status() -> None:
    error, _ = await followed(by("GET"), answer(302, b"moved"))
    assert "answered with status 302: moved" in str(error)


async def test_a_redirect_that_the_design_declares_is_an_answer() -> None:
    result, requests = await followed(by("GET", Response("3XX")), answer(302, BOOK, Location="/elsewhere"))
    assert (result, len(requests)) == (Book(id="1", title="Dune"), 1)


class Guarded(HTTPClient):
    servers = (
        Server(
            "http://{host}:{port}",
            (Variable(name="host", default="books.example"), Variable(name="port", default="80")),
        ),
        Server("http://imported.test:{port}", (Variable(name="port", default="80"),), is_accepted=False),
    )


PRIVATE = [
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0",
    "2130706433",
    "localhost",
]


@pytest.mark.parametrize("host", PRIVATE)
async def test_a_variable_leads_to_no_private_address(host: str) -> None:
    async with Guarded(variables={"host": host}) as client:
        with pytest.raises(
            ToolError, match=r"was not run: .* cannot be reached: it is at an address that is not public"
        ) as error:
            await client.send(by("GET"), GetBook(id="1"))
    assert not error.value.is_retryable


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[tuple[str, int]]:
    """Let the loop resolve a name to these addresses, one list after the other; return the questions."""
    asked: list[tuple[str, int]] = []
    left = list(answers)

    async def resolve(host: str, port: int, **options: Any) -> Any:
        asked.append((host, port))
        addresses = left.pop(0) if len(left) > 1 else left[0]
        return [(0, 0, 0, "", (address, port)) for address in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    return asked


async def test_one_private_address_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["93.184.215.14", "10.0.0.1"])
    async with Guarded(variables={"host": "books.test"}) as client:
        with pytest.raises(ToolError, match="address that is not public"):
            await client.send(by("GET"), GetBook(id="1"))


async def test_a_server_that_nobody_has_accepted_is_public(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    resolving(monkeypatch, ["192.168.0.1"])
    async with Guarded(server=Guarded.servers[1].url) as client:
        with pytest.raises(ToolError, match="address that is not public"):
            await client.send(by("GET"), GetBook(id="1"))
    assert "192.168.0.1" in caplog.text
    assert "write accepted=True" in caplog.text


async def test_the_connection_is_made_to_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that is another address a moment later is never resolved again."""
    monkeypatch.setattr("toolgen.clients.servers.is_public", lambda address: str(address) != "10.0.0.1")
    asked = resolving(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    async with serving(answering(answer(200, BOOK))) as server:
        port = server.url.rpartition(":")[2]
        async with Guarded(variables={"host": "books.test", "port": port}) as client:
            assert await client.send(by("GET"), GetBook(id="1")) == Book(id="1", title="Dune")
    assert asked == [("books.test", int(port))]
    assert server.received[0].headers["host"] == f"books.test:{port}"


async def test_the_name_is_what_a_certificate_has_to_have(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str | bytes | None] = []
    original = ssl.SSLContext.wrap_bio

    def wrap(*args: Any, **options: Any) -> Any:
        names.append(options["server_hostname"])
        return original(*args, **options)

    async def no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    monkeypatch.setattr(ssl.SSLContext, "wrap_bio", wrap)
    monkeypatch.setattr("toolgen.clients.servers.is_public", lambda address: True)
    resolving(monkeypatch, ["127.0.0.1"])
    async with await asyncio.start_server(no_tls, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]

        class Imported(HTTPClient):
            servers = (Server(f"https://books.test:{port}", is_accepted=False),)

        async with Imported() as client:
            with pytest.raises(ToolError, match="was not run"):
                await client.send(by("GET"), GetBook(id="1"))
    assert names == [b"books.test"]


async def test_other_addresses_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolgen.clients.servers.is_public", lambda address: True)
    resolving(monkeypatch, ["127.0.0.2", "127.0.0.1"])
    async with serving(answering(answer(200, BOOK))) as server:
        port = server.url.rpartition(":")[2]
        async with Guarded(variables={"host": "books.test", "port": port}) as client:
            assert await client.send(by("GET"), GetBook(id="1")) == Book(id="1", title="Dune")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("100.64.0.1", False),
        ("192.0.2.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff0e::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::10.0.0.1", False),
        ("64:ff9b::93.184.215.14", True),
        ("2002:7f00:1::", False),
        ("2001:db8::1", False),
        ("::127.0.0.1", False),
        ("::ffff:0:10.0.0.1", False),
        ("64:ff9b:1::10.0.0.1", False),
        ("fec0::1", False),
        ("192.0.0.192", False),
        ("192.88.99.1", False),
        ("168.63.129.16", False),
        ("168.63.129.17", True),
        ("::ffff:168.63.129.16", False),
        ("64:ff9b::192.88.99.1", False),
        ("100:0:0:1::1", False),
        ("3fff::1", False),
        ("3fff:1000::1", True),
        ("5f00::1", False),
    ],
)
def test_public_addresses(address: str, expected: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) == expected


EU = Variable(name="region", default="eu", values=("eu", "us"))
SERVERS = (Server("https://{region}.books.example:8443/{base}", (EU, Variable(name="base", default="v1"))),)


def test_variables_of_a_server() -> None:
    assert base_of(SERVERS, "", {}).url == "https://eu.books.example:8443/v1"
    assert not base_of(SERVERS, "", {"region": "eu"}).is_guarded
    changed = base_of(SERVERS, SERVERS[0].url, {"region": "us", "base": "v2/x/"})
    assert (changed.url, changed.is_guarded) == ("https://us.books.example:8443/v2/x", True)
    assert not base_of(SERVERS, "http://10.0.0.1:80/", {}).is_guarded, "the host has chosen it"


@pytest.mark.parametrize(
    ("server", "variables", "message"),
    [
        ("", {"region": "asia"}, "it must be one of: eu, us"),
        ("", {"zone": "1"}, "has no variable 'zone'; it has: base, region"),
        ("", {"base": "v1?x="}, "which cannot be part of an address"),
        ("", {"base": "../admin"}, "which cannot be part of an address"),
        ("", {"base": "@evil.example"}, "which cannot be part of an address"),
        ("ftp://books.example", {}, "has no address"),
        ("books.example", {}, "has no address"),
        ("https://me:secret@books.example", {}, "has more in its address"),
        ("https://books.example/?a=b", {}, "has more in its address"),
        ("https://{region}.books.example", {}, "has more in its address"),
        ("https://books.example:port", {}, "has no address"),
    ],
)
def test_a_server_that_does_not_fit_is_refused(server: str, variables: dict[str, str], message: str) -> None:
    with pytest.raises(RegistrationError, match=message) as raised:
        base_of(SERVERS, server, variables)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("value", ["evil.example/", "a@b", "a#b", "a?b", "a b", "a\\b", "a\nb", "a..b", ""])
def test_a_value_in_a_host_stays_there(value: str) -> None:
    servers = (Server("https://{host}.books.example", (Variable(name="host", default="eu"),)),)
    with pytest.raises(RegistrationError):
        base_of(servers, "", {"host": value})


def test_a_client_without_a_server_is_refused() -> None:
    with pytest.raises(RegistrationError, match="has no server"):
        HTTPClient()


async def test_a_request_that_is_lost_where_it_leads_is_unknown() -> None:
    """Sent twice, it is one call: without its answer nobody knows what the second place did."""

    async def respond(request: Received, writer: asyncio.StreamWriter) -> None:
        if request.target == "/v1/books":
            writer.write(to("/v1/books/", 307))
        else:
            writer.close()

    async with serving(respond) as server, Books(server=server.url) as client:
        with pytest.raises(OutcomeUnknownError, match="it may have run"):
            await client.send(by("POST"), GetBook(id="1"))
        assert len(server.received) == 2
        with pytest.raises(ToolError) as raised:
            await client.send(by("PUT"), GetBook(id="1"))
    assert not isinstance(raised.value, OutcomeUnknownError), "twice does the same as once"


async def test_a_lost_redirect_of_what_was_done_is_unknown() -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        listening.close()
        writer.write(answer(303, b"", Location="/v1/done", Connection="close"))
        writer.close()

    listening = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with Books(server=f"http://127.0.0.1:{port}") as client:
        with pytest.raises(OutcomeUnknownError, match="it may have run"):
            await client.send(by("POST"), GetBook(id="1"))
