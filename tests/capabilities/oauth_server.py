"""An authorization server with an API behind it, for tests: codes with PKCE, refresh tokens that rotate.

One that comes twice ends the authorization (RFC 9700, section 4.14.2).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT = ("host-1", "client-secret-c8d2f1")


@dataclass(slots=True)
class OAuthServer:
    """The state of the server; tests change it."""

    url: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Parameters of the authorization by code."""
    access: dict[str, str] = field(default_factory=dict)
    """Scopes by access token."""
    refresh: dict[str, str] = field(default_factory=dict)
    """Scopes by refresh token that was not used."""
    issued: list[str] = field(default_factory=list)
    """All codes and tokens."""
    grants: list[str] = field(default_factory=list)
    """Grant types of the requests for tokens, in their order."""
    expires_in: Any = 3600
    metadata: dict[str, Any] = field(default_factory=dict)
    """What is said otherwise than it is."""
    fault: Response | None = None
    """The answer of the token endpoint, in the place of a token."""
    has_asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by a request for a token."""
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    """It is answered when this is set, as it is in the beginning."""
    is_granted: bool = True
    """Whether the person says yes."""
    exits: AsyncExitStack = field(default_factory=AsyncExitStack)
    """What is closed before the server."""

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self.discovered),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/books", self.books),
                Route("/echo", echo),
            ]
        )

    async def discovered(self, request: Request) -> Response:
        endpoints = {"authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token"}
        return JSONResponse({"issuer": self.url, **endpoints, **self.metadata})

    async def authorize(self, request: Request) -> Response:
        """Answer as a provider does whose person is signed in."""
        asked = dict(request.query_params)
        if asked.get("code_challenge_method") != "S256" or asked.get("client_id") != CLIENT[0]:
            return Response("no PKCE, or another client", 400)
        said = {"state": asked["state"]}
        if self.is_granted:
            said["code"] = secrets.token_urlsafe(24)
            said["iss"] = self.url
            self.codes[said["code"]] = asked
            self.issued.append(said["code"])
        else:
            said |= {"error": "access_denied", "error_description": "<b>No</b>\n"}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(said)}", 302)

    async def token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        self.grants.append(form["grant_type"])
        self.has_asked.set()
        await self.may_answer.wait()
        if self.fault is not None:
            return self.fault
        pair = base64.b64encode(":".join(CLIENT).encode()).decode()
        if request.headers.get("authorization") != f"Basic {pair}":
            return JSONResponse({"error": "invalid_client", "error_description": f"not {pair}"}, 401)
        scope = self._scope(form)
        if scope is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        token = f"access-{secrets.token_urlsafe(24)}"
        self.access[token] = scope
        self.issued.append(token)
        granted = {"access_token": token, "token_type": "Bearer", "scope": scope}
        if self.expires_in is not None:
            granted["expires_in"] = self.expires_in
        if form["grant_type"] != "client_credentials":
            granted["refresh_token"] = f"refresh-{secrets.token_urlsafe(24)}"
            self.refresh[granted["refresh_token"]] = scope
            self.issued.append(granted["refresh_token"])
        return JSONResponse(granted)

    def _scope(self, form: dict[str, str]) -> str | None:
        """Return what a grant allows; None where it is none."""
        match form["grant_type"]:
            case "client_credentials":
                return form.get("scope", "")
            case "refresh_token":
                scope = self.refresh.pop(form["refresh_token"], None)
                if scope is None and form["refresh_token"] in self.issued:  # it may be stolen
                    self.refresh.clear()
                return scope
            case _:
                asked = self.codes.pop(form["code"], None)
                digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
                challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
                if asked is None or asked["code_challenge"] != challenge:
                    return None
                return asked.get("scope", "") if asked["redirect_uri"] == form["redirect_uri"] else None

    async def books(self, request: Request) -> Response:
        """Answer with a book, or with all that the request had."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind == "Bearer" and token in self.access:
            return JSONResponse({"id": "1", "title": self.access[token]})
        return Response(f"{request.url} {dict(request.headers)}", 401)


async def echo(request: Request) -> Response:
    """Answer with all that a request had, as servers do that say too much."""
    status, said = int(request.query_params["id"]), f"{request.url} {dict(request.headers)}"
    if status in (200, 404):
        return JSONResponse({"id": said, "title": said}, status, {"X-Seen": said})
    return Response(said, status, {"X-Seen": said})


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """Yield the address of an application while it is served."""
    config = uvicorn.Config(app, port=0, log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    listening.listen()
    task = asyncio.create_task(server.serve([listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await task
        listening.close()


@asynccontextmanager
async def oauth_server() -> AsyncIterator[OAuthServer]:
    """Yield a server while it runs."""
    server = OAuthServer()
    server.may_answer.set()
    async with served(server.app()) as server.url, server.exits:
        yield server
