"""The asyncio tasks of an engine, and the event loop in which they run."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, TypeVarTuple

from toolgen.contract.logs import logger
from toolgen.contract.tasks import GRACE_S, start_task
from toolgen.runtime.engine import EngineError

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

log = logger("toolgen.engines")


class Tasks:
    """Starts tasks with the context variables of `attach`; belongs to one event loop at a time."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._context = contextvars.Context()

    def attach(self) -> bool:
        """Attach to the running event loop; return whether another one ended without `close`.

        Raises:
            EngineError: the other one has not ended.
        """
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return False
        self.require_loop()
        was_attached = self._loop is not None
        self._loop, self._thread = loop, threading.get_ident()
        self._context = contextvars.copy_context()
        return was_attached

    def require_loop(self) -> None:
        """Raise an `EngineError` where the running event loop is another one than that of the tasks."""
        if self._loop not in (None, asyncio.get_running_loop()) and not self._loop.is_closed():
            raise EngineError(
                "the engine belongs to another event loop, which has not ended",
                hint="make an engine for each event loop, or hand over with run_coroutine_threadsafe",
            )

    def start(self, work: Coroutine[Any, Any, Result], name: str) -> asyncio.Task[Result]:
        """Start a task, kept until it ends."""
        return start_task(self._tasks, work, name=name, context=self._context.copy())

    def call(self, function: Callable[[*Arguments], None], *arguments: *Arguments) -> None:
        """Call a function in the thread of the event loop: now if this is it."""
        if threading.get_ident() == self._thread:
            function(*arguments)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(function, *arguments)

    async def close(self) -> None:
        """Leave the event loop: cancel all tasks but the current one, and wait about a second for them."""
        self._loop = None
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_S)
            for task in late:
                log.warning("%s ignores its cancellation and runs on", task.get_name())
