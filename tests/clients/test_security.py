"""Credentials of requests: where they stand, when another one is asked for, and that nothing tells them."""

from __future__ import annotations

import json
import logging
import traceback
from base64 import b64encode
from typing import Annotated, Any

import httpx
import pytest
from pydantic import Field

from tests.clients.books import Book, Books, GetBook, operation
from tests.clients.servers import Received, Respond, answer, answering, serving
from tests.selection import diagonal
from toolgen.capabilities import CredentialNeededError
from toolgen.clients import HTTP, OAuthFlow, Paging, Parameter, Requirement, Response, SecurityScheme, calling
from toolgen.contract.credentials import Credential
from toolgen.contract.secrets import HIDDEN
from toolgen.contract.transport import Security
from toolgen.runtime import Runtime, ToolContext, ToolError, ToolModel
from toolgen.runtime.functions import func_tool, function_toolset

BOOK = answer(200, b'{"id":"1","title":"Dune"}')
SECRET = "s3cret/key+with=signs"
KEY = SecurityScheme(name="library_key", kind="api_key", key="X-Api-Key")
IN_QUERY = SecurityScheme(name="query_key", kind="api_key", place="query", key="api key")
IN_COOKIE = SecurityScheme(name="cookie_key", kind="api_key", place="cookie", key="key")
BASIC = SecurityScheme(name="login", kind="basic")
BEARER = SecurityScheme(name="token", kind="bearer")
OAUTH = SecurityScheme(
    name="google", kind="oauth2", flow=OAuthFlow(kind="client_credentials", token="https://t.example")
)
QUOTED = "s3cret%2Fkey%2Bwith%3Dsigns"


class Known:
    """Credentials by the names of their schemes; each refused one is replaced by the next."""

    def __init__(self, **secrets: list[str]) -> None:
        self._secrets = secrets
        self.asked: list[str] = []

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        self.asked.append(f"{service}.{requirement.scheme.name}")
        secrets = self._secrets.get(requirement.scheme.name)
        return Credential(secret=secrets[0], username="frank") if secrets else None

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        secrets = self._secrets[requirement.scheme.name]
        if secrets and refused.secret == secrets[0]:
            secrets.pop(0)
        return Credential(secret=secrets[0], username="frank") if secrets else None

    async def address(self, service: str, requirement: Requirement) -> str:
        return ""


def secured(*alternatives: tuple[SecurityScheme, ...]) -> Any:
    security: Security = tuple(tuple(map(Requirement, schemes)) for schemes in alternatives)
    http = HTTP(
        verb="GET",
        path="/books",
        parameters=(Parameter("id", "query"), Parameter("tags", "cookie")),
        responses=(Response(200),),
        security=security,
    )
    return operation(http, errors={})


async def sent(of: Any, credentials: Any, respond: Respond | None = None) -> list[Received]:
    async with serving(respond or answering(BOOK)) as server:
        async with Books(server=server.url, credentials=credentials) as client:
            assert await client.send(of, GetBook(id="1", tags=["a"])) == Book(id="1", title="Dune")
        return server.received


@pytest.mark.parametrize(
    ("scheme", "header", "expected"),
    [
        (KEY, "x-api-key", SECRET),
        (IN_COOKIE, "cookie", f"tags=a; key={QUOTED}"),
        (BASIC, "authorization", f"Basic {b64encode(f'frank:{SECRET}'.encode()).decode()}"),
        (BEARER, "authorization", f"Bearer {SECRET}"),
        (OAUTH, "authorization", f"Bearer {SECRET}"),
    ],
)
async def test_credentials_in_headers(scheme: SecurityScheme, header: str, expected: str) -> None:
    [request] = await sent(secured((scheme,)), Known(**{scheme.name: [SECRET]}))
    assert request.headers[header] == expected


async def test_a_key_in_the_query() -> None:
    [request] = await sent(secured((IN_QUERY,)), Known(query_key=[SECRET]))
    assert request.target == f"/books?id=1&api%20key={QUOTED}"


async def test_the_first_alternative_counts_whose_credentials_are_all_there() -> None:
    of = secured((KEY, BASIC), (BEARER,), (IN_QUERY,))
    [request] = await sent(of, Known(library_key=["1"], token=["2"], query_key=["3"]))
    assert request.headers["authorization"] == "Bearer 2"
    assert "x-api-key" not in request.headers
    [both] = await sent(of, Known(library_key=["1"], login=["2"]))
    assert (both.headers["x-api-key"], both.headers["authorization"]) == ("1", "Basic ZnJhbms6Mg==")


async def test_an_alternative_may_need_nothing() -> None:
    [request] = await sent(secured((KEY,), ()), Known())
    assert "x-api-key" not in request.headers


async def test_a_missing_credential_is_said_and_nothing_sent() -> None:
    with pytest.raises(CredentialNeededError) as raised:
        await sent(secured((OAUTH,), (BASIC,)), Known())
    assert (raised.value.service, raised.value.requirement.scheme) == ("Books", OAUTH)
    assert raised.value.address.startswith("http://127.0.0.1:")


async def test_what_is_there_is_not_what_is_missing() -> None:
    with pytest.raises(CredentialNeededError) as raised:
        await sent(secured((KEY, BASIC), (BEARER,)), Known(library_key=["1"]))
    assert raised.value.requirement.scheme == BASIC


def refusing(*refused: str) -> Respond:
    async def respond(request: Received, writer: Any) -> None:
        key = request.headers.get("x-api-key", "")
        writer.write(answer(401, f"no key {key}".encode()) if key in refused else BOOK)

    return respond


async def test_a_refused_credential_is_replaced_once() -> None:
    requests = await sent(secured((KEY,)), Known(library_key=["old", "new"]), refusing("old"))
    assert [request.headers["x-api-key"] for request in requests] == ["old", "new"]


@pytest.mark.parametrize("secrets", [["old"], ["old", "older"], ["old", "older", "new"]])
async def test_where_none_is_left_one_is_needed(secrets: list[str]) -> None:
    with pytest.raises(CredentialNeededError, match="'library_key', which the service rejected; "):
        await sent(secured((KEY,)), Known(library_key=secrets), refusing("old", "older"))


async def test_a_service_that_needs_more_than_nothing_needs_the_first() -> None:
    with pytest.raises(CredentialNeededError) as raised:
        await sent(secured((), (KEY,)), Known(), answering(answer(401, b"")))
    assert raised.value.requirement.scheme == KEY


async def test_a_key_is_the_only_header_of_its_name() -> None:
    http = HTTP(
        verb="GET",
        path="/books",
        parameters=(Parameter("id", "header", "X-API-KEY"),),
        responses=(Response(200),),
        security=((Requirement(KEY),),),
    )
    async with serving(answering(BOOK)) as server:
        async with Books(server=server.url, credentials=Known(library_key=[SECRET])) as client:
            await client.send(operation(http, errors={}), GetBook(id="of a model"))
        assert server.received[0].headers["x-api-key"] == SECRET


async def test_a_401_without_credentials_is_a_status() -> None:
    with pytest.raises(ToolError, match="answered with status 401"):
        await sent(secured(), Known(), answering(answer(401, b"")))


@pytest.mark.parametrize("secret", ["a\r\nX-Evil: 1", "a\x00", "é", "abc\n", " abc", "abc "])
async def test_a_secret_breaks_no_header(secret: str) -> None:
    for scheme in (KEY, BEARER, IN_QUERY, IN_COOKIE):
        with pytest.raises(ToolError, match="has characters that a request must not have") as raised:
            await sent(secured((scheme,)), Known(**{scheme.name: [secret]}))
        assert secret not in str(raised.value)


async def test_a_redirect_takes_the_credentials_along() -> None:
    moved = answer(307, b"", Location=f"/v2?api%20key={QUOTED}")
    requests = await sent(secured((IN_QUERY,)), Known(query_key=[SECRET]), answering(moved, BOOK))
    assert [request.target for request in requests] == [
        f"/books?id=1&api%20key={QUOTED}",
        f"/v2?api%20key={QUOTED}",
    ]
    moved = answer(307, b"", Location="/v2")
    requests = await sent(secured((IN_QUERY,)), Known(query_key=[SECRET]), answering(moved, BOOK))
    assert requests[1].target == f"/v2?api%20key={QUOTED}"


async def test_the_environment_has_credentials_where_nobody_gave_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLGEN_BOOKS__LIBRARY_KEY", "from the environment")
    [request] = await sent(secured((KEY,)), None)
    assert request.headers["x-api-key"] == "from the environment"


class Echo(ToolModel):
    said: str
    place: str | None = None


@pytest.mark.parametrize("scheme", [KEY, IN_QUERY, IN_COOKIE, BASIC, BEARER, OAUTH])
async def test_a_result_says_no_credential_back(scheme: SecurityScheme) -> None:
    async def respond(request: Received, writer: Any) -> None:
        said = json.dumps({"said": f"{request.target} {request.headers}"}).replace("/", "\\/").encode()
        writer.write(answer(200, said, X_Place=request.target))

    http = HTTP(
        verb="GET",
        path="/books",
        responses=(Response(200, headers={"place": "X-Place"}),),
        security=((Requirement(scheme),),),
    )
    of = operation(http, result=Echo, errors={})
    async with serving(respond) as server:
        client = Books(server=server.url, credentials=Known(**{scheme.name: [SECRET]}))
        result = await client.send(of, GetBook(id="1"))
        await client.aclose()
    assert "•••• (sensitive)" in result.said
    assert not any(form in f"{result.said} {result.place}" for form in forms(SECRET))


class Listing(ToolModel):
    cursor: str | None = None


class Listed(ToolModel):
    books: list[str]
    next_: Annotated[str | None, Field(alias="next")] = None


async def test_a_cursor_has_no_key_and_changes_none() -> None:
    """Servers repeat the whole query in the link to the next page."""
    link = f'</books?after=3&api%20key={QUOTED}>; rel="next"'
    http = HTTP(
        verb="GET",
        path="/books",
        responses=(Response(200),),
        paging=Paging(style="link", cursor="cursor", next="next"),
        security=((Requirement(IN_QUERY),),),
    )
    of = operation(http, payload=Listing, result=Listed, errors={})
    async with serving(answering(answer(200, b'{"books":[]}', Link=link))) as server:
        client = Books(server=server.url, credentials=Known(query_key=[SECRET]))
        assert (await client.send(of, Listing())).next_ == "after=3"
        await client.send(of, Listing(cursor="after=3&api+key=of-a-model"))
        await client.aclose()
        assert server.received[1].target == f"/books?after=3&api%20key={QUOTED}"


# Tokens are hunted in all that a call tells.


def echoing(status: int) -> Respond:
    """Answer with all that a request had, as servers do that say too much."""

    async def respond(request: Received, writer: Any) -> None:
        said = f"{request.target} {request.headers}".encode()
        writer.write(answer(status, said, Location=f"http://elsewhere.test{request.target}"))

    return respond


@pytest.mark.parametrize(
    ("said", "charset"),
    [(SECRET, "utf-16le"), (SECRET, "utf-16be"), ("s3cret%2fkey%2bwith%3dsigns", "utf-8")],
)
async def test_a_secret_is_not_said_back_in_another_writing(said: str, charset: str) -> None:
    body = f"you said {said}".encode(charset)
    respond = answering(answer(200, body, Content_Type=f"text/plain; charset={charset}"))
    http = HTTP(
        verb="GET",
        path="/books",
        parameters=(Parameter("id", "query"),),
        responses=(Response(200, body="title", media="text", headers={"id": "Content-Length"}),),
        security=((Requirement(KEY),),),
    )
    async with (
        serving(respond) as server,
        Books(server=server.url, credentials=Known(library_key=[SECRET])) as client,
    ):
        book = await client.send(operation(http), GetBook(id="1"))
    assert book.title.startswith("you said ")
    assert said not in book.title


async def test_a_secret_beyond_ascii_is_not_said_back_in_a_declared_charset() -> None:
    data = json.dumps({"id": "1", "title": "pässwörter"}, ensure_ascii=False).encode("latin-1")
    respond = answering(answer(200, data, Content_Type="application/json; charset=ISO-8859-1"))
    credentials = Known(login=["pässwörter"])
    async with serving(respond) as server, Books(server=server.url, credentials=credentials) as client:
        book = await client.send(secured((BASIC,)), GetBook(id="1"))
    assert book.title == HIDDEN.replace("•", "?")


def forms(secret: str) -> list[str]:
    return [secret, QUOTED, b64encode(f"frank:{secret}".encode()).decode()]


@pytest.mark.parametrize(
    ("scheme", "status", "is_given"),
    diagonal([KEY, IN_QUERY, IN_COOKIE, BASIC, BEARER, OAUTH], [200, 302, 400, 401, 500], [False, True]),
)
async def test_nothing_tells_a_secret(
    scheme: SecurityScheme, status: int, is_given: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    async with serving(echoing(status)) as server, httpx.AsyncClient(verify=False) as http:
        credentials = Known(**{scheme.name: [SECRET]})
        client = Books(server=server.url, credentials=credentials, http=http if is_given else None)

        async def get(ctx: ToolContext) -> str:
            """Get a book."""
            try:
                with calling(ctx):
                    await client.send(secured((scheme,)), GetBook(id="1"))
            except ToolError as error:
                seen.append("".join(traceback.format_exception(error)))
                seen.append(repr(error))
                raise
            return "done"

        runtime = Runtime()
        runtime.tools.register(function_toolset("library.books", [func_tool(get)]))
        result = await runtime.call("get", {})
        with pytest.raises(ToolError) as raised:
            await client.send(secured((scheme,)), GetBook(id="1"))
        await client.aclose()
    seen += [
        result.json.decode(),
        repr(result),
        "".join(traceback.format_exception(raised.value)),
        repr(client),
        *(record.getMessage() for record in caplog.records),
        caplog.text,
    ]
    for text in seen:
        for form in forms(SECRET):
            assert form not in text


@pytest.mark.parametrize(
    "quoted",
    [SECRET, QUOTED, SECRET.replace("/", r"\/"), SECRET.replace("+", r"\u002B")],
    ids=["plain", "percent", "PHP", ".NET"],
)
async def test_a_result_quotes_no_credential(quoted: str) -> None:
    """It goes to a model, and into a journal."""
    body = f'{{"id":"1","title":"for {quoted}!"}}'.encode()
    credentials = Known(library_key=[SECRET])
    async with (
        serving(answering(answer(200, body))) as server,
        Books(server=server.url, credentials=credentials) as client,
    ):
        book = await client.send(secured((KEY,)), GetBook(id="1"))
    assert book == Book(id="1", title=f"for {HIDDEN}!")
