"""How executors run: at once, alone, in threads, within their time, again."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Generator
from typing import Any

import pytest

from tests.runtime.clock import HOUR, LoopClock
from tests.runtime.tools import META, SITE, Listing, nothing, runtime, spec
from toolgen.contract.boundary import run_with_timeout
from toolgen.contract.tasks import GRACE_S
from toolgen.runtime import Continue, Hook, Scheduling, ToolCall, ToolError, Verdict

TOOL = "assistant.devices.list_devices"
CALL = ToolCall(tool=TOOL, payload_json=SITE, meta=META)
WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO")


class Passing(Hook):
    async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Verdict:
        return Continue()


class Crowd:
    """Counts how many run at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def __call__(self, payload: Any, ctx: Any) -> Any:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(20):
            await asyncio.sleep(0)
        self.now -= 1
        return nothing()


async def test_calls_run_at_once_up_to_the_limit() -> None:
    crowd = Crowd()
    results = await runtime(Listing(crowd), scheduling=Scheduling(max_calls_per_run=3)).call_all([CALL] * 8)
    assert [result.status for result in results] == ["ok"] * 8
    assert crowd.most == 3


async def test_sequential_tools_run_one_after_the_other() -> None:
    crowd = Crowd()
    await runtime(Listing(crowd), spec(is_sequential=True)).call_all([CALL] * 4)
    assert crowd.most == 1


async def test_results_stand_in_the_order_of_the_calls() -> None:
    async def slowest_first(payload: Any, ctx: Any) -> Any:
        if payload.site_id == "slow":
            await fast.wait()
        fast.set()
        raise ToolError(payload.site_id)

    fast = asyncio.Event()

    calls = [
        ToolCall(tool=TOOL, payload_json=b'{"site_id": "%s"}' % name, meta=META)
        for name in (b"slow", b"fast")
    ]
    results = await runtime(Listing(slowest_first)).call_all(calls)
    assert [str(result.error) for result in results] == ["slow", "fast"]


async def test_a_tool_has_its_time() -> None:
    async def forever(payload: Any, ctx: Any) -> Any:
        assert 0 < ctx.time_left <= HOUR
        began.set()
        await asyncio.Event().wait()

    began = asyncio.Event()
    async with LoopClock() as clock:
        running = asyncio.create_task(runtime(Listing(forever), spec(timeout=HOUR)).call(TOOL, SITE, META))
        await began.wait()
        await clock.advance(HOUR - 60)
        assert not running.done()
        await clock.advance(60)
        result = await running
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "timeout"
    assert b"did not respond within 3600 seconds" in result.json


async def test_time_counts_from_the_call_on() -> None:
    """Whatever the tool does before it first waits."""

    async def slow_at_first(payload: Any, ctx: Any) -> Any:
        clock.put_forward(HOUR)
        await asyncio.Event().wait()

    async with LoopClock() as clock:
        result = await runtime(Listing(slow_at_first), spec(timeout=HOUR)).call(TOOL, SITE, META)
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "timeout"


async def test_a_tool_that_never_waits_has_no_timer() -> None:
    armed: list[object] = []
    loop = asyncio.get_running_loop()
    call_at = loop.call_at

    def counted(*arguments: Any, **named: Any) -> Any:
        armed.append(arguments)
        return call_at(*arguments, **named)

    setattr(loop, "call_at", counted)  # noqa: B010  # a method
    host = runtime(
        Listing(), spec(timeout=HOUR), hooks=[Passing()], scheduling=Scheduling(stage_timeout_s=HOUR)
    )
    assert (await host.call(TOOL, SITE, META)).status == "ok"
    assert armed == []


async def test_a_timeout_that_the_tool_itself_raises_is_a_failure_like_any_other() -> None:
    async def impatient(payload: Any, ctx: Any) -> Any:
        raise TimeoutError

    result = await runtime(Listing(impatient), spec(timeout=HOUR)).call(TOOL, SITE, META)
    assert result.error is not None
    assert result.error.correlation_id


async def test_an_executor_that_ignores_its_cancellation_is_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    began, ignored, released = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def stubborn(payload: Any, ctx: Any) -> Any:
        began.set()
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                ignored.set()

    async with LoopClock() as clock:
        running = asyncio.create_task(runtime(Listing(stubborn), spec(timeout=HOUR)).call(TOOL, SITE, META))
        await began.wait()
        await clock.advance(HOUR)
        await ignored.wait()
        assert not running.done()
        await clock.advance(GRACE_S)
        result = await running
    released.set()
    assert result.status == "error"
    assert f"{TOOL} ignores its cancellation" in caplog.text


@pytest.mark.parametrize("seconds", [None, HOUR])
async def test_a_limited_step_ends_as_without_a_limit(seconds: float | None) -> None:
    """Whether it suspends or not, with a result or an error, in what is a coroutine and what is none."""
    loop = asyncio.get_running_loop()

    async def step(suspends: int, fails: bool) -> str:
        for _ in range(suspends):
            await asyncio.sleep(0)
        if fails:
            raise ValueError("no")
        return "yes"

    for suspends in range(3):
        assert await run_with_timeout(seconds, step(suspends, False)) == "yes"
        assert await run_with_timeout(seconds, loop.create_task(step(suspends, False))) == "yes"
        with pytest.raises(ValueError, match="no"):
            await run_with_timeout(seconds, step(suspends, True))


async def test_a_limited_step_has_the_task_of_its_caller() -> None:
    """So that cancel scopes of the step and of the caller nest."""

    async def step() -> tuple[object, object]:
        first = asyncio.current_task()
        async with asyncio.timeout(HOUR):
            await asyncio.sleep(0)
        return first, asyncio.current_task()

    mine = asyncio.current_task()
    assert await run_with_timeout(HOUR, step()) == (mine, mine)


async def test_a_limited_step_is_cancelled_when_its_time_is_over() -> None:
    async def step() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    began, ended = asyncio.Event(), asyncio.Event()
    async with LoopClock() as clock:
        running = asyncio.create_task(run_with_timeout(HOUR, step()))
        await began.wait()
        await clock.advance(HOUR)
        with pytest.raises(TimeoutError):
            await running
    assert ended.is_set()


@pytest.mark.parametrize("is_coroutine", [True, False])
async def test_what_a_step_does_before_it_suspends_takes_none_of_its_time(is_coroutine: bool) -> None:
    class Step:
        def __await__(self) -> Generator[Any, None, str]:
            clock.put_forward(HOUR)
            yield from asyncio.sleep(0).__await__()
            yield from asyncio.sleep(0).__await__()
            return "yes"

    async def step() -> str:
        return await Step()

    async with LoopClock() as clock:
        assert await run_with_timeout(HOUR, step() if is_coroutine else Step()) == "yes"


async def test_a_limited_step_that_is_closed_is_closed_within() -> None:
    async def step() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            ended.append(True)

    ended: list[bool] = []
    work = run_with_timeout(HOUR, step())
    work.send(None)
    work.close()
    assert ended == [True]


async def test_a_synchronous_executor_runs_in_a_thread_with_the_callers_context() -> None:
    class Blocking:
        def list_devices(self, payload: Any, ctx: Any) -> Any:
            seen.append((threading.current_thread().name, WHO.get()))
            return nothing()

    seen: list[tuple[str, str]] = []
    WHO.set("ann")
    result = await runtime(Blocking()).call(TOOL, SITE, META)
    assert result.status == "ok"
    assert seen[0][0].startswith("toolgen")
    assert seen[0][1] == "ann"


class Flaky:
    """Fails twice, then works."""

    def __init__(self, *, is_retryable: bool) -> None:
        self.keys: list[str] = []
        self._is_retryable = is_retryable

    async def __call__(self, payload: Any, ctx: Any) -> Any:
        self.keys.append(ctx.idempotency_key)
        if len(self.keys) < 3:
            raise ToolError("busy", is_retryable=self._is_retryable)
        return nothing()


@pytest.mark.asyncio(loop_factories=["virtual"])
@pytest.mark.parametrize(
    ("annotations", "is_retryable", "attempts"),
    [
        ({"idempotent": True}, True, 3),
        ({"read_only": True}, True, 3),
        ({}, True, 1),
        ({"idempotent": True}, False, 1),
    ],
)
async def test_only_what_may_be_repeated_is_repeated(
    annotations: dict[str, bool], is_retryable: bool, attempts: int
) -> None:
    """With one key for all attempts."""
    flaky = Flaky(is_retryable=is_retryable)
    result = await runtime(Listing(flaky), spec(annotations=annotations)).call(TOOL, SITE, META)
    assert len(flaky.keys) == attempts
    assert set(flaky.keys) == {"r:c1"}
    assert (result.status == "ok") == (attempts == 3)


async def test_cancelling_the_caller_cancels_the_tool() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def long(payload: Any, ctx: Any) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(runtime(Listing(long), spec(timeout=HOUR)).call(TOOL, SITE, META))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
