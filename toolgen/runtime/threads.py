"""Synchronous services behind asynchronous protocols."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from toolgen.calls.errors import ToolError
from toolgen.calls.steps.thread_pool import NoThreadError, ThreadPool


def in_thread(service: object, *, max_threads: int = 8) -> Any:
    """Return the service with every method made asynchronous, each call in a thread of the service's own.

    Context variables are carried over. The service must allow calls from several threads. A method whose
    caller gave up keeps its thread until it returns; another takes its place, until too many are stuck, and
    calls of that method raise a `ToolError` then.
    """
    return _InThread(service, ThreadPool(max_threads))


class _InThread:
    def __init__(self, service: object, threads: ThreadPool) -> None:
        self._service = service
        self._threads = threads

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._service, name)
        if inspect.iscoroutinefunction(method):
            return method  # type: ignore[no-any-return]  # an attribute of an unknown class

        full_name = f"{type(self._service).__name__}.{name}"

        @functools.wraps(method)
        async def call(*args: object, **kwargs: object) -> Any:
            call = functools.partial(method, *args, **kwargs)
            try:
                return await self._threads.run(full_name, call)
            except NoThreadError as error:
                raise ToolError(f"{full_name} is not available now: earlier calls have not ended") from error

        return call
