"""Runtimes of functions that wait at once, with what counts their calls."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from toolgen.calls.functions.tools import func_tool
from toolgen.runtime import CallMeta, Runtime, StaticToolset, ToolCall, ToolResult

HOUR = 3600.0


def serving(*functions: Callable[..., Any], sequential: str = "", **options: Any) -> Runtime:
    """Return a runtime of these functions; the names in `sequential` are those of sequential tools."""
    host = Runtime(**options)
    tools = [func_tool(one, toolset="x.tools", is_sequential=one.__name__ in sequential) for one in functions]
    host.tools.register(StaticToolset(name="x.tools", bound=tuple(tools)))
    return host


def calls_of(tool: str, count: int, **facts: Any) -> list[ToolCall]:
    return [ToolCall(tool=tool, payload_json=b"{}", meta=CallMeta(**facts)) for _ in range(count)]


def statuses(results: tuple[ToolResult, ...]) -> Counter[str]:
    return Counter(result.status for result in results)


def is_idle(host: Runtime) -> bool:
    return host._services.scheduler.is_idle


class Crowd:
    """Counts how many calls run at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def stay(self, seconds: int = 1) -> None:
        """Stay for a second."""
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(seconds)
        self.now -= 1


async def inner() -> None:
    """Do it."""
    await asyncio.sleep(0.01)
