"""Reads the log of a run: its JSON documents as typed events."""

from __future__ import annotations

from collections.abc import Mapping

from toolgen.contract.json_value import Json
from toolgen.runtime.events.document import FORMAT, from_json
from toolgen.runtime.events.records import Event

from .loop.documents import RunFacts


def event_of(run_id: str, offset: int, document: Mapping[str, Json], facts: RunFacts | None) -> Event:
    """Return a logged document as an event; an event of the engine itself gets the ids of the run.

    Raises:
        ValueError: it is of another format.
    """
    known: dict[str, Json] = {"format": FORMAT}
    if facts is not None:
        known |= {
            "session_id": facts["session_id"],
            "turn_id": facts["turn_id"],
            "agent_id": facts["agent"],
        }
    return from_json({**known, **document, "seq": offset, "run_id": run_id})
