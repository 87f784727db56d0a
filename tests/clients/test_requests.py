"""What a payload becomes in a request: path, query, headers, cookies and bodies, by OpenAPI 3.1."""

from __future__ import annotations

import email.parser
import email.policy
import json
from typing import Any

import pytest

from tests.clients.books import Nothing, operation
from tests.clients.servers import Received, answer, answering, serving
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.clients import HTTP, Body, HTTPClient, Parameter, Response, calling
from toolgen.contract.transport import Place, Requirement, SecurityScheme, Style, Verb
from toolgen.runtime import (
    CallMeta,
    RegistrationError,
    Runtime,
    ToolContext,
    ToolError,
    ToolModel,
    ToolResult,
)
from toolgen.runtime.functions import function_toolset
from toolgen.shapes.design.model import AnyJson, OpenModel


class Sent(ToolModel):
    value: AnyJson = None
    other: AnyJson = None
    count: int = 3
    image: bytes | None = None
    files: list[bytes | str] | None = None


def sending(*parameters: Parameter, path: str = "/x", verb: Verb = "POST", body: Body | None = None) -> Any:
    http = HTTP(verb=verb, path=path, parameters=parameters, body=body, responses=(Response(200),))
    return operation(http, payload=Sent, result=Nothing, errors={})


async def received(of: Any, **payload: Any) -> Received:
    """Return the request that a server gets."""
    async with serving(answering(answer())) as server, HTTPClient(server=server.url) as client:
        await client.send(of, Sent(**payload))
        return server.received[0]


COLORS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200}
# The table of "Style Examples" in OpenAPI 3.1.1, section 4.8.12.5; the parameter is called color.
STYLES: list[tuple[Place, Style | None, bool | None, Any, str]] = [
    ("path", None, None, "blue", "/blue"),
    ("path", "simple", True, COLORS, "/blue,black,brown"),
    ("path", "simple", False, RGB, "/R,100,G,200"),
    ("path", "simple", True, RGB, "/R=100,G=200"),
    ("path", "label", None, "blue", "/.blue"),
    ("path", "label", False, COLORS, "/.blue,black,brown"),
    ("path", "label", True, COLORS, "/.blue.black.brown"),
    ("path", "label", False, RGB, "/.R,100,G,200"),
    ("path", "label", True, RGB, "/.R=100.G=200"),
    ("path", "matrix", None, "blue", "/;color=blue"),
    ("path", "matrix", False, COLORS, "/;color=blue,black,brown"),
    ("path", "matrix", True, COLORS, "/;color=blue;color=black;color=brown"),
    ("path", "matrix", False, RGB, "/;color=R,100,G,200"),
    ("path", "matrix", True, RGB, "/;R=100;G=200"),
    ("query", None, None, "", "?color="),
    ("query", None, None, "blue", "?color=blue"),
    ("query", None, None, COLORS, "?color=blue&color=black&color=brown"),
    ("query", "form", False, COLORS, "?color=blue,black,brown"),
    ("query", "form", False, RGB, "?color=R,100,G,200"),
    ("query", "form", True, RGB, "?R=100&G=200"),
    ("query", "spaceDelimited", None, COLORS, "?color=blue%20black%20brown"),
    ("query", "spaceDelimited", False, RGB, "?color=R%20100%20G%20200"),
    ("query", "pipeDelimited", None, COLORS, "?color=blue%7Cblack%7Cbrown"),
    ("query", "pipeDelimited", False, RGB, "?color=R%7C100%7CG%7C200"),
    ("query", "deepObject", None, RGB, "?color%5BR%5D=100&color%5BG%5D=200"),
    ("path", "json", None, COLORS, "/%5B%22blue%22%2C%22black%22%2C%22brown%22%5D"),
    ("query", "json", None, RGB, "?color=%7B%22R%22%3A100%2C%22G%22%3A200%7D"),
    ("query", "json", None, "blue", "?color=%22blue%22"),
    ("header", "json", None, {"R": ["é\n"]}, '{"R":["\\u00e9\\n"]}'),
    ("cookie", "json", None, [1], "color=%5B1%5D"),
    ("header", None, None, "blue", "blue"),
    ("header", "simple", True, COLORS, "blue,black,brown"),
    ("header", "simple", False, RGB, "R,100,G,200"),
    ("header", "simple", True, RGB, "R=100,G=200"),
    ("cookie", None, None, "blue", "color=blue"),
    ("cookie", "form", False, COLORS, "color=blue,black,brown"),
    ("cookie", "form", False, RGB, "color=R,100,G,200"),
    # Not as a query in one cookie, but as what parses cookies reads it.
    ("cookie", "form", True, RGB, "R=100; G=200"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("place", "style", "explode", "value", "expected"), STYLES)
async def test_styles(place: Place, style: Style, explode: bool | None, value: Any, expected: str) -> None:
    path = "/{color}" if place == "path" else "/"
    of = sending(Parameter("value", place, "color", style, explode), path=path)
    request = await received(of, value=value)
    found = {
        "path": request.target,
        "query": request.target.removeprefix("/"),
        "header": request.headers.get("color"),
        "cookie": request.headers.get("cookie"),
    }
    assert found[place] == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "true"),
        (1.5, "1.5"),
        (10**20, "100000000000000000000"),
        ("a b&c=d/e?f#g%h+", "a%20b%26c%3Dd%2Fe%3Ff%23g%25h%2B"),
        ("é\n", "%C3%A9%0A"),
        ([], None),
        ({}, None),
        (None, None),
        ([{"deep": 1}], "%7B%22deep%22%3A1%7D"),
    ],
)
async def test_values_of_queries(value: Any, expected: str | None) -> None:
    request = await received(sending(Parameter("value", "query", "v")), value=value)
    assert request.target == ("/x" if expected is None else f"/x?v={expected}")


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("a/b", "/books/a%2Fb/x"),
        ("%2e%2e", "/books/%252e%252e/x"),
        ("a..b", "/books/a..b/x"),
        ("é?#;", "/books/%C3%A9%3F%23%3B/x"),
    ],
)
async def test_a_value_stays_in_its_segment_of_the_path(value: str, target: str) -> None:
    assert (
        await received(sending(Parameter("value", "path"), path="/books/{value}/x"), value=value)
    ).target == target


@pytest.mark.parametrize(
    "value", ["", ".", "..", "../admin", "a/../b", "a//b", "a/", "..\\a", None, [], ["..", "x"]]
)
async def test_a_value_that_would_leave_its_segment_is_refused(value: Any) -> None:
    async with serving(answering(answer())) as server, HTTPClient(server=server.url) as client:
        with pytest.raises(ToolError, match="value must not be empty"):
            await client.send(sending(Parameter("value", "path"), path="/books/{value}"), Sent(value=value))
        assert server.received == []


async def test_two_values_that_make_a_dot_segment_together_are_refused() -> None:
    of = sending(Parameter("value", "path"), Parameter("other", "path"), path="/books/{value}{other}")
    with pytest.raises(ToolError, match="must not be empty"):
        await received(of, value=".", other=".")
    of = sending(Parameter("value", "path"), path="/books/.{value}/x")
    with pytest.raises(ToolError):
        await received(of, value=".")


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\x00b", "a\x7fb", ["a\r", "b"]])
async def test_a_header_takes_no_control_characters(value: Any) -> None:
    with pytest.raises(ToolError, match="must not contain control characters"):
        await received(sending(Parameter("value", "header", "X-Words")), value=value)


async def test_spaces_around_a_header_are_no_part_of_it() -> None:
    request = await received(sending(Parameter("value", "header", "X-Words")), value=" a  b\t")
    assert request.headers["x-words"] == "a  b"


async def test_an_address_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(ToolError, match="was not sent: URL too long"):
        await received(sending(Parameter("value", "query")), value="x" * 70_000)


@pytest.mark.parametrize("value", ['a; b="c"', "a\r\nb", "a,b"])
async def test_a_cookie_is_one_cookie(value: str) -> None:
    request = await received(sending(Parameter("value", "cookie", "c")), value=value)
    assert ";" not in request.headers["cookie"].partition("=")[2]
    assert "\r" not in request.headers["cookie"]


@pytest.mark.parametrize(
    "name", ["Host", "Transfer-Encoding", "content-length", "Expect", "X Y", "Cookie", ""]
)
async def test_no_attribute_is_a_header_of_the_connection(name: str) -> None:
    with pytest.raises(RegistrationError, match="no attribute may be the header"):
        await received(sending(Parameter("value", "header", name or " ")), value="x")


async def test_a_path_that_nothing_fills_is_refused() -> None:
    with pytest.raises(RegistrationError, match=r"no attribute fills \{id\}"):
        await received(sending(path="/books/{id}"))


@pytest.mark.parametrize("style", ["form", "pipeDelimited"])
@pytest.mark.parametrize("key", ["count", "cursor_of_nobody"])
async def test_a_free_key_is_no_other_parameter(key: str, style: Any) -> None:
    of = sending(Parameter("value", "query", style=style, explode=True), Parameter("count", "query"))
    if key == "count":
        with pytest.raises(ToolError, match="value must not have a key that is another parameter"):
            await received(of, value={key: "9"})
    else:
        assert (await received(of, value={key: "9"})).target == f"/x?{key}=9&count=3"


SPELLED = (
    "filter[role]",
    "filter[]",
    "FILTER[role]",
    "Count",
    "count[]",
    "count\0",
    " count",
    "count.x",
    "fi.x",
)


@pytest.mark.parametrize(
    "key", [*SPELLED, "api[key", "api.key", "Api_Key", "kind", "KIND[]", "page", "tags[0]"]
)
async def test_a_free_key_is_no_other_spelling_of_a_parameter(key: str) -> None:
    """A server reads `filter[role]` as a member of `filter`, past what the design allows there."""
    key_scheme = SecurityScheme(name="key", kind="api_key", key="api_key", place="query")
    http = HTTP(
        verb="GET",
        path="/x?kind=new",
        parameters=(
            Parameter("value", "query", style="form", explode=True),
            Parameter("other", "query", "filter", style="deepObject"),
            Parameter("count", "query"),
            Parameter("image", "query", "page[size]"),
            Parameter("image", "query", "tags[]"),
        ),
        responses=(Response(200),),
        security=((), (Requirement(key_scheme),)),
    )
    of = operation(http, payload=Sent, result=Nothing, errors={})
    if key == "fi.x":
        assert (await received(of, value={key: "9", "page[after]": "1"})).target.startswith(
            "/x?kind=new&fi.x=9&"
        )
    else:
        with pytest.raises(ToolError, match="value must not have a key that is another parameter"):
            await received(of, value={key: "9"})


class Filter(OpenModel):
    role: str | None = None


class Filtered(ToolModel):
    value: Filter | None = None


@pytest.mark.parametrize("media", ["query", "form", "multipart"])
@pytest.mark.parametrize("key", ["Role", "role[]", "role\0x", "role]x"])
async def test_a_free_key_is_no_other_spelling_of_a_key_beside_it(media: Any, key: str) -> None:
    parameter = (Parameter("value", "query", style="deepObject"),) if media == "query" else ()
    body = None if media == "query" else Body(media=media, attribute="value")
    http = HTTP(verb="POST", path="/x", parameters=parameter, body=body, responses=(Response(200),))
    of = operation(http, payload=Filtered, result=Nothing, errors={})
    async with serving(answering(answer())) as server, HTTPClient(server=server.url) as client:
        for fine in ({"role": "user"}, {"role": "user", "roles": "x"}):
            await client.send(of, Filtered(value=Filter(**fine)))
        with pytest.raises(ToolError, match="must not have a key that is another spelling of one of its own"):
            await client.send(of, Filtered(value=Filter(**{key: "admin"})))
        assert len(server.received) == 2


async def test_a_free_key_of_a_path_is_no_other_parameter_of_it() -> None:
    parameters = [Parameter(name, "path", style="matrix", explode=True) for name in ("value", "other")]
    of = sending(*parameters, path="/x{value}{other}")
    assert (await received(of, value={"a": "1"}, other="2")).target == "/x;a=1;other=2"
    with pytest.raises(ToolError, match="value must not have a key that is another parameter"):
        await received(of, value={"Other": "1"}, other="2")


async def test_absent_attributes_are_left_out_and_defaults_sent() -> None:
    parameters = [Parameter(name, "query") for name in ("value", "count")]
    assert (await received(sending(*parameters))).target == "/x?count=3"


async def test_a_query_of_the_design_stays() -> None:
    assert (await received(sending(Parameter("count", "query"), path="/x?v=1"))).target == "/x?v=1&count=3"


async def test_an_object_of_attributes_is_a_json_body() -> None:
    request = await received(sending(body=Body(attributes=("value", "count", "other"))), value={"a": [None]})
    assert json.loads(request.body) == {"value": {"a": [None]}, "count": 3}
    assert request.headers["content-type"] == "application/json"


async def test_one_attribute_is_a_whole_body() -> None:
    body = Body(attribute="value", content_type="application/merge-patch+json")
    request = await received(sending(body=body), value=[1, "é"])
    assert (json.loads(request.body), request.headers["content-type"]) == ([1, "é"], body.content_type)
    nothing = await received(sending(body=body))
    assert (nothing.body, "content-type" in nothing.headers) == (b"", False)


async def test_text_bytes_and_forms_are_bodies() -> None:
    text = await received(sending(body=Body(media="text", attribute="value")), value="Grüße")
    assert (text.body.decode(), text.headers["content-type"]) == ("Grüße", "text/plain; charset=utf-8")
    raw = await received(sending(body=Body(media="bytes", attribute="image")), image=b"\x00\xff")
    assert (raw.body, raw.headers["content-type"]) == (b"\x00\xff", "application/octet-stream")
    form = await received(sending(body=Body(media="form", attributes=("value", "count"))), value=["a b", "&"])
    assert form.body == b"value=a%20b&value=%26&count=3"
    assert form.headers["content-type"] == "application/x-www-form-urlencoded"


def parts_of(request: Received) -> list[tuple[Any, str | None, str, Any]]:
    """Return the parts of a multipart body: name, file name, type and content."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + request.body)
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename(),
            part.get_content_type(),
            part.get_payload(decode=True),
        )
        for part in message.iter_parts()
    ]


MULTIPART = Body(media="multipart", attributes=("value", "count", "image", "files"), files=("image", "files"))


async def test_a_multipart_body_has_fields_and_files() -> None:
    request = await received(
        sending(body=MULTIPART), value={"a": 1}, image=b"\r\n--x\r\n", files=[b"1", b"2"]
    )
    assert parts_of(request) == [
        ("value", None, "application/json", b'{"a":1}'),
        ("count", None, "text/plain", b"3"),
        ("image", "image", "application/octet-stream", b"\r\n--x\r\n"),
        ("files", "files", "application/octet-stream", b"1"),
        ("files", "files", "application/octet-stream", b"2"),
    ]


FILE = Body(media="multipart", attributes=("files",), files=("files",))


async def uploaded(
    files: list[str], *, session: str = "s-1", **labels: str
) -> tuple[ToolResult, list[Received]]:
    """Return the result of a tool that uploads artifacts, and what the server got."""
    store = MemoryArtifactStore()
    await store.save("session/s-1", "plan a.png", b"\x89PNG", "image/png", {}, 1_000)
    await store.save("session/s-1", "plan a.png", b"newer", "image/png", {}, 1_000)
    await store.save("session/s-2", "plan a.png", b"another", "image/png", {}, 1_000)
    await store.save("user/u-1", "face.png", b"face", "image/png", {}, 1_000)
    async with serving(answering(answer())) as server, HTTPClient(server=server.url) as client:

        async def upload(files: list[str], ctx: ToolContext) -> str:
            """Upload files."""
            with calling(ctx):
                await client.send(sending(body=FILE), Sent(files=list(files)))
            return "done"

        runtime = Runtime(capabilities=[ArtifactsCapability(store)])
        runtime.tools.register(function_toolset("office.files", [upload]))
        meta = CallMeta(session_id=session, labels=labels)
        return await runtime.call("upload", {"files": files}, meta), server.received


async def test_files_are_artifacts_of_the_call() -> None:
    uris = ["artifact:session/s-1/plan%20a.png?version=1", "artifact:user/u-1/face.png?version=1"]
    result, requests = await uploaded(uris, user="u-1")
    assert result.status == "ok", result.json
    assert parts_of(requests[0]) == [
        ("files", "plan a.png", "image/png", b"\x89PNG"),
        ("files", "face.png", "image/png", b"face"),
    ]


@pytest.mark.parametrize(
    "uri",
    [
        "artifact:session/s-2/plan%20a.png?version=1",
        "artifact:session/s-1/plan%20a.png?version=9",
        "artifact:session/s-1/none?version=1",
        "artifact:user/u-2/other.png?version=1",
        "artifact:run/s-1/r/abc?version=1",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1/",
    ],
)
async def test_files_of_others_are_not_sent(uri: str) -> None:
    result, requests = await uploaded([uri], user="u-1")
    assert (result.status, requests) == ("error", [])
