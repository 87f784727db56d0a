"""The runs of a runtime, of agents and of calls: executed, listed, cancelled and resolved."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final, final

from toolgen.calls.results import ToolResult
from toolgen.engines import unknown_run
from toolgen.waiting.call_results import CallReader
from toolgen.waiting.errors import NoEngineError
from toolgen.waiting.once_call import Resolution, ResolveError
from toolgen.waiting.resolving import resolve_call
from toolgen.waiting.wait_registry import WaitRegistry

from .assembly import Assembly

if TYPE_CHECKING:
    from toolgen.engines import Engine, RunState, RunStatus
    from toolgen.events.records import Event

_PAGE: Final = 100
"""Runs that are read at least where some were left out."""


@final
class RuntimeRuns:
    """The runs of one runtime, as `Runtime.runs`."""

    def __init__(self, assembly: Assembly, waits: WaitRegistry | None) -> None:
        self._assembly = assembly
        self._waits = waits

    def be_client(self, *, checks: bool = False) -> None:
        """Execute only the runs of calls that this runtime makes or answers, and those of `start`.

        With `checks` it opens although the secret of what waits is missing; all of it is unsealed then, and
        `Waits.adopt` makes a new secret.

        It is called before the runtime is opened. Where another process executes the runs of a file, that one
        executes these too. Without an engine it does nothing.
        """
        if self._waits is not None:
            self._waits.be_client(checks=checks)

    async def start(self, run_id: str = "") -> None:
        """Start to execute the runs of the engine; after `be_client` only the one of this id.

        Raises:
            EngineError: another process executes the runs of the file, and this runtime is no client.
        """
        if self._waits is not None:
            await self._waits.start(run_id)

    async def cancel(self, run_id: str, reason: str = "") -> None:
        """Cancel a run, with all that it has started and waits for; one that is over is left alone.

        Raises:
            UnknownRunError: no run has the id.
            NoEngineError: this runtime has no runs.
        """
        await self._registry().engine.cancel(run_id, reason=reason)

    async def status(self, run_id: str) -> RunStatus:
        """Return the status of a run for its clients, as `status_of`.

        Raises:
            UnknownRunError: no run has the id.
            NoEngineError: this runtime has no runs.
        """
        return self.status_of(await self._registry().engine.status(run_id))

    async def list(
        self, *, state: RunState | None = None, session: str | None = None, after: str = "", limit: int = 100
    ) -> tuple[RunStatus, ...]:
        """Return runs, the newest first: in a state for their clients, of a session, those after a run.

        Raises:
            TypeError, ValueError: `limit` is no number of runs.
            NoEngineError: this runtime has no runs.
        """
        statuses = await runs_in_state(
            self._registry().engine, self.status_of, state=state, session=session, after=after, limit=limit
        )
        return tuple(map(self.status_of, statuses))

    async def events(self, run_id: str, *, after: int = 0) -> tuple[Event, ...]:
        """Return the events of a run that are logged now, those after this `seq`.

        Raises:
            UnknownRunError: no run has the id.
            NoEngineError: this runtime has no runs.
            TypeError, ValueError: `after` is no `seq`.
        """
        from toolgen.events.document import logged_event

        _require_count("after", after)
        engine, loops = self._registry().engine, self._assembly.loops
        ids = {} if loops is None else loops.event_ids(await engine.status(run_id))
        logged = engine.events(run_id, after=after, follow=False)
        return tuple([logged_event(run_id, seq, document, ids) async for seq, document in logged])

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of a run after this `seq`, to its `run_stream_end`, as they are logged.

        Between them come those of this process that no log has, such as pieces of a text, with `seq` 0.

        Raises:
            UnknownRunError, NoEngineError, TypeError, ValueError: as `events`.
        """
        from toolgen.events.document import logged_event

        _require_count("after", after)
        engine, loops = self._registry().engine, self._assembly.loops
        ids = {} if loops is None else loops.event_ids(await engine.status(run_id))
        async for seq, document in engine.events(run_id, after=after):
            yield logged_event(run_id, seq, document, ids)

    async def call_result(self, run_id: str) -> ToolResult:
        """Return the result of the direct call of a run as it stands, with what it waits for.

        It is running while the call is executed. Of one that has ended it is what was kept.

        Raises:
            UnknownRunError: no run of a direct call has the id.
            SuspensionError: what it waits for was changed, or nobody has sealed it.
            NoEngineError: this runtime has no runs.
        """
        from toolgen.waiting.awaiting_results import result_so_far

        result = await result_so_far(self._reader(self._registry()), run_id)
        if result is None:
            raise unknown_run(run_id)
        return result

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients.

        For its engine the run of an agent that ended with a failure is `completed`: its loop has returned.
        For clients it is `failed`, and `error` says why.
        """
        return status if self._assembly.loops is None else self._assembly.loops.status_of(status)

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
        if self._waits is not None:
            result = await resolve_call(self._reader(self._waits), run_id, tool_call_id, resolution, by)
            if result is not None:
                return result
        if self._assembly.loops is None:
            message = "this runtime has no agents, and so no conversation that could have the outcome"
            raise ResolveError(message)
        return await self._assembly.loops.resolve(run_id, tool_call_id, resolution, by=by)

    def _registry(self) -> WaitRegistry:
        if self._assembly.waits is None:
            raise NoEngineError
        return self._assembly.waits

    def _reader(self, waits: WaitRegistry) -> CallReader:
        return CallReader(waits=waits, tools=self._assembly.tools, services=self._assembly.services)


async def runs_in_state(
    engine: Engine,
    seen: Callable[[RunStatus], RunStatus | None],
    *,
    state: RunState | None,
    session: str | None = None,
    after: str = "",
    limit: int = 100,
) -> tuple[RunStatus, ...]:
    """Return runs, the newest first, as the engine has them.

    Those for which `seen` returns None are left out, and those that are in another state by what it returns.
    """
    _require_count("limit", limit)
    # For its engine a run that failed by its planner or at a limit is completed.
    asked = None if state in ("completed", "failed") else state
    most = limit
    wanted: list[RunStatus] = []
    while True:
        statuses = await engine.list_runs(state=asked, session=session, after=after, limit=most)
        for status in statuses:
            by_client = seen(status)
            if by_client is not None and state in (None, by_client.state):
                wanted.append(status)
        if len(wanted) >= limit or len(statuses) < most:
            return tuple(wanted[:limit])
        after, most = statuses[-1].run_id, max(most, _PAGE)


def _require_count(name: str, value: int) -> None:
    """Raise a TypeError or ValueError for an argument that counts nothing, before engines tell it apart."""
    if not isinstance(value, int):
        raise TypeError(f"{name} is an integer, and not {value!r}")
    if not 0 <= value <= sys.maxsize:
        raise ValueError(f"{name} is between 0 and {sys.maxsize}, and not {value}")
