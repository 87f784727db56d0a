"""A directory of tools by id and by wire name, and the error for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from toolgen.shapes.naming import LONGEST_NAME

from ..call.failures import error_result
from ..call.registered_tool import RegisteredTool
from ..call.result_encoding import truncate_text
from ..calls import CallMeta
from ..errors import RegistrationError, ToolError
from ..results import RetryHint, ToolResult
from ..specs import ToolSpec


class Directory:
    """Registered tools in the order in which they were added."""

    def __init__(self, tools: Iterable[RegisteredTool] = (), former: Iterable[str] = ()) -> None:
        """Construct a directory; `former` are names that were callable before.

        Raises:
            RegistrationError: two tools have one id.
        """
        self._by_id: dict[str, RegisteredTool] = {}
        self._by_name: dict[str, list[RegisteredTool]] = {}
        self._alone: dict[str, RegisteredTool] = {}
        """Tools by the wire names that only one has."""
        self._former = frozenset(former)
        self.add(tools)

    def add(self, tools: Iterable[RegisteredTool]) -> None:
        """Add tools; all of them or, when an id is taken, none.

        Raises:
            RegistrationError: an id is taken; the message names both toolsets.
        """
        added = tuple(tools)
        taken = dict(self._by_id)
        for tool in added:
            if other := taken.get(tool.spec.id):
                raise RegistrationError(
                    f"toolset {tool.toolset!r} brings {tool.spec.id!r}, "
                    f"which the registered toolset {other.toolset!r} serves"
                )
            taken[tool.spec.id] = tool
        self._by_id = taken
        for tool in added:
            name = tool.spec.name
            self._by_name.setdefault(name, []).append(tool)
            if len(self._by_name[name]) == 1:
                self._alone[name] = tool
            else:
                self._alone.pop(name, None)

    @property
    def tools(self) -> tuple[RegisteredTool, ...]:
        return tuple(self._by_id.values())

    @property
    def specs(self) -> tuple[ToolSpec[Any, Any], ...]:
        return tuple(tool.spec for tool in self._by_id.values())

    @property
    def names(self) -> frozenset[str]:
        """The current ids and wire names, and the former ones."""
        return self._former.union(self._by_id, self._by_name)

    def by_id(self, tool: str) -> RegisteredTool | None:
        return self._by_id.get(tool)

    def find(self, tool: str) -> RegisteredTool | None:
        """Return the tool of an id, or of a wire name that one tool has."""
        return self._by_id.get(tool) or self._alone.get(tool)

    def unknown_tool_message(self, tool: str) -> str:
        """Return the error message for an unknown tool name, with up to three close names."""
        if tool in self._by_name:
            ids = ", ".join(found.spec.id for found in self._by_name[tool])
            return f"more than one tool is called {tool!r}: {ids}; use the id"
        asked = tool if len(tool) <= LONGEST_NAME else f"{tool[:LONGEST_NAME]}…"
        if tool in self._former:
            return f"the tool {asked!r} is no longer available"
        near = difflib.get_close_matches(asked, [*self._by_name, *self._by_id], 3)
        return f"there is no tool {asked!r}" + (f"; close names are {', '.join(near)}" if near else "")

    def unknown_tool_result(self, tool: str, meta: CallMeta, limit: int) -> ToolResult:
        """Return the error result of a call of an unknown tool, in at most `limit` bytes."""
        message = self.unknown_tool_message(tool)
        asked = truncate_text(tool, limit)
        hint = RetryHint(reason="tool_unavailable", tool=asked, message=message)
        return error_result(asked, ToolError(message, retry_hint=hint), meta, limit)
