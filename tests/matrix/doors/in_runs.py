"""Calls that runs of agents make: of a turn, below it, after a hand-over, and work that goes on after it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from toolgen.agents import RunHandle, RunOutput, agents_of
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime

from ..world import FACTS, World
from .door import Opening, Seen


class InRun:
    """A call of a run; `agent` makes it, and `started` is the one whose client starts the turn."""

    def __init__(self, world: World, runtime: Runtime, started: str, agent: str) -> None:
        self._world = world
        self._runtime = runtime
        self._started = started
        self._handle: RunHandle | None = None
        self.agent = agent

    async def call(self) -> Seen:
        client = agents_of(self._runtime).client(self._started)
        self._handle = await client.start(
            "Go.",
            session_id=FACTS.session_id,
            labels=FACTS.labels,
            requested_by=FACTS.requested_by,
        )
        return await self._settled()

    async def answer(self, answer: Json) -> Seen:
        assert self._handle is not None, "it is called first"
        (asked,) = (await self._handle.output()).awaiting
        await self._handle.answer(asked, answer, by="bob")
        return await self._settled()

    async def _settled(self) -> Seen:
        assert self._handle is not None, "it is called first"
        output: RunOutput = await self._handle.settled()
        if output.awaiting:
            (asked,) = output.awaiting
            return Seen(status="suspended", question=asked.question)
        (heard,) = self._world.heard
        return Seen(status=heard.status, text=heard.text)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime


@asynccontextmanager
async def _in_run(world: World, started: str, agent: str) -> AsyncIterator[InRun]:
    async with world.runtime() as runtime:
        yield InRun(world, runtime, started, agent)


run: Opening = partial(_in_run, started="m.top", agent="m.top")
child_run: Opening = partial(_in_run, started="m.outer", agent="m.mid")
detached: Opening = run
"""All tools of such a world acknowledge their work, which goes on after the run."""
hand_over: Opening = partial(_in_run, started="m.first", agent="m.top")
