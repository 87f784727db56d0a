"""The tools of a request: those of the runtime, of one of its toolsets, or of an agent."""

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
    """Return the tool of a name.

    Raises:
        MCPError: there is none; -32602 with close names (MCP, Tools, Error Handling).
    """
    tool = offered.directory.by_name.get(name)
    if tool is None:
        raise MCPError(INVALID_PARAMS, offered.directory.unknown_tool_message(name))
    return tool


class ToolSelection:
    """Lists the tools of one server."""

    def __init__(self, runtime: Runtime, toolset: str, agent: str) -> None:
        """Offer the tools of a toolset, or of an agent by the agent's names; of both "" for all.

        Raises:
            ToolgenError: there is no such toolset, or both are given.
            RegistrationError: there is no such agent.
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
        """The newest snapshot of the runtime, and the toolset's part of it."""

    async def offered(self, meta: CallMeta) -> Snapshot:
        """Return the tools of a request, listed anew.

        Raises:
            MCPError: a toolset cannot list its tools; the log has why.
        """
        try:
            if self._agent:
                snapshot = await agents_of(self._runtime).tools(self._agent, meta)
            else:
                snapshot = await self._runtime.tools.snapshot(ReadonlyContext(meta=meta))
        except Exception as error:  # noqa: BLE001 - `_fail` logs it and raises an error of the protocol
            _fail(error)
        if not self._toolset:
            return snapshot
        if self._part is None or self._snapshot is not snapshot:
            self._snapshot, self._part = snapshot, snapshot.of_toolset(self._toolset)
        return self._part


def _fail(error: Exception) -> NoReturn:
    """Raise what a client may know of a failure that is not its own.

    Raises:
        MCPError: as said.
    """
    reference = log_failure(log, error, "the tools of a request could not be listed")
    raise MCPError(INTERNAL_ERROR, f"the tools cannot be listed now (reference {reference})") from None
