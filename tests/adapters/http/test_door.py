"""Who is let in over HTTP, by which names, with how much; and the surface within other applications."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Route

import toolgen.adapters.http as adapter
from toolgen.adapters.http import Caller, HTTPSurface, SurfaceOptions
from toolgen.adapters.http.serving import StartToken, served_app

from .shop import AGENT, BASE, Shop, by_header, problem, served, shop_runtime

PAGE = Path(adapter.__path__[0], "page")


async def test_nobody_whom_the_host_does_not_know_is_let_in() -> None:
    async with served() as shop:
        answer = await shop.client.get("/catalog", headers={"x-caller": "nobody"})
    assert problem(answer) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("said", [RuntimeError("password hunter2"), "ann"])
async def test_a_function_of_the_host_that_fails_lets_nobody_in(said: Any) -> None:
    def broken(_: Any) -> Any:
        if isinstance(said, Exception):
            raise said
        return said

    async with shop_runtime(Shop()) as runtime:
        transport = httpx.ASGITransport(HTTPSurface(runtime, caller=broken))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            answer = await client.get("/catalog")
    assert problem(answer) == (503, "unavailable")
    assert "hunter2" not in answer.text


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"host": "evil.example"}, (421, "misdirected-request")),
        ({"host": "localhost:80@evil.example"}, (421, "misdirected-request")),
        ({"origin": "https://evil.example"}, (403, "forbidden")),
        ({"origin": "null"}, (403, "forbidden")),
        ({"host": "127.0.0.1:9", "origin": "http://localhost:9"}, (403, "forbidden")),
        ({"host": "localhost:9", "origin": "http://localhost:10"}, (403, "forbidden")),
        ({"host": "localhost:9", "origin": "http://localhost:9"}, None),
        ({"host": "LOCALHOST", "origin": "https://localhost"}, None),
    ],
)
async def test_host_and_origin_are_names_of_the_server(
    headers: dict[str, str], expected: tuple[int, str] | None
) -> None:
    async with served() as shop:
        answer = await shop.client.get("/catalog", headers=headers)
        assert "access-control-allow-origin" not in answer.headers
    assert (answer.status_code == 200) if expected is None else (problem(answer) == expected)


async def test_other_origins_are_let_in_that_the_host_names() -> None:
    options = SurfaceOptions(hosts=("tools.example",), origins=("https://app.example",))
    async with served(options) as shop:
        ours = {"host": "tools.example", "origin": "https://app.example"}
        asked = {**ours, "access-control-request-method": "POST", "access-control-request-headers": "range"}
        preflight = await shop.client.options("/suspensions", headers=asked)
        answer = await shop.client.get("/catalog", headers=ours)
        theirs = await shop.client.get("/catalog", headers={**ours, "origin": "https://app.example.evil"})
        assert problem(await shop.client.get("/catalog")) == (421, "misdirected-request")
    assert preflight.status_code == 200
    for one in (preflight, answer):
        assert one.headers["access-control-allow-origin"] == "https://app.example"
    assert "etag" in answer.headers["access-control-expose-headers"].lower()
    assert problem(theirs) == (403, "forbidden")


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/nothing", (404, "not-found")),
        ("DELETE", "/runs", (405, "method-not-allowed")),
        ("GET", "/tools/order/calls", (405, "method-not-allowed")),
        ("HEAD", "/events", None),
    ],
)
async def test_what_no_path_takes_is_a_problem(
    method: str, path: str, expected: tuple[int, str] | None
) -> None:
    async with served() as shop:
        answer = await shop.client.request(method, path)
    assert (answer.status_code == 405) if expected is None else (problem(answer) == expected)


@pytest.mark.parametrize("kind", [FastAPI, Starlette])
async def test_it_is_mounted_in_another_application(kind: type[Starlette]) -> None:
    app, shop = kind(), Shop()
    async with shop_runtime(shop) as runtime:
        app.mount("/agent-tools", HTTPSurface(runtime, caller=by_header))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=f"{BASE}/agent-tools") as client:
            answer = await client.post("/tools/order/calls", json={"arguments": {"item": "tea"}})
            assert answer.json()["result"] == "1 tea"
            assert problem(await client.get("/nothing")) == (404, "not-found")
            started = await client.post("/runs", json={"agent": AGENT, "message": "hello"})
            run = await client.get(started.request.url.join(started.headers["location"]))
            assert run.json()["id"] == started.json()["id"]


async def test_calls_at_once_have_a_limit() -> None:
    async with served(SurfaceOptions(max_calls=2, max_calls_per_caller=1)) as shop:
        holding = [asyncio.ensure_future(shop.call("hold"))]
        await shop.shop.has_begun.wait()
        own = await shop.call("count")
        shop.shop.has_begun.clear()
        holding.append(asyncio.ensure_future(shop.call("hold", caller="bob")))
        await shop.shop.has_begun.wait()
        full = await shop.call("count", caller="eve")
        assert (await shop.get("/runs"))["runs"] == []
        shop.shop.goes_on.set()
        await asyncio.gather(*holding)
        await shop.surface.calls_ended()
        assert (await shop.call("count")).status_code == 200
    assert (problem(own), problem(full)) == ((429, "too-many-requests"), (503, "unavailable"))
    assert own.headers["retry-after"] == full.headers["retry-after"] == "1"


@pytest.mark.parametrize("callers", [4, 8])
async def test_a_few_callers_do_not_hold_all_places(callers: int) -> None:
    """With calls that take long, each of them as many as it gets."""
    async with served() as shop:
        names = [f"c{number}" for number in range(callers)]
        pending: set[asyncio.Task[httpx.Response]] = set()
        for name in names:
            own = {asyncio.ensure_future(shop.call("hold", caller=name)) for _ in range(30)}
            done, held = await asyncio.wait(own, return_when=asyncio.FIRST_COMPLETED)
            assert {problem(task.result()) for task in done} == {(429, "too-many-requests")}
            pending |= held
            assert (await shop.call("count", caller="eve")).status_code == 200
            assert (await shop.call("count", caller=name)).status_code == 429
        shop.shop.goes_on.set()
        answered = await asyncio.gather(*pending)
        assert sum(answer.status_code == 200 for answer in answered) <= 100 * (1 - 0.75**callers) + callers
        assert (await shop.call("count", caller=names[0])).status_code == 200


async def test_a_body_that_does_not_come_is_refused() -> None:
    async with served(SurfaceOptions(body_s=0.01)) as shop:
        sent: list[Any] = []

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/tools/order/calls", "root_path": ""}
        await shop.surface({**scope, "query_string": b"", "headers": headers}, receive, send)
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


async def test_a_function_may_say_which_sessions_are_the_callers() -> None:
    async def owns(session: str) -> bool:
        return session in ("s1", "s2")

    async with shop_runtime(Shop()) as runtime:
        surface = HTTPSurface(runtime, caller=lambda _: Caller(id="ann", sessions=owns))
        transport = httpx.ASGITransport(surface)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            for session, status in (("s1", 200), ("s3", 404), ("", 400)):
                body = {"arguments": {"item": "tea"}, "session": session}
                assert (await client.post("/tools/order/calls", json=body)).status_code == status
            assert problem(await client.post("/runs", json={"agent": AGENT, "message": "hello"})) == (
                400,
                "invalid-request",
            )


async def test_what_is_of_no_session_is_of_nobody() -> None:
    """Whatever the host's function says of it."""
    assert not await Caller(id="ann", sessions=lambda _: True).owns("")


@asynccontextmanager
async def started() -> AsyncIterator[tuple[StartToken, HTTPSurface, httpx.AsyncClient]]:
    """Yield the token of a process that serves the page, its surface and a client without the token."""
    async with shop_runtime(Shop()) as runtime:
        token, options = StartToken(Caller(id="ann", sees_all=True)), SurfaceOptions()
        surface = HTTPSurface(runtime, caller=token, options=options)
        transport = httpx.ASGITransport(served_app(surface, options))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8111") as client:
            yield token, surface, client


async def test_the_page_is_public_and_contains_no_data() -> None:
    async with started() as (_, _, client):
        assert (await client.get("/", headers={"host": "evil.example"})).status_code == 421
        page = await client.get("/")
        assert page.status_code == 200
        assert page.text.count("<script") == page.text.count('src="./assets/') == 1
        assert "default-src 'none'; script-src 'self'; " in page.headers["content-security-policy"]
        for asset in re.findall(r'(?:src|href)="\./([^"]+)"', page.text):
            sent = await client.get(f"/{asset}")
            assert sent.headers["content-security-policy"] == page.headers["content-security-policy"]
            again = await client.get(f"/{asset}", headers={"if-none-match": sent.headers["etag"]})
            assert (sent.status_code, again.status_code) == (200, 304)
        for path in ("x.js", "..%2findex.html", "..%2f..%2fsurface.py"):
            assert (await client.get(f"/assets/{path}")).status_code == 404
        for path, file in (("/", "index.html"), ("/assets/index.js", "assets/index.js")):
            assert (await client.get(path)).content == (PAGE / file).read_bytes()


async def test_every_path_needs_the_token_as_a_bearer_and_takes_no_cookie() -> None:
    async with started() as (token, surface, client):
        cookie = {"cookie": f"toolgen_8111={token.value}; authorization={token.value}"}
        for route in surface.routes:
            assert isinstance(route, Route)
            path = f"{re.sub(r'{.*?}', 'x', route.path)}?token={token.value}"
            for method in route.methods or ():
                document: dict[str, Any] | None = {} if method == "POST" else None
                answer = await client.request(method, path, headers=cookie, json=document)
                assert (answer.status_code, answer.headers.get("set-cookie")) == (401, None), path
        assert "set-cookie" not in (await client.get(f"/?token={token.value}")).headers
        answer = await client.get("/catalog", headers={"authorization": f"Bearer {token.value}"})
        assert answer.status_code == 200
    assert token.value not in repr(token)


@pytest.mark.parametrize("options", [{"max_calls": 0}, {"kept_events": 0}, {"body_s": 0.0}])
def test_options_let_something_in(options: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        SurfaceOptions(**options)


def test_a_caller_has_an_id() -> None:
    with pytest.raises(ValueError, match="has an empty id"):
        Caller(id="")
    assert Caller(id="ann/x:y@z").prefix == "ann%2Fx%3Ay@z:"
