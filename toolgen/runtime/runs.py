"""Runs of a runtime: of agents and of calls."""

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
"""Minimum number of runs to read after some were filtered out."""


@final
class RuntimeRuns:
    """Runs of agents and of calls."""

    def __init__(self, assembly: Assembly, waits: WaitRegistry | None) -> None:
        self._assembly = assembly
        self._waits = waits

    def run_as_client(self, *, checks: bool = False) -> None:
        """Execute only the runs of this runtime's own calls and answers, and those passed to `start`. Call it
        before you open the runtime. If another process executes the runs of the same file, it executes these
        too.

        Args:
            checks: Open the runtime even if the secret of suspended calls is missing. All of them then count
                as unsealed, and `suspensions.adopt` creates a new secret.
        """
        if self._waits is not None:
            self._waits.run_as_client(checks=checks)

    async def start(self, run_id: str = "") -> None:
        """Begin to execute the runs of the engine; after `run_as_client`, only the run with this ID.

        Raises:
            EngineError: Another process executes the runs of the file, and `run_as_client` was not called.
        """
        if self._waits is not None:
            await self._waits.start(run_id)

    async def cancel(self, run_id: str, reason: str = "") -> None:
        """Cancel a run and everything that it has started and waits for. A run that has ended stays as it is.

        Raises:
            UnknownRunError: No run has the ID.
            NoEngineError: The runtime has no engine.
        """
        await self._registry().engine.cancel(run_id, reason=reason)

    async def status(self, run_id: str) -> RunStatus:
        """Return the status of a run, as clients see it.

        Raises:
            UnknownRunError: No run has the ID.
            NoEngineError: The runtime has no engine.
        """
        return self.status_of(await self._registry().engine.status(run_id))

    async def list(
        self, *, state: RunState | None = None, session: str | None = None, after: str = "", limit: int = 100
    ) -> tuple[RunStatus, ...]:
        """Return the statuses of runs, newest first.

        Args:
            state: Only runs in this state.
            session: Only runs of this session.
            after: Only runs older than the run with this ID, for the next page.
            limit: Maximum number of runs.

        Raises:
            TypeError, ValueError: `limit` is not a valid number.
            NoEngineError: The runtime has no engine.
        """
        statuses = await runs_in_state(
            self._registry().engine, self.status_of, state=state, session=session, after=after, limit=limit
        )
        return tuple(map(self.status_of, statuses))

    async def events(self, run_id: str, *, after: int = 0) -> tuple[Event, ...]:
        """Return the stored events of a run whose `seq` is greater than `after`.

        Raises:
            UnknownRunError: No run has the ID.
            NoEngineError: The runtime has no engine.
            TypeError, ValueError: `after` is not a valid number.
        """
        from toolgen.events.document import logged_event

        _require_count("after", after)
        engine, loops = self._registry().engine, self._assembly.loops
        ids = {} if loops is None else loops.event_ids(await engine.status(run_id))
        logged = engine.events(run_id, after=after, follow=False)
        return tuple([logged_event(run_id, seq, document, ids) async for seq, document in logged])

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of a run whose `seq` is greater than `after`, live, up to its `run_stream_end`.

        Events that are not stored, such as pieces of text, have the `seq` 0 and come only from this process.

        Raises:
            UnknownRunError, NoEngineError, TypeError, ValueError: As in `events`.
        """
        from toolgen.events.document import logged_event

        _require_count("after", after)
        engine, loops = self._registry().engine, self._assembly.loops
        ids = {} if loops is None else loops.event_ids(await engine.status(run_id))
        async for seq, document in engine.events(run_id, after=after):
            yield logged_event(run_id, seq, document, ids)

    async def call_result(self, run_id: str) -> ToolResult:
        """Return the current result of the direct call that a run executes, with its open questions.

        The status is `running` while the call is executed.

        Raises:
            UnknownRunError: No run of a direct call has the ID.
            SuspensionError: The stored call was changed or has no valid seal.
            NoEngineError: The runtime has no engine.
        """
        from toolgen.waiting.awaiting_results import result_so_far

        result = await result_so_far(self._reader(self._registry()), run_id)
        if result is None:
            raise unknown_run(run_id)
        return result

    def status_of(self, status: RunStatus) -> RunStatus:
        """Convert the engine's status of a run to the one that clients see.

        If an agent's run ends with a failure, the engine's state is `completed`, and clients see `failed`
        with the `error`.
        """
        return status if self._assembly.loops is None else self._assembly.loops.status_of(status)

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Store the outcome of a call whose status is `unknown`, and return it. Nothing is executed.

        Later turns of the conversation see this outcome and who reported it. The run `<run>/resolved:<call>`
        records it, with one `tool_end` that has `resolved_by`.

        Args:
            run_id: Run of the agent that made the call, or run of the call itself (`call_…`).
            tool_call_id: ID of the call; "" for a run of a single call.
            resolution: Outcome of the call; a result must fit the tool.
            by: Name of the person who reports the outcome.

        Raises:
            UnknownRunError: No run has the ID.
            ResolveError: The outcome is known or can still arrive, the call does not exist, the result does
                not fit, or `by` is empty.
        """
        if not by:
            raise ResolveError("by= is empty", hint="name the person who resolves the call")
        if self._waits is not None:
            result = await resolve_call(self._reader(self._waits), run_id, tool_call_id, resolution, by)
            if result is not None:
                return result
        if self._assembly.loops is None:
            message = "this runtime has no agents, so no conversation can store the outcome"
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
    """Return runs, newest first, with the statuses of the engine.

    Runs for which `seen` returns None are left out, as are runs whose returned status has another state.
    """
    _require_count("limit", limit)
    # For its engine, a run that failed by its planner or at a limit is completed.
    engine_state = None if state in ("completed", "failed") else state
    most = limit
    wanted: list[RunStatus] = []
    while True:
        statuses = await engine.list_runs(state=engine_state, session=session, after=after, limit=most)
        for status in statuses:
            by_client = seen(status)
            if by_client is not None and state in (None, by_client.state):
                wanted.append(status)
        if len(wanted) >= limit or len(statuses) < most:
            return tuple(wanted[:limit])
        after, most = statuses[-1].run_id, max(most, _PAGE)


def _require_count(name: str, value: int) -> None:
    """Raise a `TypeError` or `ValueError` for an invalid number, because engines treat it differently."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if not 0 <= value <= sys.maxsize:
        raise ValueError(f"{name} must be between 0 and {sys.maxsize}, not {value}")
