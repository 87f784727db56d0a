"""What stands on a runtime and is opened, asked and closed with it, such as its agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .call.ending import unanswered
from .call.entry import Entry
from .call.failures import Arguments
from .call.host import Host
from .calls import CallMeta
from .errors import RegistrationError
from .resolution import Resolution, ResolveError
from .results import Delegated, ToolResult
from .toolsets.registry import Registry
from .waiting.errors import NoEngineError

if TYPE_CHECKING:
    from .events.hub import Events
    from .waiting.tools import FindTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Interior:
    """What a runtime shares with what stands on it."""

    host: Host
    registry: Registry
    events: Events | None
    entry_of: FindTool
    """Finds the tool of a call that waits."""


class Extension(Protocol):
    """Stands on one runtime."""

    async def open(self) -> None:
        """Begin, after the toolsets of the runtime are open."""
        ...

    async def close(self) -> None:
        """End, before the toolsets of the runtime are closed."""
        ...

    async def delegated(
        self,
        entry: Entry,
        arguments: Arguments,
        delegated: Delegated,
        meta: CallMeta,
        *,
        host: Host | None = None,
        run_id: str = "",
    ) -> ToolResult:
        """Return the result of a call that an agent has to answer, in a run of this id or of a new one.

        `host` is the runtime's, or one that reports elsewhere.
        """
        ...

    def entry_of(self, tool: str, run_id: str) -> Entry | None:
        """Return a tool by id as a run saw it last; None where no run of this extension did."""
        ...

    async def cancel_run(self, run_id: str, reason: str) -> None:
        """Cancel a run, with what else has to know of it; as `Runtime.cancel_run`."""
        ...

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Keep what became of a call whose outcome was unknown; as `Runtime.resolve`."""
        ...


class NoExtension:
    """Nothing stands on the runtime: no agent answers, and no run waits."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def delegated(
        self,
        entry: Entry,
        arguments: Arguments,
        delegated: Delegated,
        meta: CallMeta,
        *,
        host: Host | None = None,
        run_id: str = "",
    ) -> ToolResult:
        host = host or self._host
        error = RegistrationError(
            f"agent {delegated.agent!r} is not registered",
            hint="call the generated `register` of its package",
        )
        return unanswered(entry.spec, error, meta, host)

    def entry_of(self, tool: str, run_id: str) -> Entry | None:
        return None

    async def cancel_run(self, run_id: str, reason: str) -> None:
        if self._host.waits is None:
            raise NoEngineError
        await self._host.waits.engine.cancel(run_id, reason=reason)

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        raise ResolveError("this runtime has no agents, and so no conversation that could have the outcome")
