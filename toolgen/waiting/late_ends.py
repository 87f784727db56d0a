"""The background work of a runtime that stores what became of calls that ended late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger
from toolgen.contract.tasks import start_task

if TYPE_CHECKING:
    from toolgen.calls.resolution import Resolution

Settle: TypeAlias = "Callable[[Resolution], Awaitable[None]]"
"""Stores what became of a call, once its unknown outcome was told."""

BY_ITSELF: Final = "the call itself, which ended late"
"""Who says what became of it."""

log = logger("toolgen.runtime")


class LateEnds:
    """Settles the calls of one runtime that end late; nobody waits for it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def open(self) -> None:
        """Settle calls from now on, also after `close`."""
        self._is_closed = False

    def settle(self, tool: str, resolution: Resolution, settle: Settle) -> None:
        """Start to store what became of a call of a tool; after `close` its outcome stays unknown."""
        if self._is_closed:
            log.warning("%s ended after its runtime was closed, and its outcome stays unknown", tool)
            return
        start_task(self._tasks, _settled(tool, resolution, settle), name=f"late end of {tool}")

    async def close(self) -> None:
        """Leave the calls that are not settled yet as they are: of unknown outcome."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _settled(tool: str, resolution: Resolution, settle: Settle) -> None:
    from toolgen.calls.resolution import ResolveError

    try:
        await settle(resolution)
    except ResolveError as error:  # somebody was faster
        log.info("the late end of %s settles nothing: %s", tool, error)
    except ToolgenError as error:  # such as an engine that is closed
        log.warning("the late end of %s was not stored, and its outcome stays unknown: %s", tool, error)
    except Exception:
        log.exception("the late end of %s was not stored, and its outcome stays unknown", tool)
