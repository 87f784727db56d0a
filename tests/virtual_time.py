"""Time that passes by itself: tests of limits that wait no real time and depend on no machine's speed."""

from __future__ import annotations

import asyncio
import gc
import selectors
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from functools import wraps
from queue import SimpleQueue
from types import FrameType
from typing import Any, ParamSpec, TypeVar, TypeVarTuple

import pytest

from toolgen.calls.steps import thread_pool

_DELAY_S = 1.0
"""Real seconds at most that a tool at work delays a timer; it is over once the tool ends."""

P = ParamSpec("P")
T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
LoopFactory = Callable[[], asyncio.AbstractEventLoop]


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time stands still while something runs, and jumps to the next timer else.

    What runs in an executor, as steps of SQLite stores and `asyncio.to_thread` do, stops the time too. The
    thread of a tool only delays it, for it may be one that never ends.
    """

    def __init__(self) -> None:
        self._now = 1_000_000.0
        self._in_executors = 0
        super().__init__(_Selector(self._passes))

    def time(self) -> float:
        return self._now

    def put_forward(self, seconds: float) -> None:
        """Let time pass without a turn for anybody, as while something blocks the loop."""
        self._now += seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Arguments], T], *args: *Arguments
    ) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self._in_executors += 1
        future.add_done_callback(self._returned)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  # its parameter
        """Wait for the threads however long they take: theirs is real time."""
        await super().shutdown_default_executor()

    def _returned(self, future: asyncio.Future[T]) -> None:
        self._in_executors -= 1

    def _passes(self, seconds: float) -> bool:
        """Let time pass; return whether it did."""
        if self._in_executors:
            return False
        self.put_forward(seconds)
        return True


class _Selector(selectors.DefaultSelector):
    def __init__(self, passes: Callable[[float], bool]) -> None:
        super().__init__()
        self._passes = passes

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        found = super().select(0)
        if not found and timeout > 0 and _is_tool_at_work():
            found = super().select(_DELAY_S)
        if found or timeout <= 0 or self._passes(timeout):
            return found
        return super().select(None)


def _is_tool_at_work() -> bool:
    """Return whether a thread begins a tool or executes one that does not wait for another thread."""
    threads = [thread for thread in threading.enumerate() if thread.name == "toolgen tool"]
    if not threads:
        return False
    is_collected = gc.isenabled()
    gc.disable()  # a finalizer that is run within `_current_frames` waits for its lock for ever
    try:
        frames = sys._current_frames()
    finally:
        if is_collected:
            gc.enable()
    return any(_is_at_work(frames.get(thread.ident or 0)) for thread in threads)


def _is_at_work(frame: FrameType | None) -> bool:
    """Return whether a thread of tools does something; without a frame it has not begun."""
    if frame is None:
        return True
    code = frame.f_code
    if code.co_filename == threading.__file__:
        return code.co_name.startswith("_bootstrap") or code.co_name == "run"
    if code is thread_pool._serve.__code__:
        jobs: SimpleQueue[object] = frame.f_locals["jobs"]
        return "job" in frame.f_locals or not jobs.empty()
    return True


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Make a test run in a loop of its own, whose time is virtual."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run


def loop_factories(item: pytest.Item, default: str) -> Mapping[str, LoopFactory]:
    """Return the event loop of a test: the default of its folder, or the one that its marker names.

    A test names one by `pytest.mark.asyncio(loop_factories=["real"])` or `["virtual"]`.
    """
    known: dict[str, LoopFactory] = {"real": asyncio.new_event_loop, "virtual": VirtualTimeLoop}
    marker = item.get_closest_marker("asyncio")
    is_named = marker is not None and "loop_factories" in marker.kwargs
    return known if is_named else {default: known[default]}


def now() -> float:
    """Return the seconds since 1970, or the loop's own where they are virtual: a clock for engines."""
    loop = asyncio.get_running_loop()
    return loop.time() if isinstance(loop, VirtualTimeLoop) else time.time()
