"""Whether a worker reaches its stores: tried every few seconds, however often somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger

_CHECK_EVERY_S: Final = 5.0
"""Seconds between the end of a check and the next one."""
_CHECK_S: Final = 3.0
"""Seconds of a check, after which the stores count as unreachable."""

log = logger("toolgen.cli")


class StoreWatch:
    """What the newest check of the stores has found."""

    def __init__(self, check: Callable[[], Awaitable[None]]) -> None:
        """Construct a watch; `check` raises where a store cannot be used."""
        self._check = check
        self._problem = ""

    @property
    def is_reachable(self) -> bool:
        return not self._problem

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Check once, then again and again meanwhile."""
        await self._look()
        watching = asyncio.create_task(self._keep_looking(), name="checking stores")
        try:
            yield
        finally:
            watching.cancel()

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_EVERY_S)
            await self._look()

    async def _look(self) -> None:
        before, (self._problem, error) = self._problem, await self._find_problem()
        if self._problem and self._problem != before:
            log.warning("a store cannot be used: %s", self._problem, exc_info=error)

    async def _find_problem(self) -> tuple[str, Exception | None]:
        """Return why a store cannot be used, with the exception of a bug; "" where all can."""
        try:
            async with asyncio.timeout(_CHECK_S):
                await self._check()
        except TimeoutError:
            return f"no answer within {_CHECK_S:g} seconds", None
        except ToolgenError as error:
            return error.message, None
        except Exception as error:  # of a store that others wrote
            return type(error).__name__, error
        return "", None
