"""Connections of tools that clients answer: which calls are made again, and which end as unknown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.books import GET_BOOK, Books, GetBook, context
from tests.clients.clock import by_clock, put_forward
from tests.clients.servers import Received, answer, answering, serving
from tests.clients.writing import BOOK, POST, PUT, closed_port, never, writes
from toolgen.clients import calling
from toolgen.runtime import Runtime, Scheduling, ToolContext, ToolError, ToolResult
from toolgen.runtime.functions import func_tool, function_toolset


async def called(
    of: Any,
    respond: Any,
    *,
    server: str = "",
    annotations: Any = None,
    contexts: list[ToolContext] | None = None,
    **scheduling: Any,
) -> tuple[ToolResult, list[Received]]:
    """Return the result of a call of a tool that is bound to an operation, and what its server received."""
    async with serving(respond) as raw, Books(server=server or raw.url) as client:

        async def get_book(id: str, ctx: ToolContext) -> str:
            """Get a book."""
            if contexts is not None:
                contexts.append(ctx)
            with calling(ctx):
                return str((await client.send(of, GetBook(id=id))).title)

        runtime = Runtime(scheduling=Scheduling(**scheduling))
        tool = func_tool(get_book, annotations=annotations or {})
        runtime.tools.register(function_toolset("library.books", [tool]))
        return await runtime.call("get_book", {"id": "1"}), raw.received


async def test_a_lost_answer_of_a_tool_that_may_repeat_is_asked_for_again() -> None:
    async def second_time(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(200, BOOK) if request.connection == 2 else b"")
        writer.close()

    result, received = await called(POST, second_time, annotations={"idempotent": True})
    assert (result.status, len(received)) == ("ok", 2)
    result, received = await called(POST, second_time)
    assert (result.status, len(received)) == ("unknown", 1)


async def test_a_tool_that_may_not_repeat_makes_a_lost_put_unknown() -> None:
    result, received = await called(PUT, writes(b""), annotations={"idempotent": False})
    assert (result.status, len(received)) == ("unknown", 1)


async def test_the_scheduler_waits_as_long_as_the_service_asks() -> None:
    busy = answer(503, b"", Retry_After="0")
    result, received = await called(
        GET_BOOK, answering(busy, busy, answer(200, BOOK)), annotations={"read_only": True}
    )
    assert (result.status, len(received)) == ("ok", 3)
    result, received = await called(
        GET_BOOK, answering(answer(503, b"", Retry_After="3600")), annotations={"read_only": True}
    )
    assert (result.status, len(received)) == ("error", 1)
    assert result.retry_hint is not None
    assert result.retry_hint.retry_after == 3600


@by_clock
async def test_a_call_whose_time_is_over_is_unknown_once_it_was_sent() -> None:
    result, received = await called(POST, never, tool_timeout_s=5)
    assert (result.status, len(received)) == ("unknown", 1)
    result, _ = await called(GET_BOOK, never, tool_timeout_s=5, annotations={"read_only": True})
    assert (result.status, result.retry_hint and result.retry_hint.reason) == ("error", "timeout")


async def test_a_redirected_request_is_one_call() -> None:
    """A route of FastAPI with a slash at its end: what was asked for is done once, at the second address."""
    home = answer(307, b"", Location="/books/")
    contexts: list[ToolContext] = []
    result, received = await called(POST, answering(home, answer(200, BOOK)), contexts=contexts)
    assert (result.status, len(contexts)) == ("ok", 1)
    assert [(one.verb, one.target, one.body) for one in received] == [
        ("POST", "/books", b'{"id":"1"}'),
        ("POST", "/books/", b'{"id":"1"}'),
    ]

    async def lost(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(home if request.target == "/books" else b"")
        if request.target != "/books":
            writer.close()

    result, received = await called(POST, lost)
    assert (result.status, len(received)) == ("unknown", 2)


@by_clock
async def test_the_requests_of_a_call_have_one_time() -> None:
    async def slowly(request: Received, writer: asyncio.StreamWriter) -> None:
        put_forward(3)
        writer.write(answer(307, b"", Location="/elsewhere"))

    result, received = await called(POST, slowly, tool_timeout_s=5)
    assert (result.status, len(received)) == ("unknown", 2)


@by_clock
async def test_a_call_whose_connection_was_never_made_was_not_run_when_its_time_is_over() -> None:
    """A host whose name takes long to resolve, as one that drops what it gets."""
    loop = asyncio.get_running_loop()
    contexts: list[ToolContext] = []

    async def resolve(*args: Any, **options: Any) -> Any:
        put_forward(1_000)
        await asyncio.Event().wait()

    loop.getaddrinfo = resolve  # type: ignore[method-assign]  # of this loop alone
    result, _ = await called(POST, never, server="http://books.test", contexts=contexts, tool_timeout_s=5)
    assert result.status == "error"
    assert "was not run" in str(result.error)
    assert not contexts[0].has_begun


@pytest.mark.parametrize("has_begun", [False, True])
async def test_an_executor_that_has_done_something_itself_has_begun(has_begun: bool) -> None:
    ctx = context()
    ctx.has_begun = True
    async with Books(server=f"http://127.0.0.1:{closed_port()}") as client:
        with calling(ctx, has_begun=has_begun), calling(ctx), pytest.raises(ToolError):
            await client.send(POST, GetBook(id="1"))
    assert ctx.has_begun == has_begun


async def test_a_call_whose_first_request_was_sent_has_begun() -> None:
    ctx = context()
    async with (
        serving(answering(answer(200, BOOK))) as server,
        Books(server=server.url) as there,
        Books(server=f"http://127.0.0.1:{closed_port()}") as gone,
    ):
        with calling(ctx):
            await there.send(POST, GetBook(id="1"))
        with calling(ctx), pytest.raises(ToolError, match="was not run"):
            await gone.send(POST, GetBook(id="1"))
    assert ctx.has_begun
