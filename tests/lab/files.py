"""Files that are lost, or are older ones, between two lives of a process: what tools have done stays done.

What people were told since the older copy is forgotten with it, and so it is taken from the ledger. No call
that may not run twice begins again, and none that has begun is told as failed or denied.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final, Literal, TypeAlias

from toolgen.agents import agents_of
from toolgen.engines import InProcessEngine
from toolgen.engines.in_process.witness import run_digest

from .episode import Processes, Told, told
from .ledger import Ledger
from .member import World, member

Loss: TypeAlias = Literal[
    "an older journal",
    "an older journal without its log",
    "no journal",
    "no witness",
    "no sessions",
    "older sessions",
    "an older journal beside newer sessions",
    "no journal beside newer sessions",
]
LOSSES: Final[tuple[Loss, ...]] = Loss.__args__  # type: ignore[attr-defined]  # of a Literal
_JOURNAL: Final = ("runs.db", "runs.db-wal")
_SESSIONS: Final = ("sessions.db", "sessions.db-wal")
_KEPT: Final = ("begin", "end", "failed", "shown", "answering")
"""Lines of the ledger that say what was done, and not what somebody was told of it. The end of a session is
done where its file is not lost."""
_LIFE_S: Final = 0.6
"""The longest life of a process before the copy, and after it."""


def is_apart(loss: Loss) -> bool:
    """Return whether the sessions are in a file of their own."""
    return "sessions" in loss


def lose_files(world: World, loss: Loss, chance: Random) -> Told:
    """Kill a process and copy its files, kill the next one, lose files, and let all come to its end."""
    processes = Processes(world, {"both": "both"})
    copy = world.folder / "copy"
    try:
        kills = _live(processes, chance)
        copy.mkdir()
        if loss == "an older journal without its log":
            _checkpoint(world.folder / "runs.db")
        for name in (*_JOURNAL, *_SESSIONS):
            _copy(world.folder / name, copy / name)
        processes.start_missing()
        kills += _live(processes, chance)
        _lose(world.folder, loss, copy)
        _forget(world, loss)
        if loss.startswith("no journal"):
            asyncio.run(_restore(world))
        return told(world, processes, "both", kills)
    finally:
        processes.kill_all()


def _live(processes: Processes, chance: Random) -> int:
    """Let the process live for some time, and kill it; return whether it lived then."""
    processes.start_missing()
    processes.wait("both", chance.uniform(0.05, _LIFE_S))
    return processes.kill("both")


def _checkpoint(database: Path) -> None:
    """Write into the file itself what is in its log, so that it is a journal without it."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _lose(folder: Path, loss: Loss, copy: Path) -> None:
    match loss:
        case "an older journal" | "an older journal beside newer sessions":
            _replace(folder, _JOURNAL, copy)
        case "an older journal without its log":
            (copy / "runs.db-wal").unlink(missing_ok=True)
            _replace(folder, _JOURNAL, copy)
        case "no journal" | "no journal beside newer sessions":
            _replace(folder, _JOURNAL, None)
        case "no witness":
            (folder / "runs.db.witness").unlink(missing_ok=True)
        case "no sessions":
            _replace(folder, _SESSIONS, None)
        case "older sessions":
            _replace(folder, _SESSIONS, copy)


def _replace(folder: Path, names: Iterable[str], copy: Path | None) -> None:
    """Remove a database, and put its copy there, if there is one."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
        (folder / name.replace("-wal", "-shm")).unlink(missing_ok=True)
    if copy is not None:
        for name in names:
            _copy(copy / name, folder / name)


def _copy(file: Path, to: Path) -> None:
    if file.exists():
        shutil.copy(file, to)


def _forget(world: World, loss: Loss) -> None:
    """Take from the ledger what people were told, mark what was done, and add which calls had begun."""
    ledger = world.ledger
    begun = _begun(world.folder / "runs.db.witness", ledger) if "journal" in loss else ()
    kinds = (*_KEPT, "ended") if loss.endswith("beside newer sessions") else _KEPT
    lines = [*_kept(ledger, kinds), *begun]
    ledger.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _kept(ledger: Path, kinds: Collection[str]) -> Iterator[dict[str, Any]]:
    for text in ledger.read_text("utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if line["kind"] in kinds:
            line["facts"]["is_before"] = True
            yield line


def _begun(witness: Path, ledger: Path) -> Iterator[dict[str, Any]]:
    """Yield a line for each call that had begun by the witness of a journal that is lost.

    A process may be killed after its witness has that, and before the call writes its own line.
    """
    runs = {run_digest(entry.run): entry.run for entry in Ledger(ledger).read()}
    for text in witness.read_text("utf-8").splitlines() if witness.exists() else ():
        number, facts, *_ = json.loads(text)
        for kind, run, op, *_ in facts if isinstance(number, int) else ():
            if kind == "begun" and run in runs:
                yield {"kind": "begun", "run": runs[run], "call": op.partition(":")[2].partition(":")[0]}


async def _restore(world: World) -> None:
    """Do what an operator does whose journal is lost: accept that, and release the sessions of its runs."""
    ledger = Ledger(world.ledger)
    try:
        async with member(world, ledger, is_worker=False) as runtime:
            engine = runtime.engine
            assert isinstance(engine, InProcessEngine)
            lost = await engine.restore()
            if lost is not None:
                await agents_of(runtime).release(lost_engine=lost.engine_id)
    finally:
        ledger.close()
