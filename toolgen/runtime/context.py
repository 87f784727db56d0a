"""What an executor gets beside the payload."""

from __future__ import annotations

from .calls import CallMeta


class ToolContext:
    """The call that is running."""

    __slots__ = ("meta", "tool")

    def __init__(self, meta: CallMeta, tool: str) -> None:
        self.meta = meta
        self.tool = tool
        """Id of the tool."""

    def __repr__(self) -> str:
        return f"ToolContext(tool={self.tool!r}, tool_call_id={self.meta.tool_call_id!r})"
