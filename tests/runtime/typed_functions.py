"""Functions as tools: called with JSON, and asked for their issues and their schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import BoundTool, FieldIssue, Runtime, ToolResult, ToolValidationError


@dataclasses.dataclass
class Point:
    x: int
    y: Annotated[int, Field(ge=0)] = 0


def issues(tool: BoundTool, document: str) -> list[FieldIssue]:
    with pytest.raises(ToolValidationError) as caught:
        tool.spec.payload.decode(document)
    return list(caught.value.issues)


async def called(function: Callable[..., object], arguments: dict[str, object]) -> ToolResult:
    runtime = Runtime()
    runtime.tools.register(
        function_toolset("host.tools", [func_tool(function, name="tool", toolset="host.tools")])
    )
    return await runtime.call("tool", arguments)


def properties(function: Callable[..., object]) -> dict[str, Any]:
    found: dict[str, Any] = func_tool(function, name="tool").spec.payload.schema["properties"]
    return found


async def search(query: str, limit: Annotated[int, Field(ge=1, description="How many.")] = 10) -> list[str]:
    """Search the notes.

    Newest first.

    Args:
        query: What to
            look for.
        limit: Not this text.

    Returns:
        The titles.
    """
    return [query] * limit
