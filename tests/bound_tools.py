"""Tools of the methods of an object, for tests that make many such objects.

What `func_tool` reads of a method takes milliseconds, and is the same for each object of its class.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

from toolgen.runtime import BoundTool, ToolContext


def bound_to(owner: object, tools: Iterable[BoundTool]) -> tuple[BoundTool, ...]:
    """Return the tools of another object of the class, as those of this one; each is a method of its name."""
    return tuple(replace(tool, execute=_executor(getattr(owner, tool.spec.name))) for tool in tools)


def _executor(method: Callable[..., Awaitable[Any]]) -> Callable[[Any, ToolContext], Awaitable[Any]]:
    has_context = "ctx" in inspect.signature(method).parameters

    async def execute(payload: Any, ctx: ToolContext) -> Any:
        return await method(**dict(payload), **{"ctx": ctx} if has_context else {})

    return execute
