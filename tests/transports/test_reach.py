"""Every value that a client executes can be written in a design, so that importers can write it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any as Anything
from typing import Literal, get_args, get_origin, get_type_hints

from tests.checked import built
from tests.transports.designs import BOOK, KEY
from toolgen.contract import transport
from toolgen.dsl import (
    ArrayOf,
    Attribute,
    Bytes,
    Error,
    Function,
    Int,
    Method,
    Payload,
    Result,
    Service,
    String,
)
from toolgen.dsl.http import (
    DELETE,
    GET,
    HEAD,
    HTTP,
    OPTIONS,
    PATCH,
    POST,
    PUT,
    Accept,
    APIKeySecurity,
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    Body,
    ClientCredentialsFlow,
    Cookie,
    File,
    Header,
    NoSecurity,
    OAuth2Security,
    Paging,
    Param,
    Response,
    Scope,
    Security,
    Server,
    Variable,
)

NOT_READ = {("Response", "media", "multipart")}
"""What no client reads of an answer."""
CHANGED = "another value than its default"

ADDRESS = "https://a.example"
PAYLOAD = Payload(
    Attribute("id", String, "Id.", required=True),
    Attribute("list", ArrayOf(String), "List."),
    Attribute("book", BOOK, "Book."),
    Attribute("file", Bytes, "File."),
    Attribute("size", Int, "Most."),
    Attribute("cursor", String, "Next page."),
    Attribute("text", String, "Text."),
)
RESULT = Result(
    Attribute("list", ArrayOf(String), "List."),
    Attribute("file", Bytes, "File."),
    Attribute("all", Int, "All."),
    Attribute("next", String, "Next page."),
    Attribute("text", String, "Text."),
)
REQUESTS = (
    HTTP(GET("/{id}"), Param("list", "l", style="form", explode=False), Param("id", style="label")),
    HTTP(GET("/{id}"), Param("book", style="json")),
    HTTP(HEAD("/{id}"), Param("list", style="spaceDelimited"), Param("id", style="matrix")),
    HTTP(OPTIONS("/{id}"), Param("list", style="pipeDelimited"), Param("id", style="simple")),
    HTTP(PUT("/{id}"), Body("book", content_type="application/merge-patch+json"), Accept("text/csv")),
    HTTP(DELETE("/{id}"), Body(media="form", style="deepObject"), Param("book", style="deepObject")),
    HTTP(POST("/{id}"), Body(File("file")), Header("text", "X-A"), Cookie("cursor", explode=True)),
    HTTP(PATCH("/{id}"), Body("text", media="text")),
    HTTP(POST("/{id}"), Body("file", media="bytes")),
    HTTP(POST("/{id}"), Paging(cursor="cursor", next="next", at="/next")),
    HTTP(POST("/{id}"), Paging(style="link", cursor="cursor", next="next")),
    HTTP(POST("/{id}"), Paging(style="page", cursor="cursor", next="next", name="p", size="size")),
    HTTP(POST("/{id}"), Paging(style="offset", cursor="cursor", next="next", total="all", first=1)),
    HTTP(
        POST("/{id}"),
        Response(200, Body("file", media="bytes"), Header("text", "X-A")),
        Response("2XX", Body("text", media="text")),
        Response(203, Body(media="form")),
        Response("1XX", "wrong"),
        Response("3XX", "wrong"),
        Response("4XX", "wrong"),
        Response("5XX", "wrong"),
        Response("default", "wrong"),
    ),
)
TOKEN = AuthorizationCodeFlow(authorize=ADDRESS, token=ADDRESS, refresh=ADDRESS)
BOOKS = Service(
    "Books",
    "Books.",
    Server("https://{r}.example", Variable("r", "eu", "us", default="eu"), accepted=False),
    Error("wrong", description="Wrong."),
    *(Method(f"m{number}", "M.", PAYLOAD, RESULT, http) for number, http in enumerate(REQUESTS)),
    Method("called", "M.", Function("rooms:find")),
    Method("filled", "M.", HTTP(POST("/")), Security(BearerSecurity("filled", "F."), body="token")),
    Method(
        "secured",
        "M.",
        HTTP(GET("/")),
        Security(KEY, APIKeySecurity("q", "Q.", query="key"), APIKeySecurity("c", "C.", cookie="key")),
        Security(BasicSecurity("basic", "B.")),
        Security(BearerSecurity("bearer", "B."), header="X-Token", query="token"),
        Security(OAuth2Security("code", "O.", TOKEN, Scope("read", "Read.")), scopes=["read"]),
        Security(OAuth2Security("own", "O.", ClientCredentialsFlow(discovery=ADDRESS, accepted=False))),
        NoSecurity(),
    ),
)


def values(of: Anything) -> Iterator[tuple[str, str, object]]:
    """Yield the value of each fact in a transport with its class and its name."""
    if isinstance(of, tuple):
        for each in of:
            yield from values(each)
    elif dataclasses.is_dataclass(of):
        for field in dataclasses.fields(of):
            value = getattr(of, field.name)
            if isinstance(value, str | int):
                yield type(of).__name__, field.name, value
            made = field.default_factory
            if value != (field.default if made is dataclasses.MISSING else made()):
                yield type(of).__name__, field.name, CHANGED
            yield from values(value)


def wanted(hint: object) -> Iterator[object]:
    """Yield the values of an annotation that are listed one by one."""
    if get_origin(hint) is Literal:
        yield from get_args(hint)
    else:
        for part in get_args(hint):
            yield from wanted(part)


def test_every_value_can_be_written() -> None:
    service = built(BOOKS).services[0]
    written = set(values((service.servers, *(method.transport for method in service.methods))))
    missing = {
        (kind.__name__, name, value)
        for kind in vars(transport).values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind)
        for name, hint in get_type_hints(kind).items()
        for value in (CHANGED, *wanted(hint))
    }
    assert missing - written == NOT_READ
