"""Synchronous services behind asynchronous protocols."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from .boundary import outcome_of, value_of


def in_thread(service: object) -> Any:
    """Return the service with every method made asynchronous, each call in a worker thread.

    Context variables are carried over. The service must allow calls from several threads.
    """
    return _InThread(service)


class _InThread:
    def __init__(self, service: object) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._service, name)
        if inspect.iscoroutinefunction(method):
            return method  # type: ignore[no-any-return]  # an attribute of an unknown class

        @functools.wraps(method)
        async def call(*args: object, **kwargs: object) -> Any:
            call = functools.partial(method, *args, **kwargs)
            return value_of(await asyncio.to_thread(outcome_of, call))

        return call
