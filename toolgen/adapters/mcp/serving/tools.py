"""Tools of a request: of the runtime, of one of its toolsets, or of an agent."""

from __future__ import annotations

from typing import NoReturn

from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from toolgen.agents import agents_of
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import log_failure, logger
from toolgen.runtime import CallMeta, ReadonlyContext, Runtime, Snapshot

log = logger("toolgen.mcp")


def find_tool(offered: Snapshot, name: str) -> RegisteredTool:
    """Return the tool with a name.

    Raises:
        MCPError: No tool has the name; -32602 with similar names (MCP, Tools, Error Handling).
    """
    tool = offered.directory.by_name.get(name)
    if tool is None:
        raise MCPError(INVALID_PARAMS, offered.directory.unknown_tool_message(name))
    return tool


class ToolSelection:
    """Selection of the tools that one server offers."""

    def __init__(self, runtime: Runtime, toolset: str, agent: str) -> None:
        """Select a toolset, or an agent under the agent's names; if both are "", select all tools.

        Raises:
            ToolgenError: The toolset does not exist, or both are set.
            RegistrationError: The agent does not exist.
        """
        if toolset and agent:
            raise ToolgenError("both a toolset and an agent are set", hint="serve one of them")
        if toolset and toolset not in runtime.tools.toolsets():
            registered = ", ".join(runtime.tools.toolsets()) or "none"
            raise ToolgenError(f"toolset {toolset!r} is not registered", hint=f"registered are {registered}")
        if agent:
            agents_of(runtime).specs(agent)
        self._runtime = runtime
        self._toolset = toolset
        self._agent = agent
        self._snapshot: Snapshot | None = None
        self._part: Snapshot | None = None
        """Newest snapshot of the runtime, and its part for the toolset."""

    async def offered(self, meta: CallMeta) -> Snapshot:
        """List the tools of a request again.

        Raises:
            MCPError: A toolset cannot list its tools; the log has the reason.
        """
        try:
            if self._agent:
                snapshot = await agents_of(self._runtime).tools(self._agent, meta)
            else:
                snapshot = await self._runtime.tools.snapshot(ReadonlyContext(meta=meta))
        except Exception as error:  # noqa: BLE001 - `_fail` logs it and raises a protocol error
            _fail(error)
        if not self._toolset:
            return snapshot
        if self._part is None or self._snapshot is not snapshot:
            self._snapshot, self._part = snapshot, snapshot.of_toolset(self._toolset)
        return self._part


def _fail(error: Exception) -> NoReturn:
    """Log an internal failure, and raise an error without details for the client.

    Raises:
        MCPError: Always.
    """
    reference = log_failure(log, error, "the tools of a request could not be listed")
    raise MCPError(INTERNAL_ERROR, f"the tools cannot be listed now (reference {reference})") from None
