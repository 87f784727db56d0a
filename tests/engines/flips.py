"""A journal with one flipped bit, by a seed: what an engine makes of it, at each of its doors."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Awaitable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

from toolgen.contract.errors import ToolgenError
from toolgen.engines import InProcessEngine, answer_name

from .toys import Toys, call, play

T = TypeVar("T")

RUNS: Final = 8
_HEADER: Final = 100
"""Bytes of the header of a database (sqlite.org/fileformat2.html); a tenth of the flips are in it."""
_PATIENCE_S: Final = 8.0
"""After which a door counts as hanging."""
_BEGIN: Final[dict[str, Any]] = {"calls": [call("a", emit=2, result={"text": "ü" * 40, "numbers": [1, 2.5]})]}
_STEPS: Final[tuple[tuple[dict[str, Any], ...], ...]] = (
    (),
    (
        {"wait": [answer_name("wait:1")], "about": {"question": "Really?", "places": ["é", 1]}},
        {"calls": [call("b")]},
    ),
    ({"child": [{"wait": [answer_name("wait:0")], "about": {"question": "Below?"}}]},),
    ({"calls": [call("b", gate="never")]},),
)
"""What runs do after their begin: end, wait, wait for a child that waits, or go on until they are cut off."""


async def write_journal(path: Path) -> bytes:
    """Write runs that are over, that wait and that were cut off, and return the file."""
    toys = Toys()
    engine = _engine(path, toys)
    await engine.start()
    for number in range(RUNS):
        await play(engine, [_BEGIN, *_STEPS[number % 4]], run_id=f"run_{number}")
    for number in range(RUNS):
        if number % 4 != 3:
            await engine.settled(f"run_{number}")
    await toys.has("start", "b", RUNS // 4)
    await engine.close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()  # noqa: ASYNC240  # of a test


async def flip(folder: Path, journal: bytes, seed: int) -> Counter[str]:
    """Flip a bit of the journal, use the file, and return how often each end was seen.

    Raises:
        Exception: a door raised what is no `ToolgenError`, or hung; both are defects.
    """
    chance = Random(seed)
    used = [place for place, byte in enumerate(journal) if byte]
    place = chance.randrange(_HEADER) if seed % 10 == 0 else chance.choice(used)
    data = bytearray(journal)
    data[place] ^= 1 << chance.randrange(8)
    path = _put(folder, bytes(data))
    ends: Counter[str] = Counter()
    toys = Toys()
    toys.open("never")
    try:
        engine = _engine(path, toys)
    except ToolgenError as error:
        return Counter([type(error).__name__])
    try:
        if await _door(engine.start(), ends) is not _RAISED:
            await _use_all(engine, ends)
        await asyncio.wait_for(engine.close(), _PATIENCE_S)
    except TimeoutError:
        if _is_whole(path):
            raise
        ends["hung"] += 1  # an index of the file contradicts its table, which a check of the file says
    return ends


def _put(folder: Path, data: bytes) -> Path:
    folder.mkdir()
    path = folder / "runs.db"
    path.write_bytes(data)
    return path


async def _use_all(engine: InProcessEngine, ends: Counter[str]) -> None:
    await _door(engine.list_runs(), ends)
    await _door(engine.open_waits(), ends)
    for number in range(RUNS):
        await _use(engine, f"run_{number}", ends)
    await _door(engine.list_runs(), ends)


def _is_whole(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as database:
        return bool(database.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))


_RAISED: Final = object()


async def _use(engine: InProcessEngine, run_id: str, ends: Counter[str]) -> None:
    await _door(engine.settled(run_id), ends)
    await _door(_events(engine, run_id), ends)
    for op in ("wait:1", "wait:0"):
        run = run_id if op == "wait:1" else f"{run_id}/child:1"
        await _door(engine.wait_status(run, op), ends)
        await _door(engine.answer(run, op, {"is": "yes"}, key="jo"), ends)
    status: Any = await _door(engine.settled(run_id), ends)
    if status is not _RAISED:
        ends[status.state] += 1
        if status.state == "completed":
            await _door(engine.replay(run_id), ends)


async def _events(engine: InProcessEngine, run_id: str) -> None:
    async for _ in engine.events(run_id, follow=False):
        pass


async def _door(work: Awaitable[T], ends: Counter[str]) -> T | object:
    """Return what comes out of a door; an error of toolgen is counted."""
    try:
        return await asyncio.wait_for(work, _PATIENCE_S)
    except ToolgenError as error:
        ends[type(error).__name__] += 1
        return _RAISED


def _engine(path: Path, toys: Toys) -> InProcessEngine:
    engine = InProcessEngine(path)
    engine.register(loops=toys.loops(), activities=toys.activities())
    return engine
