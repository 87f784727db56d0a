"""A server over Streamable HTTP: who is let in, what is refused, and how it ends."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Message

from tests.virtual_time import in_virtual_time
from toolgen.adapters.mcp import http_app, serve_http, server
from toolgen.contract.errors import ToolgenError
from toolgen.runtime import CallMeta

from .desk import Desk, desk_runtime
from .project import http_process
from .web import HEADERS, URL, hello, modern_call, web


def verify(token: str) -> CallMeta | None:
    return CallMeta(session_id=f"of-{token}") if token in ("mira", "jonas") else None


async def test_a_token_says_for_whom_a_call_is() -> None:
    desk = Desk()
    async with desk_runtime(desk) as runtime, web(runtime, verify=verify) as client:
        for token in ("mira", "jonas"):
            call = modern_call("weigh", id="p1")
            call["headers"]["authorization"] = f"Bearer {token}"
            assert (await client.post(URL, **call)).status_code == 200
    assert desk.log == ["weigh p1 kg for of-mira", "weigh p1 kg for of-jonas"]


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({}, "a bearer token is missing"),
        ({"authorization": "Basic bWlyYTo="}, "a bearer token is missing"),
        ({"authorization": "Bearer eve"}, "the bearer token is not valid"),
    ],
)
async def test_nobody_else_is_let_in(headers: dict[str, str], text: str) -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, verify=verify) as client:
        answer = await client.post(URL, json=hello(), headers=headers)
    assert (answer.status_code, answer.text) == (401, text)
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_verifier_that_fails_lets_nobody_in(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(token: str) -> CallMeta | None:
        raise RuntimeError("password hunter2")

    async with desk_runtime(Desk()) as runtime, web(runtime, verify=broken) as client:
        answer = await client.post(URL, json=hello(), headers={"authorization": "Bearer mira"})
    assert answer.status_code == 503
    assert "hunter2" not in answer.text
    assert "hunter2" in caplog.text


@pytest.mark.parametrize("kind", [SystemExit, asyncio.CancelledError, GeneratorExit, StopIteration])
async def test_a_verifier_ends_no_server_by_what_it_raises(kind: type[BaseException]) -> None:
    def broken(token: str) -> CallMeta | None:
        raise kind("password hunter2")

    async with desk_runtime(Desk()) as runtime, web(runtime, verify=broken) as client:
        for _ in range(2):
            answer = await client.post(URL, json=hello(), headers={"authorization": "Bearer mira"})
            assert answer.status_code == 503
            assert "hunter2" not in answer.text


@pytest.mark.parametrize("found", [True, "mira", {"session_id": "s-mira"}])
async def test_a_verifier_that_returns_something_else_lets_nobody_in(found: Any) -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, verify=lambda token: found) as client:
        answer = await client.post(URL, json=hello(), headers={"authorization": "Bearer mira"})
    assert answer.status_code == 503
    assert "cannot be verified now" in answer.text


async def test_a_session_belongs_to_whom_opened_it() -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, verify=verify) as client:
        opened = await client.post(URL, json=hello(), headers={"authorization": "Bearer mira"})
        session = opened.headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        codes = [
            (
                await client.post(
                    URL, json=ping, headers={"authorization": f"Bearer {who}", "mcp-session-id": session}
                )
            ).status_code
            for who in ("jonas", "mira")
        ]
    assert codes == [404, 200]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"host": "localhost:80"}, 200),
        ({"origin": "http://localhost:8000"}, 200),
        ({"host": "localhost:80@evil.example"}, 421),
        ({"origin": "http://localhost:80@evil.example"}, 403),
        ({"origin": "http://localhost:80.evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
async def test_a_page_of_another_origin_is_refused(headers: dict[str, str], code: int) -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime) as client:
        call = modern_call("count")
        answer = await client.post(URL, json=call["json"], headers={**call["headers"], **headers})
        legacy = await client.post(URL, json=hello(), headers=headers)
    assert [answer.status_code, legacy.status_code] == [code, code]


async def test_a_large_body_is_refused() -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, max_body_bytes=1_000) as client:
        answer = await client.post(URL, json=hello(), headers={"x": "1"})
        large = await client.post(URL, content=b"x" * 1_001)
        chunked = await client.post(URL, content=_chunks(1_001))
    assert [answer.status_code, large.status_code, chunked.status_code] == [200, 413, 413]


async def _chunks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x"


@in_virtual_time
async def test_a_body_that_does_not_come_is_refused() -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with desk_runtime(Desk()) as runtime, web(runtime, body_s=20.0) as client:
        begun = asyncio.get_running_loop().time()
        answer = await client.post(URL, content=slow())
        took = asyncio.get_running_loop().time() - begun
    assert (answer.status_code, answer.text) == (408, "the body did not come within 20 seconds")
    assert took == pytest.approx(20)


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("sent", [[], [b"{"]], ids=["nothing of it", "its beginning"])
async def test_a_client_that_goes_before_its_body_has_come_is_no_failure(
    version: str, sent: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """It left a traceback in the log for each connection."""
    messages: list[Message] = [{"type": "http.request", "body": part, "more_body": True} for part in sent]
    answered: list[Message] = []

    async def receive() -> Message:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        answered.append(message)

    headers = {**HEADERS, "host": "localhost", "mcp-protocol-version": version, "content-length": "9"}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    async with desk_runtime(Desk()) as runtime:
        app = http_app(server(runtime))
        async with app.router.lifespan_context(app):
            await app(scope, receive, send)
    assert answered == []
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


async def test_a_call_beyond_the_limit_is_refused_with_a_reason() -> None:
    desk = Desk()
    async with desk_runtime(desk) as runtime, web(runtime, max_calls=1) as client:
        hanging = asyncio.create_task(client.post(URL, **modern_call("hang")))
        async with asyncio.timeout(10):
            await desk.has_begun.wait()
        call = modern_call("count")
        escaped = json.dumps(call["json"]).replace("tools/call", r"tools\/call")
        answers = [
            await client.post(URL, **call),
            await client.post(URL, content=escaped, headers=call["headers"]),
        ]
        hanging.cancel()
        await asyncio.wait({hanging})
        after = await client.post(URL, **call)
    assert [answer.status_code for answer in answers] == [429, 429]
    assert answers[0].json()["error"]["message"] == "too many concurrent calls (1 running); try again later"
    assert answers[0].headers["retry-after"] == "1"
    assert after.status_code == 200


async def test_a_call_that_one_parser_alone_reads_counts_too() -> None:
    desk = Desk()
    call = modern_call("count")
    text = json.dumps(call["json"])
    bodies = [
        text.replace('"id": 7', r'"id": 7, "x": "\ud800"').encode(),
        text.encode("utf-8-sig"),
    ]
    async with desk_runtime(desk) as runtime, web(runtime, max_calls=1) as client:
        hanging = asyncio.create_task(client.post(URL, **modern_call("hang")))
        async with asyncio.timeout(10):
            await desk.has_begun.wait()
        answers = [await client.post(URL, content=body, headers=call["headers"]) for body in bodies]
        hanging.cancel()
        await asyncio.wait({hanging})
    assert [answer.status_code for answer in answers] == [429] * len(bodies)


@pytest.mark.exhaustive
async def test_one_identity_does_not_take_the_calls_of_others(tmp_path: Path) -> None:
    """By the process that the command serves: a quarter of 100 calls at once."""
    async with (
        asyncio.timeout(60),
        http_process(tmp_path, "--verify", "desk_app:verify") as (url, _),
        httpx2.AsyncClient(verify=False, headers=HEADERS, timeout=60) as client,
    ):
        hanging = {asyncio.create_task(client.post(url, **call_of("mira", "hang"))) for _ in range(26)}
        [refused], hanging = await asyncio.wait(hanging, return_when=asyncio.FIRST_COMPLETED)
        others = await client.post(url, **call_of("jonas", "count"))
        for one in hanging:
            one.cancel()
        await asyncio.wait(hanging)
    text = "too many concurrent calls from this caller (25 running); try again later"
    assert (refused.result().status_code, refused.result().json()["error"]["message"]) == (429, text)
    assert (others.status_code, others.json()["result"]["structuredContent"]) == (200, 3)


async def test_the_share_of_an_identity_is_free_again_after_its_calls() -> None:
    desk = Desk()
    async with (
        desk_runtime(desk) as runtime,
        web(runtime, verify=verify, max_calls=3, max_calls_per_owner=1) as client,
    ):
        hanging = asyncio.create_task(client.post(URL, **call_of("mira", "hang")))
        async with asyncio.timeout(10):
            await desk.has_begun.wait()
        codes = [(await client.post(URL, **call_of(who, "count"))).status_code for who in ("mira", "jonas")]
        hanging.cancel()
        await asyncio.wait({hanging})
        after = [(await client.post(URL, **call_of("mira", "count"))).status_code for _ in range(2)]
    assert (codes, after) == ([429, 200], [200, 200])


async def test_a_few_identities_do_not_hold_all_calls() -> None:
    desk, people = Desk(), [f"p{number}" for number in range(4)]
    async with desk_runtime(desk) as runtime, web(runtime, verify=anybody) as client:
        pending: set[asyncio.Task[Any]] = set()
        for who in people:
            own = {asyncio.create_task(client.post(URL, **call_of(who, "hang"))) for _ in range(30)}
            async with asyncio.timeout(60):
                done, held = await asyncio.wait(own, return_when=asyncio.FIRST_COMPLETED)
            assert {task.result().status_code for task in done} == {429}
            pending |= held
            codes = [(await client.post(URL, **call_of(one, "count"))).status_code for one in (who, "other")]
            assert codes == [429, 200]
        for one in pending:
            one.cancel()
        await asyncio.wait(pending)


def anybody(token: str) -> CallMeta:
    return CallMeta(session_id=f"s-{token}", requested_by=token)


def call_of(who: str, tool: str) -> dict[str, Any]:
    """Return a call with the token of a person."""
    call = modern_call(tool)
    call["headers"]["authorization"] = f"Bearer {who}"
    return call


async def test_elsewhere_than_on_loopback_it_needs_a_verifier_and_a_name() -> None:
    async with desk_runtime(Desk()) as runtime:
        for host in ("0.0.0.0", "::", "192.0.2.1", "desk.example"):
            with pytest.raises(ToolgenError, match="no verifier authenticates callers"):
                await serve_http(server(runtime), host, 0)
        with pytest.raises(ToolgenError, match="no host name is set"):
            await serve_http(server(runtime), "0.0.0.0", 0, verify=verify)


async def test_an_address_that_is_taken_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        async with desk_runtime(Desk()) as runtime:
            with pytest.raises(ToolgenError, match="cannot listen on"):
                await serve_http(server(runtime), "127.0.0.1", taken.getsockname()[1])


async def test_a_call_whose_client_is_gone_still_counts() -> None:
    """Through 2025-11-25 a connection that ends cancels nothing."""
    desk = Desk()
    async with desk_runtime(desk) as runtime:
        made = server(runtime)
        async with web(runtime, served=made, max_calls=1) as client:
            opened = await client.post(URL, json=hello())
            headers = {
                "mcp-session-id": opened.headers["mcp-session-id"],
                "mcp-protocol-version": "2025-11-25",
            }
            hang = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "hang"}}
            hanging = asyncio.create_task(client.post(URL, json=hang, headers=headers))
            async with asyncio.timeout(10):
                await desk.has_begun.wait()
            hanging.cancel()
            await asyncio.wait({hanging})
            assert not desk.was_cancelled.is_set()
            assert (await client.post(URL, **modern_call("count"))).status_code == 429
            assert (await client.delete(URL, headers=headers)).status_code == 200
            async with asyncio.timeout(10):
                await made.executing.ended()
            assert (await client.post(URL, **modern_call("count"))).status_code == 200
