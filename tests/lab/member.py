"""One process of an episode: a worker, a client, or both; it can be told at which step it dies."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from toolgen.adapters.postgres import Postgres, PostgresSessionStore
from toolgen.agents import Agents, SessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.engines.temporal import TemporalEngine, TemporalLimits
from toolgen.runtime import Runtime

from .agents import registrations
from .client import Client
from .ledger import Ledger
from .mortality import Death, MortalLoop, Steps
from .plans import conversations

Role: TypeAlias = Literal["worker", "client", "both"]
_SECRET: Final = b"the same in every process: 32 b."
_HEARTBEAT_S: Final = 3.0
"""After so many seconds without a heartbeat a worker counts as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Where an episode happens, and what happens in it."""

    folder: Path
    seed: int
    conversations: int = 8
    turns: int = 3
    temporal: str = ""
    """Address of the server; "" for files in the folder."""
    postgres: str = ""
    """Connection string of the sessions beside it."""
    is_apart: bool = False
    """The sessions are in a file of their own."""

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger"


@asynccontextmanager
async def member(world: World, ledger: Ledger, *, is_worker: bool) -> AsyncIterator[Runtime]:
    """Give the runtime of one process, with both agents."""
    async with AsyncExitStack() as stack:
        engine: TemporalEngine | InProcessEngine
        sessions: SessionStore | None = None  # in the file of the runs
        if world.temporal:
            name = world.folder.name
            limits = TemporalLimits(heartbeat_s=_HEARTBEAT_S)
            engine = TemporalEngine(
                world.temporal, queue=name, prefix=f"{name}:", worker=is_worker, limits=limits
            )
            sessions = PostgresSessionStore(await stack.enter_async_context(Postgres(world.postgres)))
        else:
            engine = InProcessEngine(world.folder / "runs.db", worker=is_worker)
            if world.is_apart:
                sessions = stack.enter_context(closing(SqliteSessionStore(world.folder / "sessions.db")))
        runtime = Runtime(engine=engine, secret=_SECRET)
        agents = Agents(runtime, sessions=sessions)
        for one in registrations(ledger):
            agents.register(one)
        yield await stack.enter_async_context(runtime)


def run(world: World, role: Role, name: str, ready: Path, death: Death | None) -> None:
    """Be that process; as a client until all conversations are over, as a worker until it is killed.

    Args:
        world: Where it is.
        role: What it does.
        name: Of the file that gets its complaints.
        ready: A file that it makes when it works.
        death: When it dies, unless it is killed before.
    """
    complaints = os.open(world.folder / f"{name}.stderr", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    os.dup2(complaints, 1)
    os.dup2(complaints, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it
    steps = Steps(death)
    ledger = Ledger(world.ledger, steps.written)
    with asyncio.Runner(loop_factory=lambda: MortalLoop(steps)) as runner:
        runner.run(_live(world, role, ledger, ready))
    os._exit(0)  # the SDK of Temporal may abort while the interpreter ends (temporalio/sdk-python#300)


async def _live(world: World, role: Role, ledger: Ledger, ready: Path) -> None:
    async with member(world, ledger, is_worker=role != "client") as runtime:
        ready.touch()  # noqa: ASYNC240  # an empty file
        ledger.write("ready")
        if role == "worker":
            await asyncio.Event().wait()
        client = Client(runtime, ledger, world.seed)
        await client.lead(conversations(world.seed, world.conversations, world.turns))
        ledger.write("done")
