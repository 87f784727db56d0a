"""Tools of generators: what they yield is progress, and what they return, or all of it, is the result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

import pytest

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.events import Event, Events, ToolUpdate
from toolgen.runtime import Runtime, SyncToolContext, ToolContext, ToolResult

Update = tuple[float | None, str, Any]


async def called(
    function: Callable[..., object], arguments: str = "{}", **facts: Any
) -> tuple[ToolResult, list[Update]]:
    """Return the result of a function, and what was reported of its progress before."""
    told: list[Update] = []

    def tell(event: Event) -> None:
        assert isinstance(event, ToolUpdate)
        told.append((event.fraction, event.message, event.value))

    runtime = Runtime(events=Events())
    tool = func_tool(function, name="tool", toolset="host.tools", **facts)
    runtime.tools.register(function_toolset("host.tools", [tool]))
    assert runtime.events is not None
    async with runtime.events.on(tell, types=["tool_update"]):
        result = await runtime.call("tool", arguments)
    return result, told


def export(months: int, /) -> Generator[str | float | dict[str, int], None, int]:
    for month in range(months):
        yield f"month {month}"
        yield (month + 1) / months
    yield {"rows": 7}
    return 7


async def test_what_a_generator_yields_is_progress_and_what_it_returns_the_result() -> None:
    result, told = await called(export, '{"months": 2}')
    assert (result.status, result.result) == ("ok", 7)
    assert told == [
        (None, "month 0", None),
        (0.5, "", None),
        (None, "month 1", None),
        (1.0, "", None),
        (None, "", {"rows": 7}),
    ]


async def test_all_that_is_yielded_is_the_result_of_a_generator_that_returns_nothing() -> None:
    def count(ctx: SyncToolContext) -> Iterator[float]:
        yield 0.5
        ctx.progress(message="half")
        yield 1

    result, told = await called(count)
    assert (result.json, told) == (b"[0.5,1]", [(None, "", 0.5), (None, "half", None), (None, "", 1)])


async def test_an_asynchronous_generator_runs_in_the_event_loop() -> None:
    loop = asyncio.get_running_loop()

    async def count(to: int, ctx: ToolContext) -> AsyncIterator[str]:
        assert asyncio.get_running_loop() is loop
        for number in range(to):
            yield str(number)

    async def started(to: int) -> AsyncIterator[str]:
        return aiter(count(to, ToolContext))  # type: ignore[arg-type]  # it uses none

    for function in (count, started):
        result, told = await called(function, '{"to": 2}')
        assert (result.json, told) == (b'["0","1"]', [(None, "0", None), (None, "1", None)])


async def test_a_function_may_return_an_iterator_that_is_not_its_own() -> None:
    def lines() -> Iterator[str]:
        return iter(["a", "b"])

    result, told = await called(lines)
    assert (result.json, [text for _, text, _ in told]) == (b'["a","b"]', ["a", "b"])


@pytest.mark.parametrize(("last", "document"), [(None, b"[1]"), ("done", b'"done"')])
async def test_without_an_annotation_the_result_is_what_is_returned_if_anything_is(
    last: object, document: bytes
) -> None:
    def work():  # type: ignore[no-untyped-def]  # what is tested
        yield 1
        return last

    result, _ = await called(work)
    assert result.json == document


async def test_a_generator_ends_with_its_call() -> None:
    closed = threading.Event()
    go_on = threading.Event()

    def endless() -> Iterator[int]:
        try:
            yield 1
            go_on.wait()
            while True:
                yield 1
        finally:
            closed.set()

    result, _ = await called(endless, timeout=0.05)
    assert result.status == "unknown"
    go_on.set()
    await asyncio.to_thread(closed.wait)


async def test_an_asynchronous_generator_is_closed_with_its_call() -> None:
    closed: list[int] = []

    async def endless() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.append(1)

    result, _ = await called(endless, timeout=0.05)
    assert (result.status, closed) == ("unknown", [1])


async def test_progress_that_has_no_json_is_a_mistake_of_the_function() -> None:
    def work() -> Generator[object, None, int]:
        yield object()
        return 1

    result, _ = await called(work)
    assert (result.status, "the arguments were valid" in str(result.error)) == ("error", True)


async def test_what_a_generator_raises_is_an_error_of_the_tool() -> None:
    def work() -> Iterator[int]:
        yield 1
        raise LookupError("nothing")

    result, told = await called(work)
    assert (result.status, len(told)) == ("error", 1)
