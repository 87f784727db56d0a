"""The health endpoint of a worker: what it answers, and what it does not understand."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.peers import hostile_connections as hostile
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


@pytest.mark.exhaustive
async def test_probes_are_answered_while_a_peer_keeps_all_connections_open_and_silent() -> None:
    """80 connections, opened anew when they are closed: of 1,525 probes 2 had an answer."""
    async with serve_health("127.0.0.1", 0, lambda: "ready") as url, asyncio.timeout(60):
        port = int(url.rpartition(":")[2])
        async with hostile.silent_connections(port, 80) as held:
            assert [await hostile.probe(port, "/live") for _ in range(20)] == [200] * 20
        assert held.opened > 80


async def test_a_burst_of_connections_has_an_answer_each() -> None:
    """They are accepted in one turn of the loop, and what came with each is read before any is closed."""
    async with serve_health("127.0.0.1", 0, lambda: "ready") as url, asyncio.timeout(60):
        port = int(url.rpartition(":")[2])
        with hostile.requests_sent(port, [b"GET /live HTTP/1.1\r\n\r\n"] * 90) as sockets:
            answers = [await hostile.read_all(one) for one in sockets]
    assert [answer.split()[1] for answer in answers] == [b"200"] * 90


async def test_silent_connections_are_bounded_and_the_oldest_is_closed() -> None:
    async with serve_health("127.0.0.1", 0, lambda: "ready") as url, asyncio.timeout(60):
        port = int(url.rpartition(":")[2])
        with hostile.requests_sent(port, [b""] * 40) as sockets:
            first, rest = sockets[:8], sockets[8:]
            assert [await hostile.read_all(one) for one in first] == [b""] * 8
            for one in rest:
                one.send(b"GET /ready HTTP/1.1\r\n\r\n")
            assert {(await hostile.read_all(one)).split()[1] for one in rest} == {b"200"}


async def test_it_ends_with_probes_open_and_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with serve_health("127.0.0.1", 0, lambda: "ready") as url:
        port = int(url.rpartition(":")[2])
        with hostile.requests_sent(port, [b"GET /live"] * 3) as sockets:
            assert await hostile.probe(port, "/live") == 200
    assert caplog.records == []
    del sockets


async def test_an_address_that_is_taken_is_an_error() -> None:
    async with serve_health("127.0.0.1", 0, lambda: "ready") as url:
        with pytest.raises(ToolgenError, match="cannot listen on"):
            async with serve_health("127.0.0.1", int(url.rpartition(":")[2]), lambda: "ready"):
                pass
