"""The threads of synchronous executors: bounded, replaced when stuck, and no burden to anybody else."""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.conftest import surroundings
from tests.runtime.clock import HOUR, LoopClock
from tests.runtime.tools import META, SITE, nothing, spec
from toolgen.calls.steps.thread_pool import NoThreadError, ThreadPool
from toolgen.contract.boundary import TimeLimitError
from toolgen.runtime import Runtime, Scheduling, ToolError, ToolResult, ToolsetRegistration, in_thread


class Held:
    """A function that blocks until the test lets it go."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._free = threading.Event()
        self.began = asyncio.Queue[None]()

    def __call__(self, *arguments: object) -> Any:
        self._loop.call_soon_threadsafe(self.began.put_nowait, None)
        self._free.wait()
        return nothing()

    def let_go(self) -> None:
        self._free.set()


@asynccontextmanager
async def held() -> AsyncIterator[Held]:
    """Yield a function that blocks, at most until the end of the block."""
    one = Held()
    try:
        yield one
    finally:
        one.let_go()


async def stuck(pool: ThreadPool, function: Held, clock: LoopClock, name: str = "blocks") -> None:
    """Let a thread be stuck in the function."""
    running = asyncio.create_task(pool.run(name, function, seconds=HOUR))
    await function.began.get()
    await clock.advance(HOUR)
    with pytest.raises(TimeLimitError):
        await running


async def refused(pool: ThreadPool, function: Held, clock: LoopClock, name: str = "blocks") -> None:
    """Check that the function gets no thread."""
    running = asyncio.create_task(pool.run(name, function, seconds=HOUR))
    await asyncio.sleep(0)
    await clock.advance(HOUR)  # one that got a thread, or waits for one, ends otherwise
    with pytest.raises(NoThreadError):
        await running


async def free(pool: ThreadPool) -> None:
    """Wait until no thread is stuck any more: another job runs after each that has returned."""
    while pool.stuck:
        await pool.run("looks", lambda: None)


async def test_a_thread_that_is_stuck_is_replaced() -> None:
    pool = ThreadPool(1)
    async with LoopClock() as clock, held() as blocks:
        await stuck(pool, blocks, clock)
        assert pool.stuck == {"blocks": 1}
        assert await pool.run("adds", sum, [1, 2]) == 3
        await stuck(pool, blocks, clock)
        assert pool.stuck == {"blocks": 2}
        assert await pool.run("adds", sum, [1, 2]) == 3
        blocks.let_go()
        await free(pool)


async def test_a_job_that_waits_for_a_thread_gets_the_replacement() -> None:
    pool = ThreadPool(1)
    async with LoopClock() as clock, held() as blocks:
        first = asyncio.create_task(pool.run("blocks", blocks, seconds=HOUR))
        await blocks.began.get()
        second = asyncio.create_task(pool.run("adds", sum, [1, 2]))
        await clock.advance(HOUR)
        assert await second == 3
        with pytest.raises(TimeLimitError):
            await first


async def test_a_job_that_never_got_a_thread_is_not_run() -> None:
    pool, ran = ThreadPool(1), list[str]()
    async with LoopClock() as clock, held() as blocks:
        first = asyncio.create_task(pool.run("blocks", blocks))
        await blocks.began.get()
        late = asyncio.create_task(pool.run("late", ran.append, "late", seconds=HOUR))
        gone = asyncio.create_task(pool.run("gone", ran.append, "gone"))
        await asyncio.sleep(0)  # both wait now
        await clock.advance(HOUR)
        gone.cancel()
        with pytest.raises(TimeLimitError):
            await late
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert pool.stuck == {}
        blocks.let_go()
        await first
    assert ran == []


async def test_who_holds_stuck_threads_gets_none_at_the_cap_and_others_do() -> None:
    pool = ThreadPool(1, max_stuck=2)
    async with LoopClock() as clock, held() as blocks:
        for _ in range(2):
            await stuck(pool, blocks, clock)
        await refused(pool, blocks, clock)
        assert await pool.run("adds", sum, [1, 2]) == 3
        blocks.let_go()
        await free(pool)
        assert await pool.run("blocks", lambda: "again") == "again"


async def test_beyond_the_cap_a_stuck_thread_is_missing() -> None:
    """So the threads of a process are never more than both limits together."""
    pool = ThreadPool(2, max_stuck=1)
    async with LoopClock() as clock, held() as blocks:
        for name in ("a", "b"):
            await stuck(pool, blocks, clock, name)
        first = asyncio.create_task(pool.run("c", blocks, seconds=HOUR))
        await blocks.began.get()
        waiting = asyncio.create_task(pool.run("d", blocks, seconds=2 * HOUR))
        await asyncio.sleep(0)
        await clock.advance(HOUR)
        with pytest.raises(TimeLimitError):
            await first
        await refused(pool, blocks, clock, "e")
        with pytest.raises(NoThreadError):
            await waiting
        assert pool.stuck == {"a": 1, "b": 1, "c": 1}


async def test_a_caller_that_is_cancelled_leaves_a_stuck_thread(caplog: pytest.LogCaptureFixture) -> None:
    pool = ThreadPool(1)
    async with held() as blocks:
        running = asyncio.create_task(pool.run("blocks", blocks))
        await blocks.began.get()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert pool.stuck == {"blocks": 1}
    assert (
        "blocks did not return within its timeout, so its thread is stuck: 1 of this tool, 1 in total"
        in caplog.text
    )


def threads_of_tools() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "toolgen tool"]


async def test_a_thread_that_is_no_longer_stuck_ends_beside_its_replacement() -> None:
    pool, before = ThreadPool(1), threads_of_tools()
    async with LoopClock() as clock, held() as blocks:
        await stuck(pool, blocks, clock)
        (thread,) = (thread for thread in threads_of_tools() if thread not in before)
        assert await pool.run("adds", sum, [1, 2]) == 3
        blocks.let_go()
        await free(pool)
    thread.join(10)
    assert not thread.is_alive()
    assert await pool.run("adds", sum, [1, 2]) == 3


@pytest.mark.exhaustive
async def test_threads_end_with_their_pool() -> None:
    before = threads_of_tools()
    closed, dropped = ThreadPool(2), ThreadPool(2)
    for pool in (closed, dropped):
        await asyncio.gather(*(pool.run("adds", sum, [1, 2]) for _ in range(4)))
    mine = [thread for thread in threads_of_tools() if thread not in before]
    closed.close()
    del dropped, pool
    gc.collect()
    for thread in mine:
        thread.join(30)
    assert len(mine) >= 2
    assert not any(thread.is_alive() for thread in mine)


async def test_two_event_loops_share_the_threads() -> None:
    pool = ThreadPool(2)

    async def many() -> list[int]:
        return await asyncio.gather(*(pool.run("adds", sum, [1, 2]) for _ in range(50)))

    mine, others = await asyncio.gather(many(), asyncio.to_thread(asyncio.run, many()))
    assert mine == others == [3] * 50


@pytest.mark.parametrize(("threads", "stuck"), [(0, 1), (1, -1)])
def test_a_pool_has_a_thread(threads: int, stuck: int) -> None:
    with pytest.raises(ValueError, match="threads"):
        ThreadPool(threads, max_stuck=stuck)


# What a host sees of it.


class Blocking:
    """One tool that blocks, and one that does not."""

    def __init__(self, blocks: Held) -> None:
        self.list_devices = blocks

    def other(self, payload: Any, ctx: Any) -> Any:
        return nothing()


@asynccontextmanager
async def hosting(blocks: Held, **options: Any) -> AsyncIterator[Runtime]:
    specs = [spec(timeout=HOUR), spec(id="assistant.devices.other", name="other", method="other")]
    async with Runtime(**options) as host:
        registration = ToolsetRegistration(name="assistant.devices", specs=specs, executor=Blocking(blocks))
        host.tools.register(registration)
        yield host


async def late(host: Runtime, blocks: Held, clock: LoopClock) -> ToolResult:
    """Return the result of a call whose time is over."""
    running = asyncio.create_task(host.call("list_devices", SITE, META))
    await blocks.began.get()
    await clock.advance(HOUR)
    return await running


async def test_a_tool_that_holds_all_it_may_is_unavailable(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        LoopClock() as clock,
        held() as blocks,
        hosting(blocks, scheduling=Scheduling(max_threads=1, max_stuck_threads=2)) as host,
    ):
        for _ in range(2):
            result = await late(host, blocks, clock)
            assert result.retry_hint is not None
            assert result.retry_hint.reason == "timeout"
        assert "assistant.devices.list_devices did not return within its timeout" in caplog.text
        assert host.stuck_threads == {"assistant.devices.list_devices": 2}

        running = asyncio.create_task(host.call("list_devices", SITE, META))
        began = asyncio.create_task(blocks.began.get())
        await asyncio.wait({running, began}, return_when=asyncio.FIRST_COMPLETED)
        assert not began.done()
        began.cancel()
        result = await running
        assert result.retry_hint is not None
        assert (result.status, result.retry_hint.reason) == ("error", "tool_unavailable")
        assert b"list_devices cannot run at the moment" in result.json
        assert (await host.call("other", SITE, META)).status == "ok"

        blocks.let_go()
        while host.stuck_threads:
            await host.call("other", SITE, META)
        assert (await host.call("list_devices", SITE, META)).status == "ok"


async def test_unrelated_tools_go_on_beside_those_that_hang() -> None:
    """More of them than there are threads."""
    async with (
        LoopClock() as clock,
        held() as blocks,
        hosting(blocks, scheduling=Scheduling(max_threads=2)) as host,
    ):
        for _ in range(10):
            await late(host, blocks, clock)
        assert (await host.call("other", SITE, META)).status == "ok"


async def test_a_service_in_threads_has_threads_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)

    class Service:
        def find(self, blocks: Held) -> Any:
            return blocks()

        def add(self, *numbers: int) -> int:
            return sum(numbers)

    service: Any = in_thread(Service(), max_threads=1)
    async with held() as blocks:
        for _ in range(32):
            finding = asyncio.create_task(service.find(blocks))
            await blocks.began.get()
            finding.cancel()
            await asyncio.wait({finding})
        with pytest.raises(ToolError, match=r"Service\.find cannot run at the moment: too many threads"):
            await service.find(blocks)
        assert await service.add(1, 2) == 3


# What a process sees of it.

CALLING = """
import asyncio, os, sys, threading
from toolgen.runtime import Runtime, Scheduling
from toolgen.calls.functions.tools import function_toolset

def blocks() -> str:
    "Block."
    threading.Event().wait()
    return ""

def adds(a: int, b: int) -> int:
    "Add."
    return a + b

def runtime(**options) -> Runtime:
    made = Runtime(**options)
    made.tools.register(function_toolset("x.tools", [blocks, adds]))
    return made
"""


def process(code: str) -> str:
    """Return what a process prints that has the tools above; one that does not end fails the test."""
    script = CALLING + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=surroundings()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.exhaustive
def test_a_stuck_thread_does_not_hold_the_process() -> None:
    out = process(
        """
        async def main():
            async with runtime(scheduling=Scheduling(tool_timeout_s=0.01)) as host:
                print((await host.call("blocks", {})).status)
        asyncio.run(main())
        """
    )
    assert out == "unknown\n"


@pytest.mark.exhaustive
def test_a_forked_process_has_threads_of_its_own() -> None:
    out = process(
        """
        host = runtime()
        def call():
            print(asyncio.run(host.call("adds", {"a": 1, "b": 2})).json.decode(), flush=True)
        call()
        if child := os.fork():
            assert os.waitpid(child, 0)[1] == 0
        else:
            call()
            os._exit(0)
        call()
        """
    )
    assert out == "3\n3\n3\n"
