"""Reads the log of a run: its JSON documents as typed events."""

from __future__ import annotations

from collections.abc import Mapping

from toolgen.contract.json_value import Json
from toolgen.events.document import FORMAT, from_json
from toolgen.events.records import Event

from .loop.documents import RunFacts


def event_of(run_id: str, offset: int, document: Mapping[str, Json], facts: RunFacts | None) -> Event:
    """Return a logged document as an event; an event of the engine itself gets the ids of the run.

    Raises:
        ValueError: it is of another format.
    """
    facts_of_run: dict[str, Json] = {"format": FORMAT}
    if facts is not None:
        facts_of_run |= {
            "session_id": facts["session_id"],
            "turn_id": facts["turn_id"],
            "agent_id": facts["agent"],
        }
    return from_json({**facts_of_run, **document, "seq": offset, "run_id": run_id})
