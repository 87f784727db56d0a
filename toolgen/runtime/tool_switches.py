"""The part of a runtime by which operators disable tools and enable them again."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .disabling import DisabledTool, DisabledTools, require_disabled


class ToolSwitches(ABC):
    """The methods of `Runtime` for the tools that are disabled while it works."""

    _disabled: DisabledTools | None

    async def disable_tool(self, tool: str, reason: str = "", *, by: str = "") -> str:
        """Disable a tool in all processes that share the store, within seconds, and return its id.

        Models are not offered it any more, and its calls end as errors without their executor, those too that
        wait for an answer now. Calls that are executed go on.

        Args:
            tool: An id, or a wire name that one tool has.
            reason: What models and people read.
            by: Who disables it.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
            RegistrationError: this runtime has no `disabled`, or a toolset cannot list its tools.
            StoreError: the store cannot be used.
        """
        disabled = require_disabled(self._disabled)
        id_ = await self._id_of(tool)
        await disabled.disable(id_, reason, by=by)
        return id_

    async def enable_tool(self, tool: str) -> str:
        """Enable a tool again, and return its id; of a tool that is gone by its id.

        Raises:
            UnknownToolError, RegistrationError, StoreError: as `disable_tool`.
        """
        disabled = require_disabled(self._disabled)
        is_known = any(one.tool == tool for one in await disabled.all())
        id_ = tool if is_known else await self._id_of(tool)
        await disabled.enable(id_)
        return id_

    async def disabled_tools(self) -> tuple[DisabledTool, ...]:
        """Return the tools that are disabled now, by id.

        Raises:
            RegistrationError, StoreError: as `disable_tool`.
        """
        return await require_disabled(self._disabled).all()

    @property
    def disabled(self) -> DisabledTools | None:
        """The tools that are disabled; None where none can be."""
        return self._disabled

    @abstractmethod
    async def _id_of(self, tool: str) -> str:
        """Return the id of a tool, by its id or by a wire name that one tool has.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
        """
