"""The process of a host, which may end between a question and its answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

from toolgen.runtime import Runtime

from ..world import World


@runtime_checkable
class Restarting(Protocol):
    """A door whose call outlives the process that made it."""

    async def restart(self) -> None:
        """End the process, and begin another one with the same stores."""
        ...


class Host:
    """Holds the open runtime of a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._runtime: Runtime | None = None

    @property
    def runtime(self) -> Runtime:
        assert self._runtime is not None, "it is open"
        return self._runtime

    async def restart(self) -> None:
        """End the process, if there is one, and begin another."""
        await self.end()
        self._runtime = await self.world.runtime().__aenter__()

    async def end(self) -> None:
        """End the process."""
        if self._runtime is not None:
            await self._runtime.aclose()

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self.runtime


@asynccontextmanager
async def host_of(world: World) -> AsyncIterator[Host]:
    """Begin a process of a host, and end its last one."""
    host = Host(world)
    await host.restart()
    try:
        yield host
    finally:
        await host.end()
