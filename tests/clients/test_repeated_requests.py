"""Bodies of requests that a redirect lets the client send again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.servers import answer, answering, serving
from tests.clients.test_requests import MULTIPART, Sent, parts_of, sending
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
