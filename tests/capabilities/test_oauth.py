"""Tokens of OAuth 2 against an authorization server: got, renewed, asked for, and brought by a browser."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import threading
from collections.abc import AsyncIterator
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from tests.capabilities.oauth_server import CLIENT, OAuthServer, oauth_server, served
from tests.clients.books import Books, GetBook, operation
from tests.runtime.tools import waiting
from toolgen.adapters.oauth import OAuth, OAuthCallback, OAuthClient
from toolgen.capabilities import (
    CredentialPlace,
    CredentialsCapability,
    EnvironmentCredentials,
    MemoryCredentialStore,
)
from toolgen.clients import HTTP, Parameter, calling
from toolgen.contract.credentials import Credential
from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, ToolContext, ToolResult, func_tool, function_toolset

ANN = CallMeta(session_id="s", labels={"user": "ann"})
BEN = CallMeta(session_id="b", labels={"user": "ben"})
HOST = OAuthClient(client_id=CLIENT[0], client_secret=CLIENT[1])
NAME = '["Books", "oauth"]'


@pytest.fixture
async def server() -> AsyncIterator[OAuthServer]:
    async with oauth_server() as server:
        yield server


class Host:
    """A runtime whose tool reads a book of the server, and whose callback is mounted."""

    def __init__(
        self, server: OAuthServer, kind: Literal["client_credentials", "authorization_code"]
    ) -> None:
        self.server = server
        self.now = 1_000_000.0
        self.flow = OAuthFlow(kind=kind, token=f"{server.url}/token", authorize=f"{server.url}/authorize")
        self.scopes: tuple[str, ...] = ("read",)
        self.store = MemoryCredentialStore(clock=lambda: self.now)
        self.clients = {"Books": HOST}
        self.callback_url = "http://host.test/callback"
        self.restart()

    def restart(self) -> None:
        oauth = OAuth(
            self.clients,
            redirect_uri=self.callback_url,
            environment=EnvironmentCredentials({}),
            clock=lambda: self.now,
        )
        self.credentials = CredentialsCapability(
            self.store, oauth=oauth, environment=EnvironmentCredentials({}), clock=lambda: self.now
        )
        self.runtime = Runtime(engine=InProcessEngine(), capabilities=[self.credentials])
        client = Books(server=self.server.url)
        self.server.exits.push_async_callback(client.aclose)
        self.server.exits.push_async_callback(self.runtime.aclose)

        async def get(ctx: ToolContext) -> str:
            """Get a book."""
            scheme = SecurityScheme(name="oauth", kind="oauth2", flow=self.flow)
            http = HTTP(
                verb="GET",
                path="/books",
                parameters=(Parameter("id", "query"),),
                security=((Requirement(scheme, self.scopes),),),
            )
            with calling(ctx):
                book: Any = await client.send(operation(http, errors={}), GetBook(id="1"))
                return str(book.title)

        self.runtime.tools.register(function_toolset("library.books", [func_tool(get)]))
        self.callback = OAuthCallback(self.runtime, self.credentials)

    async def get(self, meta: CallMeta = ANN) -> ToolResult:
        return await self.runtime.call("get", {}, dataclasses.replace(meta, tool_call_id="c"))

    async def authorize(self, asked: Any) -> dict[str, str]:
        """Return what the server sends the browser of a person back with."""
        async with httpx.AsyncClient(verify=False) as browser:
            response = await browser.get(asked.request["address"])
        assert response.status_code == 302, response.text
        where, _, query = response.headers["location"].partition("?")
        assert where == self.callback_url
        return {name: values[0] for name, values in parse_qs(query).items()}

    async def kept(self, scope: Any = "user", owner: str = "ann") -> Any:
        return await self.store.load(CredentialPlace(scope, owner, NAME))


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
    variables = {"BOOKS_OAUTH_CLIENT_ID": CLIENT[0], "BOOKS_OAUTH_CLIENT_SECRET": CLIENT[1]}
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
    assert (await host.runtime.waits.result(asked.token)).json == b'"read"'
    assert (await host.get()).json == b'"read"'
    assert server.grants == ["authorization_code"]
    waiting(await host.get(BEN))  # it is Ann's alone


async def test_without_a_user_it_is_the_sessions(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get(CallMeta(session_id="s")))
    assert (await host.callback.complete(await host.authorize(asked)))[0] == 200
    assert await host.kept("session", "s") is not None


async def test_the_state_counts_once_for_its_user_and_its_time(server: OAuthServer) -> None:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    brought = await host.authorize(asked)
    unknown = (400, "This authorization is unknown, was used, or is too old.")
    assert await host.callback.complete({**brought, "state": "other"}, user="ann") == unknown
    assert await host.callback.complete({"code": brought["code"]}) == unknown
    assert await host.callback.complete(brought, user="ben") == (
        403,
        "This authorization is of another user.",
    )
    assert await host.callback.complete(brought, user="") == (403, "This authorization is of another user.")
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
    assert (await host.runtime.waits.result(asked.token)).status == "ok"


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
    assert said.endswith("is of another issuer: https://evil.example")
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
    assert "is at an address that is not public, and nobody has accepted it" in result.error.message
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
    await host.runtime.waits.cancel(asked.token)
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
    assert (await host.runtime.waits.result(asked.token)).status == "ok"


async def authorized(server: OAuthServer) -> Host:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    await host.callback.complete(await host.authorize(asked), user="ann")
    assert (await host.runtime.waits.result(asked.token)).status == "ok"
    return host


async def test_a_token_is_renewed_by_one_call_and_kept_before_it_is_used(server: OAuthServer) -> None:
    host = await authorized(server)
    before = await host.kept()
    host.now += 3600
    results = await asyncio.gather(*(host.get() for _ in range(5)))
    assert [result.status for result in results] == ["ok"] * 5
    assert server.grants == ["authorization_code", "refresh_token"]
    after = await host.kept()
    assert after["refresh_token"] in server.refresh
    assert after["refresh_token"] != before["refresh_token"]


async def test_a_call_that_is_canceled_loses_no_token(server: OAuthServer) -> None:
    host = await authorized(server)
    before = await host.kept()
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    call = asyncio.create_task(host.get())
    await server.has_asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    server.may_answer.set()
    assert (await host.get()).status == "ok"
    assert server.grants == ["authorization_code", "refresh_token"]
    assert (await host.kept())["refresh_token"] != before["refresh_token"]


async def test_a_token_that_is_renewed_while_its_user_is_erased_is_not_kept(server: OAuthServer) -> None:
    host = await authorized(server)
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    call = asyncio.create_task(host.get())
    await server.has_asked.wait()
    assert await host.store.forget("user", "ann") == 1
    server.may_answer.set()
    waiting(await call)
    assert await host.kept() is None


async def test_calls_of_two_event_loops_renew_a_token(server: OAuthServer) -> None:
    """A lock of one loop does not wake what waits for it in another one."""
    host = await authorized(server)
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    scheme = SecurityScheme(name="oauth", kind="oauth2", flow=host.flow)
    found: list[Credential | None] = []

    def find() -> None:
        found.append(asyncio.run(host.credentials.find(ANN, "Books", Requirement(scheme, host.scopes))))

    first, second = (threading.Thread(target=find, daemon=True) for _ in range(2))
    first.start()
    await server.has_asked.wait()
    second.start()
    server.may_answer.set()
    await asyncio.wait_for(asyncio.gather(*(asyncio.to_thread(each.join) for each in (first, second))), 10)
    assert [credential is not None for credential in found] == [True, True]
    assert server.grants == ["authorization_code", "refresh_token"]


async def test_a_loop_that_ends_while_it_waits_for_a_renewal_disturbs_nobody(
    server: OAuthServer, caplog: pytest.LogCaptureFixture
) -> None:
    host = await authorized(server)
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    scheme = SecurityScheme(name="oauth", kind="oauth2", flow=host.flow)
    requirement = Requirement(scheme, host.scopes)
    first = asyncio.create_task(host.credentials.find(ANN, "Books", requirement))
    await server.has_asked.wait()

    async def give_up() -> None:
        waiting = asyncio.create_task(host.credentials.find(ANN, "Books", requirement))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()

    await asyncio.to_thread(asyncio.run, give_up())
    server.may_answer.set()
    assert await first is not None
    assert [record for record in caplog.records if record.name.startswith("concurrent")] == []


async def test_a_refused_token_is_renewed(server: OAuthServer) -> None:
    host = await authorized(server)
    server.access.clear()
    assert (await host.get()).status == "ok"
    assert server.grants == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("moment", [3, 4], ids=["before", "meanwhile"])
async def test_where_another_process_has_renewed_it_its_token_is_used(
    server: OAuthServer, moment: int
) -> None:
    host = await authorized(server)
    host.now += 3600
    other = dataclasses.replace(Credential(secret="access-of-another"), expires_at=host.now + 3600)
    server.access["access-of-another"] = "read"
    server.refresh.clear()
    load, loads = host.store.load, 0

    async def load_late(place: CredentialPlace) -> Any:  # the other process is faster
        nonlocal loads
        loads += 1
        if loads == moment:
            await host.store.save(place, dataclasses.asdict(other))
        return await load(place)

    host.store.load = load_late  # type: ignore[method-assign]
    assert (await host.get()).json == b'"read"'
    assert server.grants == ["authorization_code", "refresh_token"][: moment - 2]


async def test_where_the_server_refuses_for_good_the_person_is_asked_again(server: OAuthServer) -> None:
    host = await authorized(server)
    server.refresh.clear()
    host.now += 3600
    asked = waiting(await host.get())
    assert asked.kind == "credential"
    assert (await host.kept())["refresh_token"] == ""
    assert (await host.callback.complete(await host.authorize(asked), user="ann"))[0] == 200
    assert (await host.runtime.waits.result(asked.token)).status == "ok"


async def test_a_server_that_is_away_does_not_cost_the_refresh_token(server: OAuthServer) -> None:
    host = await authorized(server)
    host.now += 3600
    server.fault = Response("away", 503)
    result = await host.get()
    assert result.error is not None
    assert (result.status, result.error.is_retryable) == ("error", True)
    assert "answered 503" in result.error.message
    server.fault = None
    assert (await host.get()).status == "ok"


async def test_more_scopes_are_asked_for_with_those_that_are_there(server: OAuthServer) -> None:
    host = await authorized(server)
    host.scopes = ("write",)
    asked = waiting(await host.get())
    assert asked.request is not None
    assert "scope=write+read" in str(asked.request["address"])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            JSONResponse({"error": "invalid_client", "error_description": "x" * 999}, 401),
            "invalid_client (xxx",
        ),
        (JSONResponse({"access_token": "a-token-12345", "token_type": "mac"}), "gave no bearer token"),
        (JSONResponse({"access_token": 5, "token_type": "bearer"}), "gave no bearer token"),
        (JSONResponse(["a-token-12345"]), "answered 200"),
        (Response("a-token-12345"), "answered 200 and no JSON"),
        (Response(b"[" * 100_000), "answered 200 and no JSON"),
        (Response(b" " * 1_000_001), "more than 1000000 bytes"),
        (Response(gzip.compress(b"{}"), 200, {"Content-Encoding": "gzip"}), "answered packed"),
        (Response("", 302, {"Location": "/elsewhere"}), "answered 302 and no JSON"),
    ],
    ids=range(9),
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
        ({"issuer": "https://evil.example"}, "names the issuer https://evil.example, of another origin"),
        ({"token_endpoint": "https://evil.example/token"}, "names the token_endpoint https://evil.example"),
        ({"token_endpoint": 5}, "names the token_endpoint 5"),
        ({"issuer": ""}, "is of the issuer"),
        ({"token_endpoint": ""}, "Books is known; write token=… into its flow"),
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
