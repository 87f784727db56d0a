"""Events of runs for the subscribers of a runtime, with the ids of session and turn, in the order of the log.

An event of the engine itself, such as the last one of a run, lacks these ids. They are facts of the run, and
where this process has executed nothing of it they are read from the input of the run.
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
    """Forwards events to a hub, and hears of the end of each run with its facts."""

    def __init__(
        self, engine: Engine, hub: Events | None, on_end: Callable[[str, RunFacts], None], most: int | None
    ) -> None:
        """Construct without runs.

        Args:
            engine: Has the inputs of runs.
            hub: Gets the events; None where nobody can listen.
            on_end: Gets the id and the facts of each run whose last event was forwarded.
            most: Runs whose facts are kept.
        """
        self._engine = engine
        self._hub = hub
        self._on_end = on_end
        self.facts: RecentRuns[RunFacts] = RecentRuns(most)
        """Facts of the runs of which this process has executed something lately."""
        self._late: dict[str, list[tuple[int, Mapping[str, Json]]]] = {}
        """Events with their offsets, by run, since its input began to be read."""
        self._reading: set[asyncio.Task[None]] = set()

    def forward(self, run_id: str, offset: int, event: Mapping[str, Json]) -> None:
        """Forward an event, after those of the run that wait for its facts."""
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
        """Return the facts in the input of a run; those above where it is no run of an agent, or is gone."""
        above = self.facts.get(run_id.rpartition("/")[0])
        try:
            status = await self._engine.status(run_id)
        except UnknownRunError:
            return above
        except Exception:  # noqa: BLE001 - an engine of others; logged, and the session above is the same
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
