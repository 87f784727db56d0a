"""A call whose credential is missing: it waits, goes on with what a person gives, and keeps no secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.clients.books import Books, GetBook, operation
from tests.clients.servers import Received, answer, serving
from tests.runtime.tools import waiting
from toolgen.capabilities import (
    Credential,
    CredentialsCapability,
    EnvironmentCredentials,
    SqliteCredentialStore,
)
from toolgen.clients import HTTP, Parameter, Requirement, Response, SecurityScheme, calling
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, ToolContext
from toolgen.runtime.functions import func_tool, function_toolset

KEY = Requirement(SecurityScheme(name="key", kind="api_key", place="query", key="key"))
SECRETS = ("k-3141592653589", "k-2718281828459")
META = CallMeta(session_id="s", labels={"user": "ann"})


async def echoing(request: Received, writer: Any) -> None:
    """Accept the second secret alone, and say back what came."""
    status = 200 if SECRETS[1] in request.target else 401
    writer.write(answer(status, b'{"id":"1","title":"%s"}' % request.target.encode()))


async def test_a_call_waits_for_its_credential_and_for_a_better_one(tmp_path: Path) -> None:
    http = HTTP(
        verb="POST",
        path="/books",
        parameters=(Parameter("id", "query"),),
        responses=(Response(200),),
        security=((KEY,),),
    )
    of = operation(http, errors={})
    store = SqliteCredentialStore(tmp_path / "credentials.db", secret=b"s" * 32)
    credentials = CredentialsCapability(store, environment=EnvironmentCredentials({}))
    async with serving(echoing) as server, Books(server=server.url) as client:

        async def add_book(id: str, ctx: ToolContext) -> str:
            """Add a book."""
            with calling(ctx):
                return str((await client.send(of, GetBook(id=id))).title)

        runtime = Runtime(capabilities=[credentials], engine=InProcessEngine(tmp_path / "runs.db"))
        runtime.tools.register(function_toolset("library.books", [func_tool(add_book)]))
        first = waiting(await runtime.call("add_book", {"id": "1"}, META))
        assert server.received == []
        again = waiting(await runtime.suspensions.give(first.token, Credential(secret=SECRETS[0])))
        result = await runtime.suspensions.give(again.token, Credential(secret=SECRETS[1]))
        assert (result.status, len(server.received)) == ("ok", 2)
        assert b"sensitive" in result.json
        await runtime.aclose()
    kept = all_bytes(tmp_path)
    assert not any(secret.encode() in kept or secret.encode() in result.json for secret in SECRETS)


def all_bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())
