"""Losses of power: a conversation is led, and the newest frames of the file's write-ahead log are cut off.

SQLite begins a frame after the other, and a loss of power leaves some first ones of them: those that were
synced, and maybe more. What is left has to say the same of a run and of its conversation, and the run has to
come to its end with it. Every other time the witness is left too; then no call that may not run twice does.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolgen.agents import AgentClient, Agents, RunOutput, SessionStore
from toolgen.calls.documents.results import result_text
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime
from toolgen.stores.sqlite_connection import Synchronous

from .agents import TOP, registrations, rounds_of, unpaired
from .ledger import Ledger
from .plans import Round
from .tools import DELEGATE, REPEATABLE

SESSION: Final = "s"
BELOW: Final[list[Round]] = [[("put", {"name": "below", "ms": 0})]]
TURNS: Final[dict[str, list[Round]]] = {
    "r1": [
        [("look_up", {"name": "a", "ms": 0}), ("pay", {"name": "b", "ms": 0})],
        [("wipe", {"name": "c", "ms": 0})],
    ],
    "r2": [
        [("put", {"name": "d", "ms": 0}), (DELEGATE, {"rounds": json.dumps(BELOW)})],
        [("ask", {"name": "e", "ms": 0})],
    ],
}
"""By run, the rounds of its calls."""
_SECRET: Final = b"the same in every process: 32 b."
_HEADER: Final = 32
_FRAME_HEADER: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The files of a process, as they were at a moment."""

    database: bytes
    log: bytes
    """The write-ahead log."""
    witness: bytes
    ledger: bytes
    """What tools have done, which no loss of power undoes."""

    def frames(self) -> list[tuple[int, bool]]:
        """Return where each frame of the log ends, and whether it is the last one of a commit."""
        size = _FRAME_HEADER + struct.unpack_from(">I", self.log, 8)[0]
        starts = range(_HEADER, len(self.log) - size + 1, size)
        return [(start + size, struct.unpack_from(">I", self.log, start + 4)[0] > 0) for start in starts]

    def cut(self, end: int, folder: Path, *, has_witness: bool = False) -> Path:
        """Write the files with as much of the log, and the witness or none; return the database's path."""
        path = folder / "runs.db"
        path.write_bytes(self.database)
        path.with_name("runs.db-wal").write_bytes(self.log[:end])
        if has_witness:
            witness = path.with_name("runs.db.witness")
            witness.write_bytes(self.witness)
            witness.chmod(0o600)
            (folder / "ledger").write_bytes(self.ledger)
        return path


@asynccontextmanager
async def client_of(
    folder: Path, synchronous: Synchronous, sessions: SessionStore | None = None
) -> AsyncIterator[tuple[Agents, AgentClient, Ledger]]:
    """Give the agents of the laboratory on the file of a folder."""
    ledger = Ledger(folder / "ledger")
    runtime = Runtime(engine=InProcessEngine(folder / "runs.db", synchronous=synchronous), secret=_SECRET)
    agents = Agents(runtime, sessions=sessions)
    for one in registrations(ledger):
        agents.register(one)
    try:
        async with runtime:
            yield agents, agents.client(TOP), ledger
    finally:
        ledger.close()


async def lead(client: AgentClient, run_id: str) -> RunOutput:
    """Lead a turn to its end, from wherever it is."""
    message = json.dumps({"rounds": TURNS[run_id]})
    handle = await client.start(message, session_id=SESSION, run_id=run_id)
    while (output := await handle.settled()).status == "waiting":
        for asked in output.awaiting:
            yes: Json = {"approved": True} if asked.kind == "confirmation" else "jo"
            await handle.answer(asked, yes)
    return output


async def tape(folder: Path, synchronous: Synchronous, sessions: SessionStore | None = None) -> Left:
    """Lead all turns, and return what a loss of power would find of the file."""
    async with client_of(folder, synchronous, sessions) as (_, client, _):
        for run_id in TURNS:
            assert (await lead(client, run_id)).status == "completed"
        path = folder / "runs.db"
        return Left(
            database=path.read_bytes(),
            log=path.with_name("runs.db-wal").read_bytes(),
            witness=path.with_name("runs.db.witness").read_bytes(),
            ledger=(folder / "ledger").read_bytes(),
        )


def disagreements(path: Path) -> Iterator[str]:
    """Yield what runs have done that their conversations do not have, and the other way round."""
    with closing(sqlite3.connect(path)) as database:
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'turn'").fetchone() is None:
            return
        done = set(_of_operations(database))
        said = set(_of_conversations(database))
    yield from (f"only the run has {run} {what}" for run, what in sorted(done - said))
    yield from (f"only the conversation has {run} {what}" for run, what in sorted(said - done))


def _of_operations(database: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield the plans and results that the ended operations of runs with a turn have made, by run."""
    query = (
        "SELECT run_id, op, value FROM op JOIN run ON run.no = op.id >> 20 WHERE run_id IN"
        " (SELECT run_id FROM turn) AND what IN ('plan', 'tool', 'answer', 'conclude') AND kind = ''"
    )
    for run_id, op, value in database.execute(query):
        document = json.loads(value)
        if op.startswith("plan:"):
            calls = [call["id"] for call in document.get("calls", ())]
            yield run_id, f"step {op.removeprefix('plan:')}: calls {calls}"
        elif document["status"] != "suspended":
            yield run_id, f"result {document['tool_call_id']}: {result_text(document)}"


def _of_conversations(database: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield the plans and results that the conversations have, by run."""
    turns = "WHERE run_id IN (SELECT run_id FROM turn)"
    for run_id, step, text in database.execute(f"SELECT run_id, step, messages FROM message {turns}"):
        newest = json.loads(text)[-1]
        if newest["type"] == "assistant":
            yield run_id, f"step {(step - 1) // 2}: calls {[call['id'] for call in newest['calls']]}"
    for run_id, text in database.execute(f"SELECT run_id, messages FROM answer {turns}"):
        (answer,) = json.loads(text)[0]["answers"]
        yield run_id, f"result {answer['id']}: {answer['text']}"


async def finish(folder: Path, synchronous: Synchronous) -> list[str]:
    """Lead the turns of what is left to their ends, and return what is wrong then."""
    found: list[str] = []
    async with client_of(folder, synchronous) as (agents, client, ledger):
        for run_id in TURNS:
            output = await lead(client, run_id)
            if output.status != "completed":
                found.append(f"{run_id} ends {output.status}: {output.error}")
        for entry in ledger.read():
            found += (f"{entry.run} is shown: {what}" for what in entry.facts.get("unpaired", ()))
        begun = Counter(
            (entry.run, entry.call)
            for entry in ledger.read()
            if entry.kind == "begin" and entry.tool not in REPEATABLE
        )
        found += (f"{run} {call} began {times} times" for (run, call), times in begun.items() if times > 1)
        said = await agents.sessions.transcript(SESSION)
        for run in said:
            found += (f"the transcript of {run.turn.run_id}: {what}" for what in unpaired(run.messages))
            if rounds_of(run.messages)[1] != len(TURNS[run.turn.run_id]):
                found.append(f"the transcript of {run.turn.run_id} lacks rounds")
    return found


async def lose(left: Left, end: int, synchronous: Synchronous, *, has_witness: bool) -> list[str]:
    """Return what is wrong after a loss of power that leaves so much of the log, and the witness or none."""
    with tempfile.TemporaryDirectory(prefix="lab-") as name:
        path = left.cut(end, Path(name), has_witness=has_witness)
        return [*disagreements(path), *await finish(Path(name), synchronous)]


async def losses(synchronous: Synchronous, every: int) -> tuple[int, list[str]]:
    """Cut the log of a conversation at its begin, and at every so many commits and in the middle of the next.

    Return how often it was cut, and what is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="lab-") as name:
        left = await tape(Path(name), synchronous)
    frames = left.frames()
    commits = [place for place, (_, is_last) in enumerate(frames) if is_last]
    ends = [frames[place][0] for place in commits[::every]]
    torn = [frames[place - 1][0] for place in commits[1::every] if not frames[place - 1][1]]
    cuts = sorted({0, *ends, *torn})
    found: list[str] = []
    for place, end in enumerate(cuts):
        wrong = await lose(left, end, synchronous, has_witness=place % 2 == 0)
        found += [f"{synchronous}, cut after {end} bytes: {what}" for what in wrong]
    return len(cuts), found
