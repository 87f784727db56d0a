"""A call goes straight to a tool that has nothing around it, and else by steps: its result is the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Annotated, Any, Final, TypeAlias

import pytest
from pydantic import PlainSerializer
from starlette.background import BackgroundTask

from tests.runtime.recording import ARGUMENTS, LIST, META, page, registration
from toolgen.calls.capability import CallScope
from toolgen.calls.functions.tools import function_toolset
from toolgen.capabilities import DisabledTools, MemoryStateStore
from toolgen.events import Events
from toolgen.runtime import (
    Continue,
    Hook,
    Key,
    Limits,
    RetryHint,
    Runtime,
    Scheduling,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolResult,
    Verdict,
)
from toolgen.runtime.testing import RecordingExecutor

ENDS: Final[dict[str, Any]] = {
    "a result": page(),
    "a mapping": {"devices": []},
    "nothing": None,
    "an outcome": ToolOutcome.of(page(), display="None."),
    "an undeclared artifact": ToolOutcome.of(page(), artifacts=[5]),  # type: ignore[list-item]
    "contradicting bounds": page(returned=3),
    "a question": ToolOutcome.ask("Which site?", str),
    "an approval": ToolOutcome.approval("List them?"),
    "pending work": ToolOutcome.pending("job-1"),
    "an error": ToolError("No such site.", retry_hint=RetryHint(reason="missing_fields", tool=LIST)),
    "an error that may pass": ToolError("Busy.", is_retryable=True),
    "a fault": RuntimeError("no connection"),
    "an exit": SystemExit(2),
    "an end of a generator": StopAsyncIteration(),
    "a cancellation of its own": asyncio.CancelledError(),
}
"""What an executor returns or raises."""
ASKED: Final[dict[str, Any]] = {
    "text": ARGUMENTS.decode(),
    "a mapping": {"site_id": "harbour"},
    "what is no JSON": {"site_id": object()},
    "no arguments": b"",
    "null": b"null",
    "wrong ones": b'{"site_id": 5, "limit": 1000}',
    "a beginning": b"{",
}


class Ending(RecordingExecutor):
    """Ends as it is told."""

    def __init__(self, end: object) -> None:
        super().__init__({})
        self._end = end
        self.begun = 0

    async def list_devices(self, payload: Any, ctx: ToolContext) -> Any:
        self.begun += 1
        if isinstance(self._end, BaseException):
            raise self._end
        return self._end


WRITE: ContextVar[Callable[[], str]] = ContextVar("write")
Late: TypeAlias = Annotated[str, PlainSerializer(lambda _: WRITE.get()())]
"""A text that is made when it is written."""
CACHE: Final[Key[int]] = Key("cache")


class Cache:
    """A capability that counts who uses it."""

    name = CACHE.name
    size = opened = closed = 0

    def open(self, call: CallScope) -> int:
        self.opened += 1
        return self.size

    async def close(self, opened: Sequence[tuple[int, bool]]) -> None:
        self.closed += len(opened)


class Passing(Hook):
    """Lets every call go on, by steps."""

    async def before_tool(self, call: ToolCall, payload: object, ctx: ToolContext) -> Verdict:
        return Continue()


def runtimes(*executors: Ending, **host: Any) -> tuple[Runtime, Runtime]:
    """Return a runtime whose calls go straight, and one whose calls go by steps."""
    made = Runtime(**host), Runtime(hooks=[Passing()], **host)
    for runtime, executor in zip(made, executors, strict=True):
        runtime.tools.register(registration(executor))
    assert [runtime.assembly.directory.by_name[LIST].is_direct for runtime in made] == [True, False]
    return made


async def second_call(runtime: Runtime, arguments: Any = ARGUMENTS) -> ToolResult:
    """Return the result of the second call: the first one, which takes the event loop, goes by steps."""
    await runtime.call(LIST, arguments, META)
    return await runtime.call(LIST, arguments, META)


def shown(result: ToolResult) -> dict[str, str]:
    """Return all of a result that two calls have in common."""
    names = (
        "status",
        "json",
        "tool_call_id",
        "result",
        "error",
        "retry_hint",
        "bounds",
        "display",
        "actions",
    )
    return {name: re.sub(r"\b[0-9a-f]{8,}", "…", str(getattr(result, name))) for name in names}


async def same(end: object, arguments: Any = ARGUMENTS, **host: Any) -> ToolResult:
    """Make both calls, compare them, and return the straight one's result."""
    executors = Ending(end), Ending(end)
    straight, by_steps = [await second_call(runtime, arguments) for runtime in runtimes(*executors, **host)]
    assert shown(straight) == shown(by_steps)
    assert executors[0].begun == executors[1].begun
    return straight


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_an_executor_ends_straight_as_by_steps(end: object) -> None:
    await same(end, scheduling=Scheduling(max_retries=0))


@pytest.mark.parametrize("arguments", ASKED.values(), ids=ASKED)
async def test_arguments_are_read_straight_as_by_steps(arguments: object) -> None:
    await same(page(), arguments)


async def test_a_long_result_is_truncated_straight_as_by_steps() -> None:
    long = page(next_cursor="x" * 5_000)
    assert (await same(long, limits=Limits(result_bytes=2_000))).json.startswith(b'{"truncated_by"')


async def test_a_time_limit_holds_straight_as_by_steps() -> None:
    await same(page(), scheduling=Scheduling(tool_timeout_s=60.0))


@pytest.mark.parametrize("size", [10, 5_000], ids=["short", "long"])
async def test_a_result_is_written_once_and_what_it_uses_then_is_closed(size: int) -> None:
    cache, written = Cache(), list[str]()

    async def find(ctx: ToolContext) -> Late:
        """Find it."""

        def text() -> str:
            written.append("x" * ctx.capability(CACHE))
            return written[-1]

        WRITE.set(text)
        return ""

    runtime = Runtime(capabilities=[cache], limits=Limits(result_bytes=2_000))
    runtime.tools.register(function_toolset("local.functions", [find]))
    cache.size = size
    for calls in (1, 2):
        assert (await runtime.call("find", {})).status == "ok"
        assert (cache.opened, cache.closed, len(written)) == (calls, calls, calls)


async def test_a_framework_that_asks_awaits_a_call() -> None:
    executor = Ending(page())
    runtime = runtimes(executor, Ending(page()))[0]
    await BackgroundTask(runtime.call, LIST, ARGUMENTS, META)()
    assert executor.begun == 1


async def test_a_disabled_tool_is_not_executed_also_from_a_snapshot_of_another_runtime() -> None:
    executor, switches = Ending(page()), DisabledTools(MemoryStateStore())
    other, host = runtimes(executor, executor)[0], Runtime(disabled=switches)
    host.tools.register(registration(executor))
    await host.tools.disable(LIST)
    within = await other.tools.snapshot()
    for _ in range(2):
        assert (await host.call(LIST, ARGUMENTS, META, within=within)).status == "error"
    assert executor.begun == 0


async def test_whoever_subscribes_before_a_call_begins_hears_of_it() -> None:
    events = Events()
    runtime = runtimes(Ending(page()), Ending(page()), events=events)[0]
    call = runtime.call(LIST, ARGUMENTS, META)
    async with events.subscribe() as heard:
        await call
        assert [(await anext(heard)).type for _ in range(2)] == ["tool_start", "tool_end"]
