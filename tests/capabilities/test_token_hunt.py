"""Tokens are hunted in all that a run of an agent and a direct call leave, and tell: none is found."""

from __future__ import annotations

import base64
import dataclasses
import json
import logging
import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, quote_plus

import httpx
import pytest

from tests.agents.tools import agent, answers, calling
from tests.capabilities.oauth_server import CLIENT, OAuthServer, oauth_server
from tests.clients.books import NOT_FOUND, Books, GetBook, NotFound, operation
from tests.runtime.test_telemetry import Recorded
from toolgen.adapters.oauth import OAuth, OAuthCallback, OAuthClient
from toolgen.agents import Agents, FinalResponse, PlanInput, SqliteSessionStore, agents_of
from toolgen.capabilities import (
    CREDENTIALS,
    Credential,
    CredentialsCapability,
    EnvironmentCredentials,
    SqliteCredentialStore,
)
from toolgen.clients import HTTP, Parameter, Response
from toolgen.clients import calling as calling_of
from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.sinks import JsonLinesSink
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import CallMeta, Runtime, ToolContext
from toolgen.runtime.functions import func_error, func_tool, function_toolset

SECRET = "s3cret/key+with=signs&more"
SCHEMES = {
    "header": SecurityScheme(name="key", kind="api_key", key="X-Key"),
    "query": SecurityScheme(name="key", kind="api_key", place="query", key="key"),
    "cookie": SecurityScheme(name="key", kind="api_key", place="cookie", key="key"),
    "basic": SecurityScheme(name="key", kind="basic"),
    "bearer": SecurityScheme(name="key", kind="bearer"),
    "client": SecurityScheme(name="key", kind="oauth2", flow=OAuthFlow(kind="client_credentials")),
    "code": SecurityScheme(name="key", kind="oauth2", flow=OAuthFlow(kind="authorization_code")),
}
STATUSES = ("200", "400", "404", "503", "raise")


@pytest.fixture
async def server() -> AsyncIterator[OAuthServer]:
    async with oauth_server() as server:
        yield server


@dataclass
class Hunt:
    """All that was told, and what is looked for in it."""

    server: OAuthServer
    texts: list[str] = field(default_factory=list)

    @property
    def secrets(self) -> list[str]:
        return [SECRET, CLIENT[1], *self.server.issued]

    def forms(self) -> set[bytes]:
        pairs = [f"frank:{SECRET}", ":".join(CLIENT)]
        forms = {form for text in self.secrets for form in (text, quote(text, safe=""), quote_plus(text))}
        forms |= {base64.b64encode(text.encode()).decode() for text in (*self.secrets, *pairs)}
        return {form.encode() for form in forms | {json.dumps(text)[1:-1] for text in self.secrets}}

    def found(self, folder: Path) -> list[str]:
        """Return where one is."""
        files = {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        places = {**files, **{text[:80]: text.encode() for text in self.texts}}
        return [
            f"{form!r} in {place}" for place, data in places.items() for form in self.forms() if form in data
        ]


class Planner:
    """Calls the tool in each way, and says what it heard."""

    async def plan_start(self, given: PlanInput) -> Any:
        return calling(*(("get", {"way": way}) for way in STATUSES))

    async def plan_resume(self, given: PlanInput) -> Any:
        return FinalResponse(text=" ".join(answers(given)))


def tools(server: OAuthServer, scheme: SecurityScheme) -> Any:
    """Return a toolset whose one tool sends a request, and fails as it is told."""
    client = Books(server=server.url)
    server.exits.push_async_callback(client.aclose)
    http = HTTP(
        verb="GET",
        path="/echo",
        parameters=(Parameter("id", "query"),),
        responses=(Response(200), Response(404, "not_found")),
        security=((Requirement(scheme),),),
    )
    get_book = operation(http, errors={NOT_FOUND: NotFound})

    async def get(way: str, ctx: ToolContext) -> str:
        """Get a book."""
        with calling_of(ctx):
            if way != "raise":
                book: Any = await client.send(get_book, GetBook(id=way))
                return str(book.title)
        credential = await ctx.capability(CREDENTIALS).get("Books", Requirement(scheme))
        assert credential is not None
        headers = {"Authorization": f"Bearer {credential.secret}"}
        async with httpx.AsyncClient(verify=False) as http:
            response = await http.get(
                f"{server.url}/echo", params={"id": 400, "k": credential.secret}, headers=headers
            )
        raise RuntimeError(f"{response.request.url!r} {headers} {response.text}")

    return function_toolset(
        "library.books",
        [
            func_tool(
                get, toolset="library.books", errors=[func_error("not_found", "No such book.", NotFound)]
            )
        ],
    )


def capability(server: OAuthServer, folder: Path) -> CredentialsCapability:
    oauth = OAuth(
        {"Books": OAuthClient(client_id=CLIENT[0], client_secret=CLIENT[1])},
        redirect_uri="http://host.test/back",
    )
    store = SqliteCredentialStore(folder / "credentials.db", secret=b"s" * 32)
    return CredentialsCapability(store, oauth=oauth, environment=EnvironmentCredentials({}))


async def given(hunt: Hunt, runtime: Runtime, credentials: CredentialsCapability, kind: str) -> None:
    """Give the credential that the one call needs that waits."""
    (asked,) = await runtime.suspensions.list()
    hunt.texts.append(repr(asked))
    if kind != "code":
        credential = Credential(secret=SECRET, username="frank" if kind == "basic" else "")
        await runtime.suspensions.give(asked.token, credential, by="ann", wait_s=None)
        return
    assert asked.request is not None
    logging.disable()  # the browser of a person logs nothing here
    async with httpx.AsyncClient(verify=False) as browser:
        response = await browser.get(str(asked.request["address"]))
    logging.disable(logging.NOTSET)
    query = parse_qs(response.headers["location"].partition("?")[2])
    said = {name: values[0] for name, values in query.items()}
    assert (await OAuthCallback(runtime, credentials).complete(said, user="ann"))[0] == 200
    await runtime.suspensions.result(asked.token, wait_s=None)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", SCHEMES)
async def test_no_token_is_told_or_kept_in_the_clear(
    kind: str, server: OAuthServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    scheme, hunt, recorded, events = SCHEMES[kind], Hunt(server), Recorded(), Events()
    if scheme.flow is not None:
        flow = dataclasses.replace(
            scheme.flow, token=f"{server.url}/token", authorize=f"{server.url}/authorize"
        )
        scheme = dataclasses.replace(scheme, flow=flow)
    credentials = capability(server, tmp_path)
    runtime = Runtime(
        engine=InProcessEngine(tmp_path / "runs.db"),
        events=events,
        spans=ToolSpans(recorded.provider, shows_content=True),
        capabilities=[credentials],
    )
    served = tools(server, scheme)

    made = Agents(runtime, sessions=SqliteSessionStore(tmp_path / "sessions.db"))
    made.register(agent("x.agent", Planner(), served))
    meta = CallMeta(session_id="s", labels={"user": "ann"})
    async with JsonLinesSink(events, tmp_path / "events.jsonl"), runtime:
        first = await runtime.call("get", {"way": "400"}, meta)
        if kind != "client":
            assert first.status == "suspended"
            await given(hunt, runtime, credentials, kind)
        for way in STATUSES:
            result = await runtime.call("get", {"way": way}, meta)
            assert result.status == ("ok" if way == "200" else "error"), result.json
            hunt.texts += [repr(result), result.json.decode()]
            if result.error is not None:
                hunt.texts += ["".join(traceback.format_exception(result.error)), repr(vars(result.error))]
        handle = (
            await agents_of(runtime).client("x.agent").start("Go.", session_id="s", labels={"user": "ann"})
        )
        output = await handle.settled()
        assert output.status == "completed", output
        hunt.texts += [repr(output), repr(await runtime.runs.events(handle.run_id)), repr(credentials)]
        hunt.texts.append(repr(await runtime.runs.list()))
    hunt.texts += [span.to_json() for span in recorded.spans()]
    hunt.texts += [caplog.text, *(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)]
    assert hunt.found(tmp_path) == []
    assert "/echo?id=" in caplog.text
