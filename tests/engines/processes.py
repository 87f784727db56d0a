"""Worker processes: started, killed, and what they did."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from toolgen.engines import InProcessEngine

from .toys import script

PATIENCE_S = 30.0


class WorkLog:
    """What worker processes write into a file, and the gates beside it at which their tools wait."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"

    def open(self, gate: str) -> None:
        (self.folder / gate).touch()

    def counts(self, what: str) -> Counter[str]:
        """Return how often something happened, by the id of the call."""
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        lines = [line.split() for line in text.splitlines()]
        return Counter(id_ for happened, id_, _ in lines if happened == what)

    def attempts(self, id_: str) -> list[int]:
        """Return the attempts of a call, in the order of their starts."""
        lines = [line.split() for line in self.log.read_text("utf-8").splitlines()]
        return [int(attempt) for what, name, attempt in lines if (what, name) == ("start", id_)]

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Return when something holds that another process brings about."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_so():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def has(self, what: str, id_: str, times: int = 1) -> None:
        await self.until(lambda: self.counts(what)[id_] >= times)


class Workers(WorkLog):
    """One worker process of a journal file at a time, and a client of it in this process."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "runs.db"
        self._process: asyncio.subprocess.Process | None = None
        self.client = InProcessEngine(self.path, worker=False)
        self.client.register(loops={"script": script}, activities={})

    async def start(self) -> None:
        """Start a worker, and return once it works."""
        ready = self.counts("ready")["-"]
        root = Path(__file__).parents[2]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.engines.worker", str(self.path), str(self.log), cwd=root
        )
        await self.until(lambda: self.counts("ready")["-"] > ready)

    async def kill(self) -> None:
        """Kill the worker as a loss of its machine would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()
            self._process = None
