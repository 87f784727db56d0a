"""The health endpoint of a worker: what it answers, and what it does not understand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.virtual_time import in_virtual_time
from toolgen.cli.health import WorkerState, serve_health
from toolgen.contract.errors import ToolgenError


class Asked:
    """A worker's state, and the answers of its endpoint."""

    def __init__(self) -> None:
        self.state: WorkerState = "ready"

    async def send(self, request: bytes) -> tuple[str, list[str], str]:
        """Return status, headers and body of the response to a request."""
        async with serve_health("127.0.0.1", 0, lambda: self.state) as url:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
            writer.write(request)
            text = (await asyncio.wait_for(reader.read(), 10)).decode()
            writer.close()
        head, _, body = text.partition("\r\n\r\n")
        status, *headers = head.split("\r\n")
        return status, headers, body


@pytest.mark.parametrize(
    ("state", "ready"),
    [
        ("starting", "503"),
        ("ready", "200"),
        ("draining", "503"),
        ("engine lost", "503"),
        ("store unreachable", "503"),
    ],
)
async def test_it_is_live_in_every_state_and_ready_in_one(state: WorkerState, ready: str) -> None:
    asked = Asked()
    asked.state = state
    for path, expected in (("/live", "200"), ("/ready", ready)):
        status, headers, body = await asked.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert status.split()[:2] == ["HTTP/1.1", expected]
        assert json.loads(body) == {"status": state}
        assert {f"Content-Length: {len(body)}", "Connection: close"} <= set(headers)


async def test_head_has_no_body_and_the_same_headers() -> None:
    status, headers, body = await Asked().send(b"HEAD /ready HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (status, body) == ("HTTP/1.1 200 OK", "")
    assert f"Content-Length: {len(json.dumps({'status': 'ready'}))}" in headers


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b"GET /metrics HTTP/1.1\r\n\r\n", "404"),
        (b"GET /ready/ HTTP/1.1\r\n\r\n", "404"),
        (b"POST /ready HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "405"),
        (b"GET http://x/ready HTTP/1.1\r\n\r\n", "400"),
        (b"GET /ready HTTP/2\r\n\r\n", "400"),
        (b"GET  /ready HTTP/1.1\r\n\r\n", "400"),
        (b"get /ready HTTP/1.1\r\n\r\n", "400"),
        (b"GET /ready HTTP/1.1\r\nno header\r\n\r\n", "400"),
        (b"GET /ready HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", "400"),
        (b"GET /ready HTTP/1.1\r\nX: \x00\r\n\r\n", "400"),
        (b"\x16\x03\x01\x02\r\n\r\n", "400"),
        (b"GET /ready HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", "431"),
    ],
)
async def test_what_is_no_request_of_a_probe_is_refused(request_: bytes, expected: str) -> None:
    status, headers, _ = await Asked().send(request_)
    assert status.split()[1] == expected
    assert ("Allow: GET, HEAD" in headers) == (expected == "405")


@in_virtual_time
async def test_a_client_that_sends_no_end_is_dropped_after_some_seconds() -> None:
    began = asyncio.get_running_loop().time()
    assert await Asked().send(b"GET /ready HTTP/1.1\r\n") == ("", [], "")
    assert asyncio.get_running_loop().time() - began == pytest.approx(5)


async def test_more_connections_than_probes_need_are_not_served() -> None:
    async with serve_health("127.0.0.1", 0, lambda: "ready") as url:
        port = int(url.rpartition(":")[2])
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(64)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with _gone():
            assert await asyncio.wait_for(reader.read(), 10) == b""
        for _, one in (*held, (reader, writer)):
            one.close()


@contextmanager
def _gone() -> Iterator[None]:
    """Accept that a connection is reset; else it ends without a byte."""
    try:
        yield
    except ConnectionError:
        return


async def test_an_address_that_is_taken_is_an_error() -> None:
    async with serve_health("127.0.0.1", 0, lambda: "ready") as url:
        with pytest.raises(ToolgenError, match="cannot listen on"):
            async with serve_health("127.0.0.1", int(url.rpartition(":")[2]), lambda: "ready"):
                pass
