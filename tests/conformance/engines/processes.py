"""Worker processes on a Temporal server, and a client of them in this process."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections import Counter
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from tests.engines.processes import PATIENCE_S, WorkLog
from tests.engines.toys import script
from toolgen.contract.json_value import Json
from toolgen.engines import Engine
from toolgen.engines.temporal import TemporalEngine, TemporalLimits

from . import worker
from .codec import XorCodec
from .versions import versioned

HEARTBEAT_S = 3.0
"""Short, so that a killed worker is missed soon; long enough for two busy cores."""

FORKS: Final = multiprocessing.get_context("forkserver")
"""Forks processes from one that has imported what they need, and that has no threads: an import of the SDK in
each took a second."""
FORKS.set_forkserver_preload([f"{__package__}.worker", f"{__package__}.clerk"])


class TemporalWorkers(WorkLog):
    """Worker processes, by name."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        super().__init__(folder)
        self.settings = {"limits": TemporalLimits(heartbeat_s=HEARTBEAT_S), **settings}
        self._processes: dict[str, BaseProcess] = {}
        self.client = self.new_client()

    def new_client(self, **how: Any) -> TemporalEngine:
        """Return a client of the runs of these workers."""
        settings = {**self.settings, **how}
        key = settings.pop("key", None)
        codec, reports = None if key is None else XorCodec(key), worker.channel(settings.pop("reports", None))
        client = TemporalEngine(**settings, worker=False, codec=codec, reports=reports)
        client.register(loops={"script": script, "versioned": versioned(1)}, activities={})
        return client

    async def start(self, *names: str, **how: Any) -> None:
        """Start workers, and return once they work."""
        ready = Counter(self.counts("ready"))
        for name in names:
            given = (name, self.log, self.folder / f"{name}.stderr", {**self.settings, **how})
            self._processes[name] = FORKS.Process(target=worker.run, args=given, daemon=True)
            self._processes[name].start()
        for name in names:
            await self.has("ready", name, ready[name] + 1)

    def pid(self, name: str) -> int:
        """Return the process id of a worker."""
        pid = self._processes[name].pid
        assert pid is not None
        return pid

    async def kill(self, name: str) -> None:
        """Kill a worker as a loss of its machine would."""
        process = self._processes.pop(name)
        process.kill()
        await asyncio.to_thread(process.join)

    async def kill_all(self) -> None:
        for name in list(self._processes):
            await self.kill(name)

    async def stop(self, name: str) -> None:
        """Tell a worker to end, and return when it has."""
        process = self._processes.pop(name)
        process.terminate()
        await asyncio.to_thread(process.join)

    async def until_awaiting(self, run_id: str) -> None:
        """Return when a run has an open wait, although some worker may not fit it."""
        async with asyncio.timeout(PATIENCE_S):
            while not (await self.client.status(run_id)).awaiting:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def close(self) -> None:
        await self.kill_all()
        await self.client.close()


async def ends(engine: Engine, run_id: str) -> list[Mapping[str, Json]]:
    """Return the events of a run that is over, whose offsets have no gaps and whose end is one."""
    found = [item async for item in engine.events(run_id, follow=False)]
    assert [offset for offset, _ in found] == list(range(1, len(found) + 1))
    events = [event for _, event in found]
    assert [event["type"] for event in events].count("run_stream_end") == 1
    assert events[-1]["type"] == "run_stream_end"
    return events
