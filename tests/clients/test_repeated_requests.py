"""Bodies that a redirect lets the client send again, and requests without what is null."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.books import Nothing, operation
from tests.clients.servers import answer, answering, serving
from tests.clients.test_requests import MULTIPART, Sent, parts_of, received, sending
from toolgen.clients import HTTP, Body, HTTPClient, Parameter, Response
from toolgen.contract.transport import Place
from toolgen.runtime import ToolError, ToolModel
from toolgen.shapes.design.model import AnyJson


@pytest.mark.parametrize(
    ("body", "payload"),
    [
        (MULTIPART, {"value": {"a": 1}, "image": b"\r\n--x\r\n", "files": [b"1", b"2"]}),
        (Body(media="bytes", attribute="image"), {"image": b"\x00\xff"}),
        (Body(media="form", attributes=("value", "count")), {"value": "a&b"}),
    ],
)
async def test_every_body_is_sent_again_where_a_redirect_keeps_it(body: Body, payload: Any) -> None:
    moved = answer(308, b"", Location="/y")
    async with (
        serving(answering(moved, answer())) as server,
        HTTPClient(server=server.url) as client,
    ):
        await client.send(sending(body=body), Sent(**payload))
    first, second = server.received
    assert (first.target, second.target) == ("/x", "/y")
    if body.media == "multipart":
        assert parts_of(first) == parts_of(second)
        assert len(parts_of(second)) == 5
    else:
        assert (first.body, first.headers["content-type"]) == (second.body, second.headers["content-type"])
        assert second.body != b""


async def test_null_is_no_field_of_a_form() -> None:
    """As in a query: a form has no null, and a server would read the text."""
    form = sending(body=Body(media="form", attributes=("value", "other", "count")))
    assert (await received(form, value=["a", None], other=None)).body == b"value=a&count=3"
    whole = sending(body=Body(media="form", attribute="value"))
    sent = await received(whole, value={"a": None, "b": [None, 1], "c": {"d": None}})
    assert sent.body == b"b=1&c=%7B%22d%22%3Anull%7D"
    parts = await received(sending(body=MULTIPART), value=[None, "a"], other=None, image=None)
    assert [(name, content) for name, _, _, content in parts_of(parts)] == [("value", b"a"), ("count", b"3")]


class Needed(ToolModel):
    value: AnyJson


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("header", None),
        *((place, value) for place in ("query", "cookie") for value in (None, [], {}, [None], {"a": None})),
    ],
)
async def test_a_required_parameter_that_would_be_left_out_is_refused(place: Place, value: Any) -> None:
    http = HTTP(verb="GET", path="/x", parameters=(Parameter("value", place),), responses=(Response(200),))
    of: Any = operation(http, payload=Needed, result=Nothing, errors={})
    async with serving(answering(answer())) as server, HTTPClient(server=server.url) as client:
        with pytest.raises(ToolError, match="value must not be null or empty"):
            await client.send(of, Needed(value=value))
        assert not server.received


async def test_null_is_a_value_where_the_style_is_json() -> None:
    of = sending(Parameter("value", "query", "v", style="json"), Parameter("other", "header", style="json"))
    request = await received(of, value=None, other=None)
    assert (request.target, request.headers["other"]) == ("/x?v=null", "null")
    assert (await received(of)).target == "/x"
