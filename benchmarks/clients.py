"""A tool that is bound to a request, against httpx's own call with the same decode and encode.

Run: `python -m benchmarks.clients`. The server answers prepared bytes in a process of its own, over open
connections. The time is that of the client's processor, and rounds of all sides alternate: so a busy machine
changes little. The rows are medians.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Annotated

import httpx
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from toolgen.clients import HTTP, HTTPClient, Operation, Parameter, Response, calling
from toolgen.contract.credentials import Credential
from toolgen.contract.transport import Requirement, Security, SecurityScheme
from toolgen.runtime import BoundTool, Runtime, StaticToolset, ToolContext, ToolModel, ToolSpec
from toolgen.runtime.functions import TypeCodec

ROUNDS, CALLS = 21, 100
KEY = SecurityScheme(name="key", kind="api_key", key="X-Api-Key")
SERVER = """
import asyncio, json, sys
books = [
    {"id": f"b{n}", "title": f"Title {n}", "pages": 100 + n, "tags": ["a", "b"], "isbn": "x"}
    for n in range(10)
]
body = json.dumps({"books": books, "total": 10}).encode()
head = "HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n"
answer = (head % len(body)).encode() + body

class Server(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
    def data_received(self, data):
        if data.endswith(b"\\r\\n\\r\\n"):
            self.transport.write(answer)

async def main():
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


class ListBooks(ToolModel):
    query: Annotated[str, Field(min_length=1)]
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    tags: list[str] | None = None


class Book(ToolModel):
    id: str
    title: str
    pages: int
    tags: list[str] | None = None


class Listed(ToolModel):
    books: list[Book]
    total: int | None = None


class Bare(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class BareListBooks(Bare):
    query: Annotated[str, Field(min_length=1)]
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    tags: list[str] | None = None


class BareBook(Bare):
    id: str
    title: str
    pages: int
    tags: list[str] | None = None


class BareListed(Bare):
    books: list[BareBook]
    total: int | None = None


ARGUMENTS = json.dumps({"query": "dune", "limit": 10, "tags": ["new", "old"]}).encode()


def operation(security: Security = ()) -> Operation[ListBooks, Listed]:
    parameters = (Parameter("query", "query", "q"), Parameter("limit", "query"), Parameter("tags", "query"))
    http = HTTP(
        verb="GET", path="/books", parameters=parameters, responses=(Response("2XX"),), security=security
    )
    return Operation("Books", "list_books", http, payload=ListBooks, result=Listed)


class Keys:
    """One key for everything."""

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        return Credential(secret="0123456789abcdef")

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        return None

    async def address(self, service: str, requirement: Requirement) -> str:
        return ""


def bound(client: HTTPClient, of: Operation[ListBooks, Listed], *, repeats: bool) -> Runtime:
    """Return a runtime with a tool that is bound to an operation, as generated code binds it."""

    async def list_books(payload: ListBooks, ctx: ToolContext) -> Listed:
        with calling(ctx):
            return await client.send(of, payload)

    spec: ToolSpec[ListBooks, Listed] = ToolSpec(
        id="library.books.list_books",
        description="List books.",
        payload=TypeCodec(ListBooks, "ListBooks"),
        result=TypeCodec(Listed, "Listed", is_result=True),
        annotations={"read_only": True} if repeats else {},
    )
    runtime = Runtime()
    tool = BoundTool(spec=spec, execute=list_books)
    runtime.tools.register(StaticToolset(name="library.books", bound=(tool,)))
    return runtime


async def compared(url: str) -> None:
    """Print the rows."""
    payloads, results = TypeAdapter(BareListBooks), TypeAdapter(BareListed)
    async with httpx.AsyncClient(base_url=url) as http, HTTPClient(server=url, credentials=Keys()) as client:

        async def by_hand() -> bytes:
            payload = payloads.validate_json(ARGUMENTS)
            query: dict[str, str | int | list[str] | None] = {
                "q": payload.query,
                "limit": payload.limit,
                "tags": payload.tags or [],
            }
            response = await http.get("/books", params=query)
            response.raise_for_status()
            return results.dump_json(results.validate_json(response.content), exclude_none=True)

        def tool(runtime: Runtime) -> Callable[[], Awaitable[object]]:
            async def call() -> object:
                result = await runtime.call("list_books", ARGUMENTS)
                assert result.status == "ok", result.json
                return result.json

            return call

        async def direct() -> object:
            return await client.send(of, ListBooks(query="dune", limit=10, tags=["new", "old"]))

        of = operation()
        sides: dict[str, Callable[[], Awaitable[object]]] = {
            "httpx, decode and encode": by_hand,
            "the client alone": direct,
            "a bound tool that only reads": tool(bound(client, of, repeats=True)),
            "a bound tool that may not repeat": tool(bound(client, of, repeats=False)),
            "a bound tool with an API key": tool(
                bound(client, operation(((Requirement(KEY),),)), repeats=True)
            ),
        }
        assert await by_hand() == await sides["a bound tool that only reads"]()
        times: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, call in sides.items():
                times[name].append(await _seconds(call))
    first = statistics.median(times["httpx, decode and encode"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:35} {median * 1e6:8.1f} µs {median / first:6.2f}")


async def _seconds(call: Callable[[], Awaitable[object]]) -> float:
    await call()
    start = time.process_time()
    for _ in range(CALLS):
        await call()
    return (time.process_time() - start) / CALLS


def main() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None, "it is a pipe"
        try:
            asyncio.run(compared(f"http://127.0.0.1:{server.stdout.readline().strip()}"))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
