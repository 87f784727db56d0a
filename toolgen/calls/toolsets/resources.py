"""Toolsets that must be opened and closed, for example a connection to a server.

Each is entered and exited in its own task: a cancel scope that it opens ends in the task that started it, and
a failure in one toolset does not end another.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from toolgen.contract.boundary import as_exception, is_cancelled
from toolgen.contract.logs import logger

_CLOSING_S: Final = 10.0
"""Seconds that a toolset has to close before its task is cancelled."""

log = logger("toolgen.runtime")


class ManagedResource:
    """An asynchronous context manager that can be entered again after its exit."""

    def __init__(self, name: str, manager: AbstractAsyncContextManager[Any]) -> None:
        self._name = name
        self._manager = manager
        self._task: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._opening = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        return self._task is not None and not self._task.done()

    async def open(self) -> None:
        """Enter the context manager, unless it is open.

        Raises:
            Exception: an exception of the context manager.
        """
        async with self._opening:
            if self.is_open:
                return
            if self._task is not None:
                self._report(self._task)
            self._ending = asyncio.Event()
            opened = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._hold(opened), name=f"toolset {self._name}")
            try:
                await opened
            except BaseException:
                self._task.cancel()  # it may hang before it is open
                await self.close()
                raise

    async def close(self) -> None:
        """Exit the context manager if it is open; errors are logged."""
        task, self._task = self._task, None
        if task is None:
            return
        self._ending.set()
        _, late = await asyncio.wait({task}, timeout=_CLOSING_S)
        if late:
            log.error("toolset %s did not close within %g seconds", self._name, _CLOSING_S)
            task.cancel()
            await asyncio.wait({task}, timeout=_CLOSING_S)
        self._report(task)

    async def _hold(self, opened: asyncio.Future[None]) -> None:
        try:
            async with self._manager:
                if opened.cancelled():  # the opener was cancelled
                    return
                opened.set_result(None)
                await self._ending.wait()
        except BaseException as error:
            if opened.done() and is_cancelled(error):
                raise
            exception = as_exception(error)
            if opened.done():
                raise exception  # noqa: B904  # it has its cause
            opened.set_exception(exception)

    def _report(self, task: asyncio.Task[None]) -> None:
        if task.done() and not task.cancelled() and (error := task.exception()):
            log.error("toolset %s failed while it was open or closing", self._name, exc_info=error)


class ResourceStack:
    """The context managers of a runtime's toolsets, each entered once."""

    def __init__(self) -> None:
        self._resources: dict[int, ManagedResource] = {}
        self.is_open = False
        """Whether toolsets can be opened now; each opens at its first use."""

    def resource_for(self, name: str, manager: AbstractAsyncContextManager[Any]) -> ManagedResource:
        """Return the resource of a context manager, for the toolset with this name."""
        return self._resources.setdefault(id(manager), ManagedResource(name, manager))

    async def close(self) -> None:
        """Close the resources in reverse order, each in the task that opened it; errors are logged."""
        self.is_open = False
        for owned in reversed(self._resources.values()):
            await owned.close()
