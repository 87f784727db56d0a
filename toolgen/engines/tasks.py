"""The asyncio tasks of an engine, and the event loop in which they run."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, TypeVarTuple

from toolgen.contract.logs import logger
from toolgen.contract.tasks import GRACE_S, start_held

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
        """Belong to the running event loop; return whether another one ended without `close`."""
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return False
        was_attached = self._loop is not None
        self._loop, self._thread = loop, threading.get_ident()
        self._context = contextvars.copy_context()
        return was_attached

    def start(self, work: Coroutine[Any, Any, Result], name: str) -> asyncio.Task[Result]:
        """Start a task, kept until it ends."""
        return start_held(self._tasks, work, name=name, context=self._context.copy())

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
