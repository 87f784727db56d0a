"""A host whose calls need tokens of an authorization server, for its users."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Any, Literal
from urllib.parse import parse_qs

import httpx
import pytest

from tests.capabilities.oauth_server import CLIENT, OAuthServer, oauth_server
from tests.clients.books import Books, GetBook, operation
from tests.runtime.tools import waiting
from toolgen.adapters.oauth import OAuth, OAuthCallback, OAuthClient
from toolgen.capabilities import (
    CredentialPlace,
    CredentialsCapability,
    CredentialStore,
    EnvironmentCredentials,
    MemoryCredentialStore,
)
from toolgen.clients import HTTP, Parameter, calling
from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, ToolContext, ToolResult
from toolgen.runtime.functions import func_tool, function_toolset

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
        self.store: CredentialStore = MemoryCredentialStore(clock=lambda: self.now)
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


async def authorized(server: OAuthServer) -> Host:
    host = Host(server, "authorization_code")
    asked = waiting(await host.get())
    await host.callback.complete(await host.authorize(asked), user="ann")
    assert (await host.runtime.suspensions.result(asked.token)).status == "ok"
    return host
