"""Extensions of a runtime, such as its agents: opened, asked and closed with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .call.frame import Frame, RuntimeServices
from .call.registered_tool import RegisteredTool
from .calls import CallMeta
from .engine import RunStatus
from .errors import RegistrationError
from .resolution import Resolution, ResolveError
from .results import Delegated, ToolResult
from .toolsets.lookup import Listing
from .toolsets.registry import Registry
from .waiting.call_runs import AgentAnswer, AgentCalls
from .waiting.errors import NoEngineError
from .waiting.loop import ChildOfCall
from .waiting.wait_registry import WaitRegistry

if TYPE_CHECKING:
    from .events.hub import Events
    from .waiting.resuming import FindAnswered


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionServices:
    """The services of a runtime that its extension uses."""

    services: RuntimeServices
    registry: Registry
    events: Events | None
    tool_of: FindAnswered
    """Finds the tool of a call that waits, when its answer comes."""
    serve_calls: Callable[[WaitRegistry], None]
    """Lets an engine execute the runs of single calls, where the runtime has none."""


class Extension(AgentCalls, Protocol):
    """Extends one runtime."""

    async def open(self) -> None:
        """Start, after the toolsets of the runtime are open."""
        ...

    async def close(self) -> None:
        """Stop, before the toolsets of the runtime are closed."""
        ...

    async def find_tool(self, tool: str, meta: CallMeta, run_id: str) -> RegisteredTool | None:
        """Return the tool of a suspended call of a run, as the run would call it now; None without one."""
        ...

    async def cancel_run(self, run_id: str, reason: str) -> None:
        """Cancel a run, and update what depends on it; as `Runtime.cancel_run`."""
        ...

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Store the outcome of a call whose outcome was unknown; as `Runtime.resolve`."""
        ...

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients; as `Runtime.status_of`."""
        ...

    @property
    def listings(self) -> Sequence[Listing]:
        """What lists the tools that the extension has beside those of the runtime."""
        ...

    @property
    def stores(self) -> Sequence[object]:
        """The stores that the extension has beside those of the runtime."""
        ...


class ExtensionPoint:
    """Holds the extension of a runtime; without one there are no agents and no runs of agents."""

    def __init__(self, services: RuntimeServices) -> None:
        self._services = services
        self.extension: Extension | None = None

    def take(self, extension: Extension) -> None:
        """Attach an extension to the runtime.

        Raises:
            RegistrationError: something stands on it already, or its engine executes runs already.
        """
        if self.extension is not None:
            raise RegistrationError(
                f"a {type(self.extension).__name__} stands on this runtime already",
                hint="make it once, before agents are registered",
            )
        if self._services.waits is not None:
            self._services.waits.require_idle()
        self.extension = extension

    async def open(self) -> None:
        """Open the extension."""
        if self.extension is not None:
            await self.extension.open()

    async def close(self) -> None:
        """Close the extension."""
        if self.extension is not None:
            await self.extension.close()

    async def child_of(
        self, tool: RegisteredTool, delegated: Delegated, meta: CallMeta, run_id: str
    ) -> ChildOfCall:
        """Return the run that is to answer a call; as `AgentCalls`.

        Raises:
            RegistrationError: there is no such agent, or no extension at all.
            ToolError: the agents are nested too deep.
        """
        if self.extension is None:
            raise _no_agent(delegated.agent)
        return await self.extension.child_of(tool, delegated, meta, run_id)

    async def conclude(self, frame: Frame, answer: AgentAnswer) -> ToolResult:
        """Return the result of a call by what its run said; as `AgentCalls`.

        Raises:
            RegistrationError: there is no extension.
        """
        if self.extension is None:
            raise _no_agent(answer.link.agent)
        return await self.extension.conclude(frame, answer)

    @property
    def listings(self) -> Sequence[Listing]:
        """What lists the tools of the extension; nothing without one."""
        return () if self.extension is None else self.extension.listings

    @property
    def stores(self) -> Sequence[object]:
        """The stores of the extension; nothing without one."""
        return () if self.extension is None else self.extension.stores

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients."""
        return status if self.extension is None else self.extension.status_of(status)

    async def cancel_run(self, run_id: str, reason: str) -> None:
        """Cancel a run; with agents, its conversation records it.

        Raises:
            NoEngineError: nothing executes runs.
        """
        if self.extension is not None:
            await self.extension.cancel_run(run_id, reason)
        elif self._services.waits is None:
            raise NoEngineError
        else:
            await self._services.waits.engine.cancel(run_id, reason=reason)

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Store the outcome of a call whose outcome was unknown.

        Raises:
            ResolveError: there are no agents.
        """
        if self.extension is None:
            message = "this runtime has no agents, and so no conversation that could have the outcome"
            raise ResolveError(message)
        return await self.extension.resolve(run_id, tool_call_id, resolution, by=by)


def _no_agent(agent: str) -> RegistrationError:
    return RegistrationError(
        f"agent {agent!r} is not registered", hint="call the generated `register` of its package"
    )
