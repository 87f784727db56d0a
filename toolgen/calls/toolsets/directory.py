"""A directory of tools by ID and by wire name, and the error for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from toolgen.contract.limits import truncate_text
from toolgen.shapes.naming import LONGEST_NAME

from ..errors import RegistrationError, ToolError
from ..results import RetryHint, ToolResult
from ..steps.failures import error_result

if TYPE_CHECKING:
    from ..call import CallMeta, ToolCall
    from ..specs import ToolSpec
    from ..steps.frame import RuntimeServices
    from ..steps.registered_tool import RegisteredTool


class Directory:
    """Registered tools in the order in which they were added."""

    def __init__(self, tools: Iterable[RegisteredTool] = (), former: Iterable[str] = ()) -> None:
        """Construct a directory; `former` are names that could be called before.

        Raises:
            RegistrationError: two tools have the same ID.
        """
        self.by_id: Mapping[str, RegisteredTool] = {}
        self.by_name: Mapping[str, RegisteredTool] = {}
        """Tools by ID, and by each wire name that only one tool has."""
        self._with_name: dict[str, list[RegisteredTool]] = {}
        self._former = frozenset(former)
        self.add(tools)

    def add(self, tools: Iterable[RegisteredTool]) -> None:
        """Add all tools, or none if an ID is already in use.

        Raises:
            RegistrationError: an ID is already in use; the message names both toolsets.
        """
        added = tuple(tools)
        taken = dict(self.by_id)
        for tool in added:
            if other := taken.get(tool.spec.id):
                raise RegistrationError(
                    f"toolset {tool.toolset!r} has the tool {tool.spec.id!r}, which the registered "
                    f"toolset {other.toolset!r} has already"
                )
            taken[tool.spec.id] = tool
        for tool in added:
            self._with_name.setdefault(tool.spec.name, []).append(tool)
        self.by_id = taken
        self.specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in taken.values())
        self.by_name = {name: same[0] for name, same in self._with_name.items() if len(same) == 1} | taken

    @property
    def names(self) -> frozenset[str]:
        """The current IDs and wire names, and the former ones."""
        return self._former.union(self.by_id, self._with_name)

    def unknown_tool_message(self, tool: str) -> str:
        """Return the error message for an unknown tool name, with up to three close names."""
        if tool in self._with_name:
            ids = ", ".join(registered.spec.id for registered in self._with_name[tool])
            return f"more than one tool has the name {tool!r}: {ids}; use the id"
        shown_name = tool if len(tool) <= LONGEST_NAME else f"{tool[:LONGEST_NAME]}…"
        if tool in self._former:
            return f"the tool {shown_name!r} is no longer available"
        near = difflib.get_close_matches(shown_name, [*self._with_name, *self.by_id], 3)
        return f"there is no tool {shown_name!r}" + (f"; similar names: {', '.join(near)}" if near else "")

    def unknown_tool_result(self, tool: str, meta: CallMeta, services: RuntimeServices) -> ToolResult:
        """Return the error result of a call whose tool does not exist."""
        message, limit = self.unknown_tool_message(tool), services.limits.result_bytes
        shown_name = truncate_text(tool, limit)
        hint = RetryHint(reason="tool_unavailable", tool=shown_name, message=message)
        return error_result(shown_name, ToolError(message, retry_hint=hint), meta, limit)

    async def unknown_call_result(self, call: ToolCall, services: RuntimeServices) -> ToolResult:
        """Return and emit the result of a call whose tool does not exist: an error, or a hook's result."""
        result = self.unknown_tool_result(call.tool, call.meta, services)
        if services.unknown_tool_hooks:
            from ..steps.hook_stages import run_unknown_hooks

            result = await run_unknown_hooks(call, result, services)
        services.reports.emit_tool_end(result, call.meta)
        return result
