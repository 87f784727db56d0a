"""Lists the runs of an engine by the state for their clients, which the engine does not know."""

from __future__ import annotations

from collections.abc import Callable

from toolgen.runs import Engine, RunState, RunStatus


async def runs_in_state(
    engine: Engine,
    seen: Callable[[RunStatus], RunStatus | None],
    *,
    state: RunState | None,
    session: str | None = None,
    limit: int = 100,
) -> tuple[RunStatus, ...]:
    """Return runs, the newest first, as the engine has them.

    Those for which `seen` returns None are left out, and those that are in another state by what it returns.
    """
    # For its engine a run that failed by its planner or at a limit is completed.
    asked = None if state in ("completed", "failed") else state
    most = limit
    while True:
        statuses = await engine.list_runs(state=asked, session=session, limit=most)
        wanted = []
        for status in statuses:
            by_client = seen(status)
            if by_client is not None and state in (None, by_client.state):
                wanted.append(status)
        if len(wanted) >= limit or len(statuses) < most:
            return tuple(wanted[:limit])
        most *= 4
