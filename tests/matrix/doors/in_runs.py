"""Calls that runs of agents make: of a turn, below it, after a hand-over, and work that goes on after it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from toolgen.agents import RunHandle, agents_of
from toolgen.contract.json_value import Json

from ..world import FACTS, World
from .door import Opening, Seen
from .host import Host, host_of


class InRun:
    """A call of a run; `agent` makes it, and `started` is the one whose client starts the turn."""

    def __init__(self, host: Host, started: str, agent: str) -> None:
        self._host = host
        self._started = started
        self._run_id = ""
        self.agent = agent
        self.process = host.process
        self.restart = host.restart

    async def call(self) -> Seen:
        handle = (
            await agents_of(self._host.runtime)
            .client(self._started)
            .start("Go.", session_id="s", labels=FACTS.labels, requested_by=FACTS.requested_by)
        )
        self._run_id = handle.run_id
        return await self._settled()

    async def answer(self, answer: Json) -> Seen:
        handle = self._handle()
        (asked,) = (await handle.output()).awaiting
        await handle.answer(asked, answer, by="bob")
        return await self._settled()

    def _handle(self) -> RunHandle:
        """Return the handle of the run in the process of now."""
        return agents_of(self._host.runtime).client(self._started).handle(self._run_id, session_id="s")

    async def _settled(self) -> Seen:
        output = await self._handle().settled()
        if output.awaiting:
            (asked,) = output.awaiting
            return Seen(status="suspended", question=asked.question)
        (heard,) = self._host.world.heard
        return Seen(status=heard.status, text=heard.text)


@asynccontextmanager
async def _in_run(world: World, started: str, agent: str) -> AsyncIterator[InRun]:
    async with host_of(world) as host:
        yield InRun(host, started, agent)


run: Opening = partial(_in_run, started="m.top", agent="m.top")
child_run: Opening = partial(_in_run, started="m.outer", agent="m.mid")
detached: Opening = run
"""All tools of such a world acknowledge their work, which goes on after the run."""
hand_over: Opening = partial(_in_run, started="m.first", agent="m.top")
