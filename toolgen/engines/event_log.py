"""The event log of each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime.engine import OnEvent

from .journal import Journal, RunRecord
from .live_run import Run
from .reports import Followers

_ONCE: Final = frozenset(("run_completed", "run_stream_end"))
"""Types of the events of which a run has one; their type is their key."""

log = logger("toolgen.engines")


def log_key(key: str | None, event: Mapping[str, Json]) -> str | None:
    """Return the key of an event in the log of its run; None for one that may stand there more than once."""
    return str(event["type"]) if event.get("type") in _ONCE else key


def begun_key(op: str, number: int) -> str:
    """Return the key of an event of an activity that begins, by its number from 0."""
    return f"{op}:begun:{number}"


class EventLog:
    """Appends the events of runs to the journal, and passes them to followers."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.on_event: OnEvent | None = None
        self.followers = Followers()

    def append(self, run: Run, key: str | None, text: bytes, event: Mapping[str, Json]) -> None:
        """Append an event to the log of a run, unless the key is there or the log has ended."""
        record = run.record
        key = log_key(key, event)
        if key in record.keys or "run_stream_end" in record.keys:
            return
        offset = self._journal.add_event(record, key, text)
        if key == "run_stream_end":
            self.followers.forget(record.run_id)
        run.appended.notify_all()
        self._tell(record, offset, event)

    def report(self, run: Run, event: Mapping[str, Json]) -> None:
        """Pass an ephemeral report to followers; it is not in the log and has offset 0."""
        if "run_stream_end" in run.record.keys:
            return
        self.followers.publish(run.record.run_id, len(run.record.events), event)
        run.appended.notify_all()
        self._tell(run.record, 0, event)

    def _tell(self, record: RunRecord, offset: int, event: Mapping[str, Json]) -> None:
        if self.on_event is not None:
            try:
                self.on_event(record.run_id, record.loop, offset, event)
            except KeyboardInterrupt:
                raise
            except BaseException:
                log.exception("run %s: an event listener failed", record.run_id)

    def has(self, run: Run, key: str, event: Mapping[str, Json]) -> bool:
        """Return whether the log of a run holds the event that has this key."""
        return log_key(key, event) in run.record.keys
