"""An engine with many workers: as far as a host sees, and with workers that execute the same runs."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, Final

from tests.virtual_time import now
from toolgen.engines import Activity, ActivityInfo, EngineCaps, InProcessEngine, NotRegisteredError

SECRET: Final = b"0123456789abcdef"
_MOST_MISSED: Final = 100
"""Attempts of workers that lack what an activity needs."""


class ManyWorkers(InProcessEngine):
    """An engine of one process whose features are those of an engine with many workers."""

    @property
    def caps(self) -> EngineCaps:
        return replace(super().caps, has_many_workers=True)


class Cluster:
    """Workers of one engine in this process: any of them executes an activity, and any hears of an event."""

    def __init__(self, seed: int, engine: InProcessEngine | None = None) -> None:
        self._chance = random.Random(seed)
        self._engine = engine or InProcessEngine(clock=now)
        self._workers: list[ClusterWorker] = []
        self._is_registered = False

    def worker(self) -> Any:
        """Return the engine of one more worker."""
        self._workers.append(ClusterWorker(self, self._engine))
        return self._workers[-1]

    async def start(self, **how: Any) -> None:
        """Start the engine with what its workers have registered."""
        if not self._is_registered:
            self._is_registered = True
            given = self._workers[0].registered
            activities = {name: self._activity(name) for name in given["activities"]}
            self._engine.register(**{**given, "activities": activities, "on_event": self._on_event})
        await self._engine.start(**how)

    async def close(self, worker: ClusterWorker) -> None:
        """Let a worker go; with the last one the engine is closed."""
        self._workers = [one for one in self._workers if one is not worker]
        if not self._workers:
            await self._engine.close()

    def _activity(self, name: str) -> Activity:
        async def work(info: ActivityInfo, argument: Any) -> Any:
            while True:
                try:
                    return await self._any().registered["activities"][name](info, argument)
                except NotRegisteredError:
                    if info.missed == _MOST_MISSED:
                        raise
                    info = replace(info, missed=info.missed + 1)

        return work

    def _on_event(self, *event: Any) -> None:
        self._any().registered["on_event"](*event)

    def _any(self) -> ClusterWorker:
        return self._chance.choice([one for one in self._workers if one.registered])


class ClusterWorker:
    """The engine as one worker has it; all else is that of the cluster."""

    def __init__(self, cluster: Cluster, engine: InProcessEngine) -> None:
        self._cluster = cluster
        self._engine = engine
        self.registered: dict[str, Any] = {}

    @property
    def caps(self) -> EngineCaps:
        return replace(self._engine.caps, has_many_workers=True)

    def register(self, **given: Any) -> None:
        self.registered = given

    async def start(self, **how: Any) -> None:
        await self._cluster.start(**how)

    async def close(self) -> None:
        await self._cluster.close(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
