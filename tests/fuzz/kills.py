"""Fuzz target: runs in a file whose process is killed at random moments end as they do without.

A killed process leaves what it has written, and nothing else: at some moment the file of runs is copied, with
the stores beside it, and the next process goes on with the copies. Time is virtual:
`python -m tests.fuzz.kills --seconds 60 --seed 1`
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import Context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, TypeVar, TypeVarTuple

from tests.virtual_time import VirtualTimeLoop, now
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.capabilities import MemoryStateStore
from toolgen.engines import InProcessEngine
from toolgen.stores.sqlite_file import SqliteMemory

from .loop import World, quiet
from .running import Outcome, Target, main
from .tools import Tools

T = TypeVar("T")
Args = TypeVarTuple("Args")
Store = TypeVar("Store", MemorySessionStore, MemoryStateStore)
_MOST_LIVES: Final = 4
_MOST_STEPS: Final = 3.0
"""Of a life that is cut short, as a power of ten; most whole ones have less."""


class MortalLoop(VirtualTimeLoop):
    """An event loop that calls back once, before the callback of some number is scheduled."""

    def __init__(self) -> None:
        self.steps_left = 0
        self.on_death: Callable[[], None] = lambda: None
        super().__init__()

    def call_soon(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.Handle:
        self.steps_left -= 1
        if self.steps_left == 0:
            self.on_death()
        return super().call_soon(callback, *args, context=context)


class Data:
    """What is there when a process begins: a folder with a file of runs, and the stores beside it."""

    def __init__(
        self,
        folder: Path,
        sessions: MemorySessionStore,
        states: MemoryStateStore,
        ran: Counter[str],
        lost: tuple[str, ...],
    ) -> None:
        self.folder, self.sessions, self.states, self.ran = folder, sessions, states, ran
        self.lost = lost
        folder.mkdir()

    def copy(self, folder: Path) -> Data:
        """Return what a process leaves that is killed now."""
        sessions = _copied(self.sessions, MemorySessionStore(clock=now))
        copied = Data(
            folder, sessions, _copied(self.states, MemoryStateStore()), Counter(self.ran), self.lost
        )
        for file in self.folder.iterdir():
            if file.is_file() and not file.name.endswith(self.lost):
                shutil.copy(file, folder / file.name)  # with its mode: a key is for one user alone
        return copied


class Kills:
    """The target: a world that dies some times, and then comes to its end."""

    def __init__(self, lost: tuple[str, ...] = ("-shm",)) -> None:
        """Make the target; of files whose names end so a kill leaves nothing: shared memory is one."""
        self._tools = Tools()
        self._lost = lost

    def __call__(self, chance: Random) -> Outcome:
        """Return how some runs ended, and check that all is right with them.

        Raises:
            AssertionError: it is not.
        """
        with TemporaryDirectory() as folder:
            data = Data(
                Path(folder, "0"), MemorySessionStore(clock=now), MemoryStateStore(), Counter(), self._lost
            )
            world = World(chance, self._tools, data.sessions)
            clock, deaths = 0.0, 0
            for life in range(chance.randrange(1, _MOST_LIVES)):
                steps = round(10 ** chance.uniform(0.0, _MOST_STEPS))
                left, clock = _short_life(world, data, life, steps, clock)
                deaths += left is not data
                data = left
            complaints: list[str] = []
            with quiet(complaints):
                # Of lives before; Python 3.13 warns when their connections are collected.
                warnings.filterwarnings("ignore", "unclosed database")
                outcome = _last_life(world, data, clock, complaints)
            assert not complaints, complaints
        return Outcome(kind=f"{deaths} kills", detail=outcome.detail)


def _short_life(world: World, data: Data, life: int, steps: int, clock: float) -> tuple[Data, float]:
    """Live for some steps, and return what is left then, and the time; what comes after is not looked at."""
    left = data

    async def live() -> None:
        async with world.serving(InProcessEngine(data.folder / "runs.db", clock=now)) as runtime:
            await world.end_all(runtime)
            await world.act(runtime, life)

    with quiet([]), asyncio.Runner(loop_factory=MortalLoop) as runner:
        loop = _begun(runner, clock)
        task = loop.create_task(_put(world, data, live))

        def die() -> None:
            nonlocal left, clock
            left, clock = data.copy(data.folder.with_name(str(life + 1))), loop.time()
            task.cancel()

        loop.steps_left, loop.on_death = steps, die
        loop.set_exception_handler(lambda loop, context: None)

        async def end() -> None:
            await asyncio.wait([task])

        runner.run(end())
        loop.steps_left = 0
        if left is data:
            task.result()
            clock = loop.time()
    return left, clock


def _last_life(world: World, data: Data, clock: float, complaints: list[str]) -> Outcome:
    async def live() -> Outcome:
        async with world.serving(InProcessEngine(data.folder / "runs.db", clock=now)) as runtime:
            await world.end_all(runtime)
            stop = await world.act(runtime, _MOST_LIVES)
            return Outcome(kind=stop, detail=await world.checked(runtime))

    with asyncio.Runner(loop_factory=MortalLoop) as runner:
        loop = _begun(runner, clock)
        loop.set_exception_handler(lambda _, context: complaints.append(str(context)))
        return runner.run(_put(world, data, live))


async def _put(world: World, data: Data, live: Callable[[], Awaitable[T]]) -> T:
    """Live in a world with these stores."""
    world.sessions, world.states, world.tools.ran = data.sessions, data.states, data.ran
    return await live()


def _begun(runner: asyncio.Runner, clock: float) -> MortalLoop:
    """Return the loop of a runner, whose time goes on where that of the one before ended."""
    loop = runner.get_loop()
    assert isinstance(loop, MortalLoop)
    loop.put_forward(max(0.0, clock - loop.time()))
    return loop


def _copied(store: Store, copied: Store) -> Store:
    """Return the second store with the content of the first one."""
    assert isinstance(store.database, SqliteMemory)
    assert isinstance(copied.database, SqliteMemory)
    store.database._database.backup(copied.database._database)
    return copied


def target(seed: int) -> Target:
    """Return the target; it is the same for every seed."""
    return Kills()


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.kills", target))
