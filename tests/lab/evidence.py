"""What is left of an episode: its ledger, and what journal, logs and conversations say when all is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from toolgen.agents import Message, UnknownSessionError, agents_of
from toolgen.engines import InProcessEngine, RunState, RunStatus
from toolgen.engines.temporal import TemporalEngine

from .ledger import Entry, Ledger
from .member import World, member
from .plans import conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What is known of a run."""

    state: RunState = "completed"
    events: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    """Its log, with the offsets."""
    stop: str = ""
    """Why it came to its end, of an agent's run that completed."""
    replayed: bool = True
    """Its loop, executed again, returns what it returned; of one that did not complete nothing is known."""

    def of(self, *types: str) -> Iterator[Mapping[str, Any]]:
        """Yield its events of some types."""
        return (event for _, event in self.events if event["type"] in types)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the invariants are about."""

    ledger: tuple[Entry, ...] = ()
    runs: Mapping[str, RunRecord] = field(default_factory=dict)
    """By id."""
    conversations: Mapping[str, Mapping[str, tuple[Message, ...]]] = field(default_factory=dict)
    """By session, the messages of its turns, by run and in their order."""
    waits: tuple[str, ...] = ()
    """What still waits."""
    damage: tuple[str, ...] = ()
    """What a check of the file says is damaged."""

    def entries(self, *kinds: str) -> Iterator[Entry]:
        """Yield the lines of the ledger of some kinds."""
        return (entry for entry in self.ledger if entry.kind in kinds)

    def ends(self) -> Iterator[Mapping[str, Any]]:
        """Yield how calls ended, in all logs; a pending one ends twice."""
        for run in self.runs.values():
            yield from (event for event in run.of("tool_end") if event["status"] != "suspended")


async def gather(world: World) -> Evidence:
    """Return what is left of a world in which no process lives any more."""
    ledger = Ledger(world.ledger)
    try:
        async with member(world, ledger, is_worker=False) as runtime:
            engine = runtime.engine
            assert isinstance(engine, InProcessEngine | TemporalEngine)
            statuses = await engine.list_runs(limit=100_000)
            transcripts: dict[str, dict[str, tuple[Message, ...]]] = {}
            for one in conversations(world.seed, world.conversations, world.turns):
                with suppress(UnknownSessionError):
                    said = await agents_of(runtime).sessions.transcript(one.session)
                    transcripts[one.session] = {run.turn.run_id: run.messages for run in said}
            return Evidence(
                damage=await engine.check() if isinstance(engine, InProcessEngine) else (),
                ledger=ledger.read(),
                runs={status.run_id: await _record(engine, status) for status in statuses},
                conversations=transcripts,
                waits=tuple(f"{wait.run_id} {wait.op}" for wait in await engine.open_waits(limit=1000)),
            )
    finally:
        ledger.close()


async def _record(engine: InProcessEngine | TemporalEngine, status: RunStatus) -> RunRecord:
    events = [item async for item in engine.events(status.run_id, follow=False)]
    replayed = status.state != "completed" or await engine.replay(status.run_id) == status.output
    output: Any = status.output or {}
    return RunRecord(state=status.state, stop=output.get("stop", ""), events=tuple(events), replayed=replayed)
