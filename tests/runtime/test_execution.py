"""How executors run: at once, alone, in threads, within their time, again."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, nothing, runtime, spec
from toolgen.runtime import ToolCall, ToolError

TOOL = "assistant.devices.list_devices"
CALL = ToolCall(tool=TOOL, payload_json=SITE, meta=META)
WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO")


class Crowd:
    """Counts how many run at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def __call__(self, payload: Any, ctx: Any) -> Any:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return nothing()


async def test_calls_run_at_once_up_to_the_limit() -> None:
    crowd = Crowd()
    results = await runtime(Listing(crowd), max_parallel=3).call_all([CALL] * 8)
    assert [result.status for result in results] == ["ok"] * 8
    assert crowd.most == 3


async def test_sequential_tools_run_one_after_the_other() -> None:
    crowd = Crowd()
    await runtime(Listing(crowd), spec(is_sequential=True)).call_all([CALL] * 4)
    assert crowd.most == 1


async def test_results_stand_in_the_order_of_the_calls() -> None:
    async def slowest_first(payload: Any, ctx: Any) -> Any:
        await asyncio.sleep(0.02 if payload.site_id == "slow" else 0)
        raise ToolError(payload.site_id)

    calls = [
        ToolCall(tool=TOOL, payload_json=b'{"site_id": "%s"}' % name, meta=META)
        for name in (b"slow", b"fast")
    ]
    results = await runtime(Listing(slowest_first)).call_all(calls)
    assert [str(result.error) for result in results] == ["slow", "fast"]


async def test_a_tool_has_its_time() -> None:
    async def forever(payload: Any, ctx: Any) -> Any:
        assert 0 < ctx.time_left <= 0.02
        await asyncio.Event().wait()

    result = await runtime(Listing(forever), spec(timeout=0.02)).call(TOOL, SITE, META)
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "timeout"
    assert b"gave no answer within 0.02 seconds" in result.json


async def test_a_timeout_that_the_tool_itself_raises_is_a_failure_like_any_other() -> None:
    async def impatient(payload: Any, ctx: Any) -> Any:
        raise TimeoutError

    result = await runtime(Listing(impatient), spec(timeout=5.0)).call(TOOL, SITE, META)
    assert result.error is not None
    assert result.error.correlation_id


async def test_an_executor_that_ignores_its_cancellation_is_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    released = asyncio.Event()

    async def stubborn(payload: Any, ctx: Any) -> Any:
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    result = await runtime(Listing(stubborn), spec(timeout=0.01)).call(TOOL, SITE, META)
    released.set()
    assert result.status == "error"
    assert "ignores its cancellation" in caplog.text


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

    task = asyncio.create_task(runtime(Listing(long), spec(timeout=60.0)).call(TOOL, SITE, META))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), 1)
