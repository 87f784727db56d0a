"""What answers mean: results read tolerantly, declared errors, and everything else."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import zlib
from typing import Annotated, Any, Literal

import pytest
from pydantic import ConfigDict, Field

from tests.clients.books import (
    GET_BOOK,
    Author,
    Book,
    Books,
    GetBook,
    NotFound,
    Nothing,
    operation,
)
from tests.clients.servers import answer, answering, serving
from toolgen.calls.specs import ErrorSpec
from toolgen.clients import HTTP, Response
from toolgen.runtime import DeclaredError, ToolError, ToolModel
from toolgen.runtime.generated import Foreign, SchemaModel


def body(**values: Any) -> bytes:
    return json.dumps({"id": "1", "title": "Dune", **values}).encode()


async def read(answered: bytes, of: Any = GET_BOOK, **options: Any) -> Any:
    """Return what a client makes of an answer."""
    async with serving(answering(answered)) as server, Books(server=server.url, **options) as client:
        return await client.send(of, GetBook(id="1"))


async def error(answered: bytes, of: Any = GET_BOOK, **options: Any) -> ToolError:
    with pytest.raises(ToolError) as raised:
        await read(answered, of, **options)
    return raised.value


async def test_unknown_properties_are_dropped_at_each_level() -> None:
    answered = body(isbn="x", author={"name": "Frank", "x": 1, "born": "1920-10-08"})
    author = Author(name="Frank", born=dt.date(1920, 10, 8))
    assert await read(answer(200, answered)) == Book(id="1", title="Dune", author=author)


@pytest.mark.parametrize("body", [b"some text", b"[1]", b'{"id": 1}', b""])
async def test_a_method_without_a_result_takes_whatever_is_answered(body: bytes) -> None:
    nothing = operation(HTTP(verb="GET", path="/books", responses=(Response("2XX"),)), result=Nothing)
    assert await read(answer(200, body, Content_Type="text/plain"), nothing) == Nothing()


async def test_open_objects_keep_what_they_may_hold() -> None:
    book = await read(answer(200, body(facts={"pages": 1, "weight": 2})))
    assert book.facts.model_extra == {"weight": 2}


async def test_unknown_properties_of_a_foreign_schema_tell_branches_apart_before_they_are_dropped() -> None:
    class Person(SchemaModel):
        model_config = ConfigDict(extra="forbid")
        name: str

    class Writer(SchemaModel):
        model_config = ConfigDict(extra="forbid")
        name: str
        born: str | None = None

    class Shelf(ToolModel):
        who: Foreign[Person | Writer]

    shelf = operation(HTTP(verb="GET", path="/books"), result=Shelf)
    for sent, kept in (
        ({"name": "a"}, Person(name="a")),
        ({"name": "a", "born": "b"}, Writer(name="a", born="b")),
        ({"name": "a", "born": "b", "x": 1}, Writer(name="a", born="b")),
        ({"name": "a", "x": 1}, Person(name="a")),
    ):
        assert (await read(answer(200, json.dumps({"who": sent}).encode()), shelf)).who == kept
    failure = await error(answer(200, b'{"who":{"born":"b","x":1}}'), shelf)
    assert "$.who.name is missing" in str(failure)


async def test_a_missing_tag_is_that_of_the_branch_whose_keys_an_answer_has() -> None:
    class Public(ToolModel):
        view: Literal["public"] = "public"
        name: str

    class Private(ToolModel):
        view: Literal["private"] = "private"
        name: str
        email: str

    class User(ToolModel):
        user: Annotated[Public | Private, Field(discriminator="view")]

    users = operation(HTTP(verb="GET", path="/user"), result=User)
    for sent, read_as in (
        ({"name": "a"}, Public(name="a")),
        ({"name": "a", "email": "e", "x": 1}, Private(name="a", email="e")),
        ({"view": "public", "name": "a", "email": "e"}, Public(name="a")),
    ):
        assert (await read(answer(200, json.dumps({"user": sent}).encode()), users)).user == read_as
    failure = await error(answer(200, b'{"user":{"view":"other","name":"a"}}'), users)
    assert "$.user matches none of the documented alternatives" in str(failure)


async def test_null_of_an_optional_attribute_is_absence() -> None:
    assert await read(answer(200, body(author=None, language=None))) == Book(id="1", title="Dune")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate", "gzip, deflate"])
async def test_a_packed_answer_is_unpacked(coding: str) -> None:
    packed = {
        "gzip": gzip.compress(body()),
        "deflate": zlib.compress(body()),
        "raw deflate": zlib.compress(body())[2:-4],
        "gzip, deflate": zlib.compress(gzip.compress(body())),
    }[coding]
    answered = answer(200, packed, Content_Encoding=coding.removeprefix("raw "))
    assert await read(answered) == Book(id="1", title="Dune")


@pytest.mark.parametrize("rest", [b"", bytes(512), b"rest"])
async def test_all_members_of_gzip_are_one_answer(rest: bytes) -> None:
    """A member may end anywhere in what arrives; what follows the last one is left (RFC 1952, 2.2)."""
    packed = b"".join(map(gzip.compress, (body()[:5], b"", body()[5:])))
    assert await read(answer(200, packed + rest, Content_Encoding="gzip")) == Book(id="1", title="Dune")
    byte_by_byte = b"".join(b"1\r\n%c\r\n" % byte for byte in packed + rest)
    chunked = b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    assert await read(chunked + byte_by_byte + b"0\r\n\r\n") == Book(id="1", title="Dune")


async def test_what_does_not_fit_is_named_by_its_place_and_not_quoted() -> None:
    failure = await error(answer(200, json.dumps({"id": 7, "author": {"name": {"secret": "s3"}}}).encode()))
    assert str(failure) == (
        "Books.get_book ran; its result could not be read: "
        "127.0.0.1 answered with a result that does not fit: "
        "$.id must be a string, not an integer; $.title is missing; "
        "$.author.name must be a string, not an object"
    )
    assert failure.retry_hint is not None
    assert failure.retry_hint.reason == "malformed_response"


async def test_keys_that_no_class_has_are_not_quoted() -> None:
    class Shelf(ToolModel):
        books: dict[str, Book]

    answered = answer(200, b'{"books":{"s3cret":{"id":"1"}}}')
    failure = await error(answered, operation(HTTP(verb="GET", path="/books"), result=Shelf))
    assert '$.books["…"].title is missing' in str(failure)


@pytest.mark.parametrize("answered", [b"<html>", b"", b"[]", b'{"id":"1","title":NaN}', b"\xff"])
async def test_what_is_no_result_is_malformed(answered: bytes) -> None:
    assert "ran; its result could not be read" in str(await error(answer(200, answered)))


class Loose(ToolModel):
    value: Any


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a":-1e400}'])
async def test_what_is_no_number_of_json_is_no_answer(text: str) -> None:
    loose = operation(HTTP(verb="GET", path="/loose", responses=(Response(200),)), result=Loose)
    failure = await error(answer(200, f'{{"value":{text}}}'.encode()), loose)
    assert "$.value must be a finite number" in str(failure)


async def test_nothing_is_the_result_of_a_method_without_attributes() -> None:
    deleted = operation(HTTP(verb="DELETE", path="/books", responses=(Response(204),)), result=Nothing)
    assert await read(b"HTTP/1.1 204 No Content\r\n\r\n", deleted) == Nothing()


async def test_a_declared_error_has_its_details() -> None:
    failure = await error(answer(404, b'{"id":"1","message":"Gone for good.","trace":"x"}'))
    assert isinstance(failure, DeclaredError)
    assert (failure.code, failure.details, str(failure)) == ("not_found", NotFound(id="1"), "Gone for good.")
    assert not failure.is_retryable


async def test_details_stand_in_headers_too() -> None:
    class Busy(ToolModel):
        why: str
        seconds: int | None = None

    response = Response(503, "busy", body="why", headers={"seconds": "Retry-After"}, media="text")
    http = HTTP(verb="GET", path="/books", responses=(Response(200), response))
    failure = await error(
        answer(503, b"at lunch", Retry_After="60"), operation(http, errors={ErrorSpec("busy"): Busy})
    )
    assert isinstance(failure, DeclaredError)
    assert failure.details == Busy(why="at lunch", seconds=60)


async def test_a_declared_error_without_a_text_has_that_of_the_design() -> None:
    assert str(await error(answer(404, b'{"id":"1"}'))) == "No such book."


async def test_a_declared_error_without_details_needs_no_body() -> None:
    failure = await error(answer(423, b""))
    assert isinstance(failure, DeclaredError)
    assert (failure.code, failure.details, failure.is_retryable) == ("busy", None, True)


async def test_details_that_do_not_fit_leave_the_error_of_the_status() -> None:
    failure = await error(answer(404, b'{"error":"no such book"}'))
    assert not isinstance(failure, DeclaredError)
    assert (
        str(failure) == 'Books.get_book failed: 127.0.0.1 answered with status 404: {"error":"no such book"}'
    )


async def test_the_most_exact_status_counts() -> None:
    http = HTTP(
        verb="GET",
        path="/books",
        responses=(Response("default", "busy"), Response("4XX", "not_found"), Response(200), Response(410)),
    )
    of = operation(http)
    assert await read(answer(410, body()), of) == Book(id="1", title="Dune")
    failures = [await error(answer(status, b'{"id":"2"}'), of) for status in (400, 500)]
    codes = [failure.code for failure in failures if isinstance(failure, DeclaredError)]
    assert codes == ["not_found", "busy"]


async def test_another_status_is_an_error_with_the_beginning_of_the_body() -> None:
    failure = await error(answer(500, b"\x1b[31mbroken\n" + b"x" * 5_000))
    assert str(failure).startswith("Books.get_book failed: 127.0.0.1 answered with status 500: \\u001b[31mbr")
    assert len(str(failure)) < 2_100
    assert not failure.is_retryable


@pytest.mark.parametrize(
    ("status", "reason"), [(429, "rate_limited"), (503, "tool_unavailable"), (502, "tool_unavailable")]
)
async def test_a_busy_service_says_when_it_may_be_asked_again(status: int, reason: str) -> None:
    failure = await error(answer(status, b"later", Retry_After="7"))
    assert failure.is_retryable
    assert failure.retry_hint is not None
    assert (failure.retry_hint.reason, failure.retry_hint.retry_after) == (reason, 7.0)


async def test_a_date_of_retry_after_counts_from_that_of_the_answer() -> None:
    dates = {"Date": "Wed, 21 Oct 2026 07:28:00 GMT", "Retry_After": "Wed, 21 Oct 2026 07:29:30 GMT"}
    failure = await error(answer(503, b"", **dates))
    assert failure.retry_hint is not None
    assert failure.retry_hint.retry_after == 90.0


@pytest.mark.parametrize("text", ["soon", "-1", "1e9", "٣", "", f"Wed, 21 Oct {10**30} 07:29:30 GMT"])
async def test_a_retry_after_that_is_none_says_nothing(text: str) -> None:
    failure = await error(answer(503, b"", Retry_After=text.encode().decode("latin-1")))
    assert failure.retry_hint is not None
    assert failure.retry_hint.retry_after is None


async def test_a_declared_error_says_when_to_ask_again() -> None:
    http = HTTP(verb="GET", path="/books", responses=(Response(200), Response(429, "busy")))
    failure = await error(answer(429, b"", Retry_After="3"), operation(http))
    assert isinstance(failure, DeclaredError)
    assert failure.retry_hint is not None
    assert failure.retry_hint.retry_after == 3.0


class Page(ToolModel):
    books: list[Book]
    total: int | None = None
    changed: dt.datetime | None = None
    labels: list[str] | None = None


async def test_bodies_and_headers_fill_attributes() -> None:
    headers = {"total": "X-Total", "changed": "Last-Modified", "labels": "X-Labels"}
    http = HTTP(verb="GET", path="/books", responses=(Response(200, body="books", headers=headers),))
    answered = answer(
        200,
        b"[" + body() + b"]",
        X_Total="12",
        X_Labels="new, old",
        Last_Modified="Wed, 21 Oct 2026 07:28:00 GMT",
    )
    assert await read(answered, operation(http, result=Page)) == Page(
        books=[Book(id="1", title="Dune")],
        total=12,
        changed=dt.datetime(2026, 10, 21, 7, 28, tzinfo=dt.UTC),
        labels=["new", "old"],
    )


class Limits(ToolModel):
    left: Annotated[int, Field(ge=0)] | None = None
    sizes: list[int] | None = None
    level: Literal[1, 2] | None = None
    version: int | str | None = None
    window: Window | None = None
    day: dt.date | None = None


class Window(ToolModel):
    seconds: int


async def test_headers_are_read_as_what_their_attributes_are() -> None:
    headers = {key: f"X-{key}" for key in ("left", "sizes", "level", "version", "window", "day")}
    http = HTTP(verb="GET", path="/limits", responses=(Response(200, headers=headers),))
    texts: dict[str, Any] = {
        "X_left": "12",
        "X_sizes": "3, 4",
        "X_level": "2",
        "X_version": "7",
        "X_window": '{"seconds": 60, "more": 1}',
        "X_day": "2026-10-21",
    }
    assert await read(answer(200, **texts), operation(http, result=Limits)) == Limits(
        left=12, sizes=[3, 4], level=2, version="7", window=Window(seconds=60), day=dt.date(2026, 10, 21)
    )


@pytest.mark.parametrize("total", ["many", "[" * 50_000, "9" * 50_000])
async def test_a_header_that_is_no_number_does_not_fit(total: str) -> None:
    http = HTTP(verb="GET", path="/books", responses=(Response(200, headers={"total": "X-Total"}),))
    failure = await error(answer(200, b'{"books":[]}', X_Total=total), operation(http, result=Page))
    assert "$.total must be an integer, not a string" in str(failure)


class Cover(ToolModel):
    image: bytes
    etag: str | None = None


class Text(ToolModel):
    text: str


async def test_bytes_and_text_are_attributes() -> None:
    image = Response(200, body="image", media="bytes", headers={"etag": "ETag"})
    of = operation(HTTP(verb="GET", path="/cover", responses=(image,)), result=Cover)
    assert await read(answer(200, b"\x00\xff", ETag='"a"'), of) == Cover(image=b"\x00\xff", etag='"a"')
    text = operation(
        HTTP(verb="GET", path="/text", responses=(Response(200, body="text", media="text"),)), result=Text
    )
    answered = answer(200, "Grüße".encode("latin-1"), Content_Type="text/plain; charset=ISO-8859-1")
    assert await read(answered, text) == Text(text="Grüße")


async def test_of_a_form_the_first_value_of_a_key_counts() -> None:
    form = Response(200, media="form")
    of = operation(HTTP(verb="GET", path="/form", responses=(form,)), result=Text)
    assert await read(answer(200, b"text=first&text=last"), of) == Text(text="first")


async def test_a_success_that_the_design_does_not_have_has_run() -> None:
    failure = await error(answer(202, b"{}"))
    assert "ran; its result could not be read: 127.0.0.1 answered with status 202" in str(failure)


class Shelf(ToolModel):
    books: list[Nothing]


async def test_an_answer_may_have_more_keys_than_are_kept() -> None:
    of = operation(HTTP(verb="GET", path="/books", responses=(Response(200),)), result=Shelf)
    empty: list[dict[str, str]] = [{} for _ in range(20_001)]
    assert len((await read(answer(200, json.dumps({"books": empty[:19_998]}).encode()), of)).books) == 19_998
    assert (await read(answer(200, json.dumps({"books": [], "unknown": empty}).encode()), of)).books == []
    kept = await error(answer(200, json.dumps({"books": empty}).encode()), of)
    assert "127.0.0.1 answered with a result of more than 20000 keys and items" in str(kept)
    full = await error(answer(200, json.dumps({"books": [], "unknown": empty * 5}).encode()), of)
    assert "127.0.0.1 answered with more than 100000 keys and items" in str(full)


async def test_of_a_declared_error_with_too_many_keys_the_status_is_told() -> None:
    answered = json.dumps({"id": "1", "detail": "no such book", "x": [0] * 100_001}).encode()
    failure = await error(answer(404, answered))
    assert not isinstance(failure, DeclaredError)
    assert "answered with status 404" in str(failure)


async def test_a_form_has_no_more_fields_than_keys() -> None:
    http = HTTP(verb="GET", path="/books", responses=(Response(200, media="form"),))
    failure = await error(answer(200, b"id=1&title=x" + b"&a" * 100_000), operation(http))
    assert "answered with more than 100000 keys and items" in str(failure)
