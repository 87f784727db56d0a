"""What a server says by HTTP: statuses that refuse or fail, bodies that are no messages, secrets in logs."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.adapters.mcp.client.bad_web import SAID, bad_web
from tests.adapters.mcp.client.conftest import served
from toolgen.adapters.mcp import HttpServer, InsecureServerError, MCPToolset
from toolgen.adapters.mcp.client.servers import pool_key

FAILED = "the MCP server 'web' failed (HTTP status 503)"
MOVED = "the MCP server 'web' redirects to another origin, which is not followed"
LONG = "it has more than 16777216 bytes"
CALLS = {
    "s401": ("error", "tool_unavailable", "the MCP server 'web' refused the credentials (HTTP status 401)"),
    "s403": ("error", "tool_unavailable", "the MCP server 'web' refused the credentials (HTTP status 403)"),
    "s429": (
        "error",
        "tool_unavailable",
        "the MCP server 'web' has too many requests at the moment (HTTP status 429)",
    ),
    "s503": ("unknown", None, f"{FAILED}; s503 may have run"),
    "s503_reading": ("error", "tool_unavailable", FAILED),
    "s302": ("unknown", None, f"{MOVED} (302); s302 may have run"),
    "s302_reading": ("error", "tool_unavailable", f"{MOVED} (302)"),
    "s307": ("error", "tool_unavailable", f"{MOVED} (307)"),
    "s500_answer": ("error", None, "s500_answer: the disk is full"),
    "broken": ("unknown", None, "it is not a JSON-RPC message"),
    "broken_event": ("unknown", None, "it is not a JSON-RPC message"),
    "page": ("unknown", None, "its content type 'text/html' is neither JSON nor a stream"),
    "long": ("unknown", None, LONG),
    "long_event": ("unknown", None, LONG),
    "ends": ("unknown", None, "the connection to the MCP server 'web' ended before the answer"),
    "gzip": ("unknown", None, "it is not a JSON-RPC message"),
}


@pytest.mark.exhaustive
async def test_statuses_and_bodies_of_calls() -> None:
    async with bad_web() as web, served(MCPToolset("web", HttpServer(web.url), prefix="")) as (_, snapshot):
        for tool, (status, reason, said) in CALLS.items():
            result = await snapshot.call(tool, {})
            hint = result.retry_hint
            assert (result.status, hint and hint.reason) == (status, reason), tool
            assert said in str(result.error)
            assert "secret-text" not in str(result.error)
        assert [web.calls.count(tool) for tool in ("s503", "s503_reading", "s401")] == [1, 2, 1]


async def test_what_a_server_says_of_its_transport_is_its_answer() -> None:
    async with bad_web() as web, served(MCPToolset("web", HttpServer(web.url), prefix="")) as (_, snapshot):
        for said_by, error in SAID.items():
            for form in ("json", "event", "failed"):
                tool = f"says_{said_by}_{form}"
                result = await snapshot.call(tool, {})
                assert (result.status, str(result.error)) == ("error", f"{tool}: {error['message']}")
                assert result.retry_hint is None
                assert web.calls.count(tool) == 1
        assert web.sessions == 1


async def test_a_session_that_the_server_forgot_is_opened_again() -> None:
    async with bad_web() as web, served(MCPToolset("web", HttpServer(web.url), prefix="")) as (_, snapshot):
        assert (await snapshot.call("forgets", {})).result == "session-1"
        web.forgotten.add("session-1")
        assert (await snapshot.call("forgets", {})).result == "session-2"


async def test_interim_responses_have_a_budget(caplog: pytest.LogCaptureFixture) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    async with bad_web() as web, served(MCPToolset("web", HttpServer(web.url), prefix="")) as (_, snapshot):
        web.interim = hint * 100
        assert (await snapshot.call("forgets", {})).result == "session-1"
        web.interim = hint * 20_000
        result = await snapshot.call("forgets", {})
        assert result.status == "unknown"
        assert "it sent more than 262144 bytes before its response" in caplog.text
        web.interim = b""
        assert (await snapshot.call("forgets", {})).status == "ok"


@pytest.mark.parametrize(("status", "why"), [(401, "refused the credentials"), (503, "failed")])
async def test_a_server_that_refuses_or_fails_from_the_start_is_named(status: int, why: str) -> None:
    async with bad_web() as web:
        web.status = status
        async with served(MCPToolset("web", HttpServer(web.url), prefix=""), on_error="drop") as (
            _,
            snapshot,
        ):
            assert f"the MCP server 'web' {why} (HTTP status {status})" in snapshot.failures["web"]


async def test_no_secret_stands_in_the_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with bad_web() as web, served(MCPToolset("web", HttpServer(web.url), prefix="")) as (_, snapshot):
        await snapshot.call("broken", {})
    assert "/mcp" in caplog.text  # requests are logged
    for secret in ("url-secret", "session-1", "secret-text"):
        assert secret not in caplog.text


async def test_a_redirect_to_another_origin_is_not_followed() -> None:
    async with bad_web() as web, bad_web() as other:
        for place in (other.url, f"http://localhost:{web.port}/there", f"//127.0.0.1:{other.port}/there"):
            web.redirect = place
            server = HttpServer(web.url, headers={"X-Key": "k3y"}, bearer=lambda meta: "t0ken")
            async with served(MCPToolset("web", server, prefix=""), on_error="drop") as (_, snapshot):
                assert "not followed" in snapshot.failures["web"]
        assert all("/there" not in head for head in web.heads)
        assert other.heads == []


async def test_a_redirect_within_the_origin_has_the_credentials() -> None:
    async with bad_web() as web:
        web.redirect = "/there"
        server = HttpServer(web.url, bearer=lambda meta: "t0ken")
        async with served(MCPToolset("web", server, prefix="")) as (_, snapshot):
            assert snapshot.specs
        assert any("/there" in head and "authorization: bearer t0ken" in head for head in web.heads)


@pytest.mark.parametrize(
    "given",
    [
        {"headers": {"X-Key": "k3y"}},
        {"headers": lambda meta: {}},
        {"bearer": lambda meta: "t0ken"},
        {"url": "http://jo:pw@tools.example/mcp?token=t"},
        {"url": "http://192.0.2.1/mcp", "headers": {"X-Key": "k3y"}},
        {"url": "http://127.0.0.1.tools.example/mcp", "headers": {"X-Key": "k3y"}},
        {"url": "http://localhost@tools.example/mcp"},
        {"url": "HTTP://[2001:db8::1]/mcp", "headers": {"X-Key": "k3y"}},
    ],
)
def test_credentials_go_to_no_other_machine_without_encryption(given: dict[str, Any]) -> None:
    options = {"url": "http://tools.example/mcp", **given}
    with pytest.raises(InsecureServerError, match="without encryption") as told:
        HttpServer(**options)
    assert "allow_insecure=True" in told.value.hint
    assert not any(secret in str(told.value) for secret in ("k3y", "pw", "token="))
    HttpServer(**options, allow_insecure=True)


@pytest.mark.parametrize(
    "place", ["http://localhost:1", "http://127.0.0.9", "http://[::1]:2", "https://a.example"]
)
def test_credentials_go_to_this_machine_and_over_tls(place: str) -> None:
    HttpServer(f"{place}/mcp", headers={"X-Key": "k3y"})


def test_without_credentials_plain_http_is_taken() -> None:
    HttpServer("http://tools.example/mcp")


def test_credentials_with_an_equals_sign_share_no_connection() -> None:
    assert pool_key("", {"A": "b=c"}) != pool_key("", {"A=b": "c"})
    assert pool_key("A=b", {}) != pool_key("", {"A": "b"})
