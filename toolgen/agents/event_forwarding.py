"""Events of runs for the subscribers of a runtime, with session ID and turn ID, in the order of the log.

Events of the engine itself, for example the last event of a run, lack these IDs. The IDs are facts of the
run; if this process has executed nothing of the run, they are read from the input of the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from toolgen.calls.steps.failures import log
from toolgen.contract.json_value import Json
from toolgen.contract.tasks import start_task
from toolgen.engines import Engine, UnknownRunError
from toolgen.events.document import logged_event
from toolgen.events.hub import Events

from .loop.documents import RunFacts, event_ids
from .owner import has_facts
from .recent_runs import RecentRuns

LAST = "run_stream_end"
"""Type of the last event of each run."""


class EventForwarder:
    """Forwards events to a hub, and reports the end of each run with its facts."""

    def __init__(
        self, engine: Engine, hub: Events | None, on_end: Callable[[str, RunFacts], None], most: int | None
    ) -> None:
        """Construct without runs.

        Args:
            engine: Provides the inputs of runs.
            hub: Receives the events; None if there can be no subscribers.
            on_end: Called with the ID and the facts of each run after its last event was forwarded.
            most: Maximum number of runs whose facts are cached.
        """
        self._engine = engine
        self._hub = hub
        self._on_end = on_end
        self.facts: RecentRuns[RunFacts] = RecentRuns(most)
        """Facts of the runs that this process recently executed something of."""
        self._late: dict[str, list[tuple[int, Mapping[str, Json]]]] = {}
        """Queued events with their offsets, by run, while the input of the run is read."""
        self._reading: set[asyncio.Task[None]] = set()

    def forward(self, run_id: str, offset: int, event: Mapping[str, Json]) -> None:
        """Forward an event; queue it if earlier events of the run still wait for its facts."""
        if self._hub is not None and offset:
            self._hub.mark_logged(run_id)
        if run_id in self._late:
            self._late[run_id].append((offset, event))
            return
        facts = self.facts.get(run_id)
        if facts is None and self._needs_facts(event):
            self._late[run_id] = [(offset, event)]
            start_task(self._reading, self._forward_late(run_id), name=f"events of {run_id}")
            return
        self._forward(run_id, offset, event, facts)

    async def settle(self) -> None:
        """Return when no event waits for the facts of its run."""
        while self._reading:
            await asyncio.wait(set(self._reading))

    def _needs_facts(self, event: Mapping[str, Json]) -> bool:
        if event.get("type") == LAST:
            return True
        return "session_id" not in event and self._hub is not None and not self._hub.is_idle

    async def _forward_late(self, run_id: str) -> None:
        facts = await self._read(run_id)
        for offset, event in self._late.pop(run_id):
            self._forward(run_id, offset, event, facts)

    async def _read(self, run_id: str) -> RunFacts | None:
        """Return the facts in a run's input; the parent's facts if it is no agent run or no longer exists."""
        above = self.facts.get(run_id.rpartition("/")[0])
        try:
            status = await self._engine.status(run_id)
        except UnknownRunError:
            return above
        except Exception:  # noqa: BLE001 - third-party engine; logged, and the parent has the same session
            log.warning(
                "the last events of run %s were not emitted, because its input was not read",
                run_id,
                exc_info=True,
            )
            return above
        document: Any = status.input
        return document["facts"] if has_facts(status) else above

    def _forward(self, run_id: str, offset: int, event: Mapping[str, Json], facts: RunFacts | None) -> None:
        if self._hub is not None and not self._hub.is_idle:
            try:
                self._hub.forward(logged_event(run_id, offset, event, event_ids(facts)))
            except ValueError:
                log.exception("an event of run %s was not emitted", run_id)
        if event.get("type") == LAST:
            self.facts.pop(run_id)
            if facts is not None:
                self._on_end(run_id, facts)
