"""The part of a runtime by which hosts start, cancel and settle the runs of its engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .call.frame import RuntimeServices
from .extension import ExtensionPoint
from .resolution import Resolution, ResolveError
from .results import ToolResult
from .waiting.resolving_calls import resolve_call
from .waiting.resuming import WaitingTools

if TYPE_CHECKING:
    from .engine import Engine, RunStatus


class RunControl:
    """The methods of `Runtime` for runs, of agents and of calls that wait."""

    _engine: Engine | None
    _extension: ExtensionPoint
    _services: RuntimeServices
    _tools: WaitingTools

    @property
    def engine(self) -> Engine | None:
        """The engine that executes the runs; None without one, and then no call can wait."""
        return self._engine

    def be_client(self, *, checks: bool = False) -> None:
        """Execute only the runs of calls that this runtime makes or answers, and those of `start_runs`.

        With `checks` it opens although the secret of what waits is missing; all of it is unsealed then, and
        `adopt` makes a new secret.

        It is called before the runtime is opened. Where another process executes the runs of a file, that one
        executes these too. Without an engine it does nothing.
        """
        if self._services.waits is not None:
            self._services.waits.be_client(checks=checks)

    async def start_runs(self, run_id: str = "") -> None:
        """Start to execute the runs of the engine; after `be_client` only the one of this id.

        Raises:
            EngineError: another process executes the runs of the file, and this runtime is no client.
        """
        if self._services.waits is not None:
            await self._services.waits.start(run_id)

    async def cancel_run(self, run_id: str, reason: str = "") -> None:
        """Cancel a run, with all that it has started and waits for; one that is over is left alone.

        Raises:
            UnknownRunError: no run has the id.
            NoEngineError: this runtime has no runs.
        """
        await self._extension.cancel_run(run_id, reason)

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients.

        For its engine the run of an agent that ended with a failure is `completed`: its loop has returned.
        For clients it is `failed`, and `error` says why.
        """
        return self._extension.status_of(status)

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Store the outcome of a call whose outcome was unknown, and return it.

        The turns after it see it in the place of the words that the call may have run, and who says so is
        kept beside it. It is also the run `<run>/resolved:<call>`, whose one `tool_end` names who says so in
        `resolved_by`. Nothing is executed.

        Args:
            run_id: Of the agent that made the call, or of the call itself: `call_…`.
            tool_call_id: Of the call; "" for that of a run of one call.
            resolution: What became of it; a result has to fit the tool.
            by: Who has found out.

        Raises:
            UnknownRunError: no run has the id.
            ResolveError: the outcome is known or may still come, there is no such call, the result does not
                fit, or nobody is named.
        """
        if not by:
            raise ResolveError("by is empty", hint="name the person who resolves the call")
        services = self._services
        if services.waits is not None:
            arguments = (run_id, tool_call_id, resolution, by)
            result = await resolve_call(services, services.waits, self._tools, *arguments)
            if result is not None:
                return result
        return await self._extension.resolve(run_id, tool_call_id, resolution, by=by)
