"""Tokens of OAuth 2 against an authorization server: got, asked for, and brought by a browser."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from tests.capabilities.oauth_host import ANN, BEN, HOST, Host
from tests.capabilities.oauth_host import server as server
from tests.capabilities.oauth_server import CLIENT, OAuthServer, served
from tests.clients.servers import serving
from tests.clients.test_connections import FLOODS
from tests.clients.writing import writes
from tests.runtime.tools import waiting
from toolgen.adapters.oauth import OAuth, OAuthCallback
from toolgen.capabilities import CredentialPlace, EnvironmentCredentials, MemoryCredentialStore
from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme
from toolgen.runtime import CallMeta, ToolError
from toolgen.stores import StoreDiskError


async def test_a_client_gets_a_token_for_itself_once(server: OAuthServer) -> None:
    host = Host(server, "client_credentials")
    results = await asyncio.gather(*(host.get() for _ in range(5)))
    assert [result.json for result in results] == [b'"read"'] * 5
    assert (await host.get(BEN)).status == "ok"
    assert server.grants == ["client_credentials"]
    host.now += 3600 - 29  # it is renewed before its end
    assert (await host.get()).status == "ok"
    assert server.grants == ["client_credentials"] * 2


async def test_a_refused_token_is_got_again_and_scopes_are_added(server: OAuthServer) -> None:
    host = Host(server, "client_credentials")
    await host.get()
    server.access.clear()
    assert (await host.get()).status == "ok"
    host.scopes = ("write",)
    assert (await host.get()).json == b'"write read"'
    host.scopes = ("read",)
    assert (await host.get()).json == b'"write read"'
    assert server.grants == ["client_credentials"] * 3


async def test_the_environment_has_a_client(server: OAuthServer) -> None:
    variables = {
        "TOOLGEN_BOOKS__OAUTH__CLIENT_ID": CLIENT[0],
        "TOOLGEN_BOOKS__OAUTH__CLIENT_SECRET": CLIENT[1],
    }
    flow = OAuthFlow(kind="client_credentials", token=f"{server.url}/token")
    requirement = Requirement(SecurityScheme(name="oauth", kind="oauth2", flow=flow))
    token = await OAuth(environment=EnvironmentCredentials(variables)).issue("books", requirement)
    assert token is not None
    assert (token.secret in server.access, token.secret in repr(token)) == (True, False)
    assert await OAuth(environment=EnvironmentCredentials({})).issue("books", requirement) is None


async def test_a_person_authorizes_and_the_call_goes_on(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    assert asked.request is not None
    sent = parse_qs(urlsplit(str(asked.request["address"])).query)
    assert {name: sent[name] for name in ("client_id", "scope", "code_challenge_method", "redirect_uri")} == {
        "client_id": [CLIENT[0]],
        "scope": ["read"],
        "code_challenge_method": ["S256"],
        "redirect_uri": [host.callback_url],
    }
    brought = await host.authorize(asked)
    assert await host.callback.complete(brought, user="ann") == (
        200,
        "Books is authorized. You may close this page.",
    )
    assert (await host.runtime.suspensions.result(asked.token)).json == b'"read"'
    assert (await host.get()).json == b'"read"'
    assert server.grants == ["authorization_code"]
    waiting(await host.get(BEN))  # it is Ann's alone


class Away(MemoryCredentialStore):
    """Fails the next times it is used."""

    def __init__(self) -> None:
        super().__init__(clock=lambda: 1_000_000.0)
        self.loads = self.saves = 0

    async def load(self, place: CredentialPlace) -> Any:
        self.loads -= 1
        return await super().load(place) if self.loads < 0 else self._fail()

    async def find(self, name: str) -> CredentialPlace | None:
        self.loads -= 1
        return await super().find(name) if self.loads < 0 else self._fail()

    async def save(self, *given: Any, **named: Any) -> None:
        self.saves -= 1
        return await super().save(*given, **named) if self.saves < 0 else self._fail()

    def _fail(self) -> NoReturn:
        raise StoreDiskError("cannot be read", path=Path("/host/credentials.db"), hint="wait")


async def test_a_store_that_fails_for_a_while_loses_no_authorization(server: OAuthServer) -> None:
    """It was told with its path, and the token of a code that counts once was lost."""
    host = Host(server, "authorization_code")
    host.store = store = Away()
    host.restart()
    asked = waiting(await host.get())
    brought = await host.authorize(asked)
    store.loads = 1
    status, said = await host.callback.complete(brought, user="ann")
    assert (status, "/host" in said) == (503, False)
    store.saves = 1
    assert (await host.callback.complete(brought, user="ann"))[0] == 200
    assert server.grants == ["authorization_code"]
    assert (await host.runtime.suspensions.result(asked.token)).json == b'"read"'


async def test_without_a_user_it_is_the_sessions(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get(CallMeta(session_id="s")))
    assert (await host.callback.complete(await host.authorize(asked)))[0] == 200
    assert await host.kept("session", "s") is not None


async def test_the_state_counts_once_for_its_user_and_its_time(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    brought = await host.authorize(asked)
    unknown = (400, "This authorization is unknown, was already used, or has expired.")
    assert await host.callback.complete({**brought, "state": "other"}, user="ann") == unknown
    assert await host.callback.complete({"code": brought["code"]}) == unknown
    assert await host.callback.complete(brought, user="ben") == (
        403,
        "This authorization belongs to another user.",
    )
    assert await host.callback.complete(brought, user="") == (
        403,
        "This authorization belongs to another user.",
    )
    assert await host.kept() is None
    host.now += 7 * 86_400 + 1
    assert await host.callback.complete(brought, user="ann") == unknown
    host.now -= 7 * 86_400 + 1
    asked = waiting(await host.get())
    brought = await host.authorize(asked)
    assert (await host.callback.complete(brought, user="ann"))[0] == 200
    assert await host.callback.complete(brought, user="ann") == unknown


async def test_a_code_is_exchanged_once_by_requests_at_the_same_time(server: OAuthServer) -> None:
    """A provider may take back all tokens of a code that comes twice (RFC 6749, 4.1.2)."""
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    brought = await host.authorize(asked)
    completed = await asyncio.gather(*(host.callback.complete(brought, user="ann") for _ in range(3)))
    assert sorted(status for status, _ in completed) == [200, 400, 400]
    assert server.grants == ["authorization_code"]
    assert (await host.runtime.suspensions.result(asked.token)).status == "ok"


async def test_a_code_of_another_authorization_gives_no_token(server: OAuthServer) -> None:
    """What an attacker has started is not finished by a person, and the other way round (RFC 9700, 4.5)."""
    host = Host(server, "authorization_code")
    ann = await host.authorize(waiting(await host.get(ANN)))
    ben = await host.authorize(waiting(await host.get(BEN)))
    status, said = await host.callback.complete({**ann, "code": ben["code"]}, user="ann")
    assert (status, said) == (
        502,
        "The authorization failed: the authorization server of Books refused: invalid_grant",
    )
    assert await host.kept() is None


async def test_a_code_of_another_issuer_is_not_exchanged(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    host.flow = OAuthFlow(
        kind="authorization_code", discovery=f"{server.url}/.well-known/oauth-authorization-server"
    )
    brought = await host.authorize(waiting(await host.get()))
    status, said = await host.callback.complete({**brought, "iss": "https://evil.example"}, user="ann")
    assert (status, server.grants) == (502, [])
    assert said.endswith("is from another issuer: https://evil.example")
    assert (await host.callback.complete(brought, user="ann"))[0] == 200


@pytest.mark.parametrize(
    "issuer", ["https://evil.example", "http://127.0.0.1:1", "http://[", "127.0.0.1", "x\x1b"]
)
async def test_without_metadata_the_issuer_is_at_the_origin_of_its_page(
    server: OAuthServer, issuer: str
) -> None:
    """A code of another server is sent to none (RFC 9207, section 2.4)."""
    host = Host(server, "authorization_code")
    brought = await host.authorize(waiting(await host.get()))
    status, said = await host.callback.complete({**brought, "iss": issuer}, user="ann")
    assert (status, "is from another issuer: " in said, "\x1b" in said) == (502, True, False)
    assert server.grants == []
    own = {**brought, "iss": f"{server.url}/realms/books"}
    assert (await host.callback.complete(own, user="ann"))[0] == 200


async def test_a_code_comes_with_its_issuer_where_the_metadata_says_so(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    server.metadata = {"authorization_response_iss_parameter_supported": True}
    host.flow = OAuthFlow(
        kind="authorization_code", discovery=f"{server.url}/.well-known/oauth-authorization-server"
    )
    brought = await host.authorize(waiting(await host.get()))
    without = {name: text for name, text in brought.items() if name != "iss"}
    status, said = await host.callback.complete(without, user="ann")
    assert (status, server.grants) == (502, [])
    assert said.endswith("is from an unknown issuer")
    assert (await host.callback.complete(brought, user="ann"))[0] == 200


@pytest.mark.parametrize("place", ["token", "discovery"])
async def test_addresses_that_nobody_has_accepted_are_public(
    server: OAuthServer, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(server, "client_credentials")
    addresses = {"token": f"{server.url}/token"}
    if place == "discovery":
        addresses = {"discovery": f"{server.url}/.well-known/oauth-authorization-server"}
    host.flow = OAuthFlow(kind="client_credentials", is_accepted=False, **addresses)
    result = await host.get()
    assert result.error is not None
    assert "is at an address that is not public and was not accepted" in result.error.message
    assert server.grants == []
    monkeypatch.setattr("toolgen.clients.servers.is_public", lambda address: True)
    assert (await host.get()).status == "ok"


async def test_a_person_who_says_no_may_say_yes_later(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    server.is_granted = False
    assert await host.callback.complete(await host.authorize(asked), user="ann") == (
        400,
        "The service was not authorized: access_denied <b>No</b>\\n",
    )
    server.is_granted = True
    assert (await host.callback.complete(await host.authorize(asked), user="ann"))[0] == 200


async def test_after_a_cancellation_no_token_is_got(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    brought = await host.authorize(asked)
    await host.runtime.suspensions.cancel(asked.token)
    assert (await host.callback.complete(brought, user="ann"))[0] == 410
    assert server.grants == []


async def test_the_mounted_callback_shows_text(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")

    async def user_of(scope: Any) -> str:
        return str(dict(scope["headers"]).get(b"x-user", b""), "ascii")

    application = OAuthCallback(host.runtime, host.credentials, user_of=user_of)
    async with served(application) as url, httpx.AsyncClient(verify=False) as browser:
        host.callback_url = f"{url}/callback"
        host.restart()
        application._runtime, application._credentials = host.runtime, host.credentials
        asked = waiting(await host.get())
        back = f"{host.callback_url}?{urlencode(await host.authorize(asked))}"
        assert (await browser.get(back)).status_code == 403
        assert (await browser.post(back, headers={"x-user": "ann"})).status_code == 405
        done = await browser.get(back, headers={"x-user": "ann"})
        assert (done.status_code, done.headers["content-type"]) == (200, "text/plain; charset=utf-8")
        assert done.headers["cache-control"] == "no-store"
    assert (await host.runtime.suspensions.result(asked.token)).status == "ok"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            JSONResponse({"error": "invalid_client", "error_description": "x" * 999}, 401),
            "invalid_client (xxx",
        ),
        (JSONResponse({"access_token": "a-token-12345", "token_type": "mac"}), "returned no bearer token"),
        (JSONResponse({"access_token": 5, "token_type": "bearer"}), "returned no bearer token"),
        (JSONResponse(["a-token-12345"]), "answered 200"),
        (Response("a-token-12345"), "answered 200 without JSON"),
        (Response(b"[" * 1_000), "answered 200 without JSON"),
        (Response(b"[" * 100_000), "answered with JSON that must have at most 10000 keys and items"),
        (
            JSONResponse({"access_token": [{}] * 10_000}),
            "answered with JSON that must have at most 10000 keys",
        ),
        (Response(b" " * 1_000_001), "more than 1000000 bytes"),
        (Response(gzip.compress(b"{}"), 200, {"Content-Encoding": "gzip"}), "sent a compressed answer"),
        (Response("", 302, {"Location": "/elsewhere"}), "answered 302 without JSON"),
    ],
    ids=range(11),
)
async def test_what_is_no_token_is_an_error_of_a_few_words(
    server: OAuthServer, fault: Response, said: str
) -> None:
    server.fault = fault
    result = await Host(server, "client_credentials").get()
    assert result.error is not None
    assert said in result.error.message
    assert "12345" not in result.error.message
    assert len(result.error.message) < 300


@pytest.mark.parametrize("flood", ["chunks", "interim"])
async def test_a_flood_of_an_authorization_server_ends_at_its_budget(flood: str) -> None:
    sent, said = FLOODS[flood]
    async with serving(writes(sent)) as flooding:
        flow = OAuthFlow(kind="client_credentials", token=f"{flooding.url}/token")
        requirement = Requirement(SecurityScheme(name="oauth", kind="oauth2", flow=flow))
        with pytest.raises(ToolError, match=f"of Books answered with {said}") as raised:
            await OAuth({"Books": HOST}).issue("Books", requirement)
    assert not raised.value.is_retryable


@pytest.mark.parametrize("life", ["3600", "x", -5, None, True, 10**30, "9" * 5_000])
async def test_the_life_of_a_token_is_what_the_server_says_where_it_says_one(
    server: OAuthServer, life: Any
) -> None:
    server.expires_in = life
    host = Host(server, "client_credentials")
    assert (await host.get()).status == "ok"
    kept = await host.kept("service", "")
    expected = {"3600": host.now + 3600, 10**30: host.now + 10 * 365 * 86_400}
    assert kept["expires_at"] == expected.get(life)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (
            {"issuer": "https://evil.example"},
            "names the issuer https://evil.example, whose origin differs",
        ),
        ({"token_endpoint": "https://evil.example/token"}, "names the token_endpoint https://evil.example"),
        ({"token_endpoint": 5}, "names the token_endpoint 5"),
        ({"issuer": ""}, "names the issuer"),
        ({"token_endpoint": ""}, "Books is unknown; write token=… into its flow"),
    ],
    ids=range(5),
)
async def test_metadata_of_somebody_else_is_not_trusted(
    server: OAuthServer, metadata: dict[str, Any], said: str
) -> None:
    host = Host(server, "client_credentials")
    host.flow = OAuthFlow(
        kind="client_credentials", discovery=f"{server.url}/.well-known/oauth-authorization-server"
    )
    server.metadata = metadata
    result = await host.get()
    assert result.error is not None
    assert said in result.error.message
    assert server.grants == []
    server.metadata = {}
    host.restart()
    assert (await host.get()).status == "ok"
