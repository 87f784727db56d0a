"""A generated client against a FastAPI application: what arrives fits its document, by openapi-core."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from openapi_core import Config, OpenAPI

from toolgen.clients import Requirement
from toolgen.contract.credentials import Credential
from toolgen.runtime import CredentialNeededError, DeclaredError, Runtime

from .application import BOOKS, SECRET, document
from .serving import PACKAGE, Arrived, Recorder, generated, serving


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with generated(tmp_path_factory.mktemp("library")):
        yield import_module(f"{PACKAGE}.library.service"), import_module(f"{PACKAGE}.library.client")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Recorder]]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def openapi() -> OpenAPI:
    texts: dict[str, Any] = {"application/octet-stream": latin_1}  # bytes are no string to it
    return OpenAPI.from_dict(document(), Config(extra_media_type_deserializers=texts))


def latin_1(data: bytes) -> str:
    return data.decode("latin-1")


class Keys:
    """One secret for each scheme of these names; a first one is refused."""

    def __init__(self, *names: str) -> None:
        self._names = names

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        if requirement.scheme.name not in self._names:
            return None
        return Credential(secret=SECRET, username="frank")

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        return None

    async def address(self, service: str, requirement: Requirement) -> str:
        return ""


class Library:
    """The generated client of a test, whose requests are validated."""

    def __init__(self, modules: Any, server: tuple[str, Recorder], openapi: OpenAPI, *keys: str) -> None:
        self.service, client = modules
        self._url, self._recorder = server
        self._openapi = openapi
        self.client = client.LibraryClient(server=self._url, credentials=Keys(*keys))

    async def call(self, method: str, **payload: Any) -> Any:
        """Return the result of a method; its request fits the document."""
        self._recorder.arrived.clear()
        make = getattr(self.service, "".join(map(str.capitalize, method.split("_"))) + "Payload")
        try:
            return await getattr(self.client, method)(make(**payload))
        finally:
            for request in self._recorder.arrived:
                self._openapi.validate_request(request)

    @property
    def arrived(self) -> Arrived:
        return self._recorder.arrived[-1]

    def parameters(self) -> Any:
        """Return the parameters of the last request, as openapi-core reads them."""
        return self._openapi.unmarshal_request(self.arrived).parameters


@pytest.fixture
async def library(modules: Any, server: Any, openapi: OpenAPI) -> Any:
    made = Library(modules, server, openapi)
    async with made.client:
        yield made


NOON = dt.datetime(2026, 11, 26, 12, tzinfo=dt.UTC)
ODD = "a/b c&d=e?f#g%h+ü'\""
SEGMENT = ODD.replace("/", ":")  # FastAPI takes one that is encoded for the end of a segment


async def test_parameters_arrive_in_each_place(library: Library) -> None:
    result = await library.call(
        "find",
        shelf=SEGMENT,
        words=ODD,
        tags=["x", "y,z", ODD],
        most=3,
        cheap=True,
        since=NOON,
        kind="atlas",
        trace="t-1",
        visitor="v 1",
    )
    assert result.echo == {
        "shelf": repr(SEGMENT),
        "q": repr(ODD),
        "tags": repr(["x", "y,z", ODD]),
        "most": "3",
        "cheap": "True",
        "since": repr("2026-11-26T12:00:00+00:00"),
        "kind": "'atlas'",
        "trace": "'t-1'",
        "visitor": "'v%201'",  # FastAPI leaves values of cookies as they are
    }


async def test_absent_parameters_are_absent(library: Library) -> None:
    assert (await library.call("find", shelf="a", words="x")).echo == {"shelf": "'a'", "q": "'x'"}


async def test_a_result_is_read_tolerantly(library: Library) -> None:
    book = await library.call("get_book", id=3)
    assert (book.id, book.title, book.price, book.published) == (3, "Book 3", None, dt.date(2026, 1, 3))


async def test_a_declared_error(library: Library) -> None:
    for method in ("get_book", "change_book"):
        with pytest.raises(DeclaredError) as raised:
            await library.call(method, id=99)
        error: Any = raised.value
        assert (error.code, error.details.id, str(error)) == ("not_found", 99, "There is no book 99.")


async def test_headers_are_a_result(library: Library) -> None:
    result = await library.call("head_book", id=3)
    assert (result.etag, result.pages) == ('"3"', 120)


async def test_bodies(library: Library) -> None:
    types = import_module(f"{PACKAGE}.types")
    book = types.Book(id=9, title="Dune", published=dt.date(1965, 8, 1))
    added = await library.call("add_book", book=book)
    assert (added.book, added.place) == (book, "/books/9")
    assert (await library.call("change_book", id=3, price=1.5)).price == 1.5
    assert json.loads(library.arrived.body or b"") == {"price": 1.5}
    assert (await library.call("drop_book", id=3)) is not None
    rated = await library.call("rate_book", id=3, stars=5, words=["a&b", "c d"])
    assert rated.echo == {"stars": "5", "words": repr(["a&b", "c d"])}
    image = bytes(range(256))
    assert (await library.call("put_cover", id=3, cover=image, caption=ODD)).echo == {
        "cover": repr(image),
        "caption": repr(ODD),
    }
    assert (await library.call("put_text", id=3, text="Grüße")).text == "GRÜSSE"
    assert (await library.call("put_data", id=3, data=b"\x00\xff")).data == b"\xff\x00"


@pytest.mark.parametrize("style", ["cursor", "offset", "page", "link"])
async def test_pages(library: Library, style: str) -> None:
    titles: list[list[int]] = []
    cursor = None
    while True:
        result = await library.call(f"by_{style}", **({} if cursor is None else {"cursor": cursor}))
        titles.append([book.id for book in result.books])
        cursor = result.next
        if cursor is None:
            break
    assert titles == [[1, 2, 3], [4, 5, 6], [7]]


@pytest.mark.parametrize("style", ["cursor", "offset", "page", "link"])
async def test_pages_are_bounded_results_of_tools(library: Library, style: str) -> None:
    executors = import_module(f"{PACKAGE}.desk.toolsets.library")
    runtime = Runtime()
    runtime.tools.register(executors.registration(executors.BoundLibraryExecutor(library=library.client)))
    seen: list[tuple[int, bool]] = []
    arguments: dict[str, Any] = {}
    while True:
        result = await runtime.call(f"list_by_{style}", arguments)
        assert result.status == "ok", result.json
        page = json.loads(result.json)
        seen.append((page["returned"], page["truncated"]))
        if "next" not in page:
            break
        arguments = {"cursor": page["next"]}
    assert seen == [(3, True), (3, True), (1, False)]


async def test_a_declared_error_of_a_bound_tool(library: Library) -> None:
    executors = import_module(f"{PACKAGE}.desk.toolsets.library")
    runtime = Runtime()
    runtime.tools.register(executors.registration(executors.BoundLibraryExecutor(library=library.client)))
    result = await runtime.call("read_book", {"id": 99})
    assert json.loads(result.json) == {
        "error": "There is no book 99.",
        "code": "not_found",
        "details": {"id": 99},
    }


class ByHand:
    """The service as somebody implements it, without a client."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self._types = import_module(f"{PACKAGE}.types")

    def _book(self, id: int) -> Any:
        if id not in BOOKS:
            error = self._service.GET_BOOK_NOT_FOUND
            raise error.of(f"There is no book {id}.", self._types.NotFound(id=id))
        return self._types.Book(id=id, title=BOOKS[id], published=dt.date(2026, 1, id))

    async def get_book(self, payload: Any) -> Any:
        return self._book(payload.id)

    async def add_book(self, payload: Any) -> Any:
        return self._service.AddBookResult(book=payload.book, place=f"/books/{payload.book.id}")

    async def by_offset(self, payload: Any) -> Any:
        first = int(payload.cursor or 0)
        last = min(first + payload.limit, len(BOOKS))
        return self._service.ByOffsetResult(
            books=[self._book(number) for number in range(first + 1, last + 1)],
            total=len(BOOKS),
            **({"next": str(last)} if last < len(BOOKS) else {}),
        )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_book", {"id": 3}),
        ("read_book", {"id": 99}),
        ("read_book", {"id": "3"}),
        ("add_book", {"book": {"id": 9, "title": "Dune", "price": 1.5}}),
        ("list_by_offset", {}),
        ("list_by_offset", {"cursor": "6"}),
    ],
)
async def test_a_service_by_hand_gives_the_same(library: Library, tool: str, arguments: Any) -> None:
    executors = import_module(f"{PACKAGE}.desk.toolsets.library")
    results = []
    for service in (library.client, ByHand(library.service)):
        runtime = Runtime()
        runtime.tools.register(executors.registration(executors.BoundLibraryExecutor(library=service)))
        result = await runtime.call(tool, arguments)
        results.append((result.status, result.json, result.bounds))
    assert results[0] == results[1]


SCHEMES = {
    "by_header": "header_key",
    "by_query": "query_key",
    "by_cookie": "cookie_key",
    "by_login": "login",
    "by_token": "token",
}


@pytest.mark.parametrize("method", SCHEMES)
async def test_credentials(modules: Any, server: Any, openapi: OpenAPI, method: str) -> None:
    with_key = Library(modules, server, openapi, SCHEMES[method])
    async with with_key.client:
        who = (await with_key.call(method)).who
        assert who == ("frank" if method == "by_login" else method.removeprefix("by_"))
    without = Library(modules, server, openapi)
    async with without.client:
        with pytest.raises(CredentialNeededError):
            await without.call(method)


async def test_two_credentials_at_once_and_none(modules: Any, server: Any, openapi: OpenAPI) -> None:
    both = Library(modules, server, openapi, "header_key", "token")
    async with both.client:
        assert (await both.call("by_two")).who == "both"
    nobody = Library(modules, server, openapi)
    async with nobody.client:
        assert (await nobody.call("by_nobody")).who == "nobody"


VALUES = ["a", "b c", "d&e"]


async def test_the_style_of_paths(library: Library) -> None:
    """Of the others openapi-core reads no templates as documents have them."""
    await library.call("simple", text="x y", list=VALUES)
    assert library.parameters().path == {"text": "x y", "list": VALUES}


@pytest.mark.parametrize("style", ["form", "space", "pipe"])
async def test_styles_of_queries(library: Library, style: str) -> None:
    color = import_module(f"{PACKAGE}.types").Color(R=1, G=2)
    values = ["a", "b", "c"]
    await library.call(style, text="x y", list=values, color=color)
    name = "spaced" if style == "space" else "list"
    assert library.parameters().query == {"text": "x y", name: values, "color": {"R": 1, "G": 2}}
