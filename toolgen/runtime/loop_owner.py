"""What the agents of a runtime are to it, which executes the loops of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from toolgen.calls.call import CallMeta
from toolgen.calls.results import ToolResult
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.toolsets.snapshot import Listing
from toolgen.contract.json_value import Json
from toolgen.runs import RunStatus
from toolgen.waiting.activities import AgentCalls
from toolgen.waiting.once_call import Resolution


class LoopOwner(AgentCalls, Protocol):
    """What joins a runtime with loops of its own: opened, asked about their runs, and closed with it."""

    async def open(self) -> None:
        """Start, after the toolsets of the runtime are open."""
        ...

    async def close(self) -> None:
        """Stop, before the toolsets of the runtime are closed."""
        ...

    async def find_tool(self, tool: str, meta: CallMeta, run_id: str) -> RegisteredTool | None:
        """Return the tool of a suspended call of a run, as the run would call it now; None without one."""
        ...

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Store the outcome of a call of a run, which was unknown; `ResolveError` where it is none."""
        ...

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients; another's as it is."""
        ...

    def event_ids(self, status: RunStatus) -> Mapping[str, Json]:
        """Return the ids that the events of a run have, which those of its engine lack; none of another's."""
        ...

    @property
    def listings(self) -> Sequence[Listing]:
        """What lists tools that the runtime has not."""
        ...

    @property
    def stores(self) -> Sequence[object]:
        """The stores that the capabilities of the runtime do not have."""
        ...
