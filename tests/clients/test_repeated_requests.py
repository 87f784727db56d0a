"""Bodies that a redirect lets the client send again, and forms without what is null."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.servers import answer, answering, serving
from tests.clients.test_requests import MULTIPART, Sent, parts_of, received, sending
from toolgen.clients import Body, HTTPClient


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
