"""Log of a run on Temporal: its pieces are the arguments of consecutive activities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import islice
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy

from toolgen.contract.json_value import Json

from ..errors import EngineError
from ..in_process.journal import encode, log_key
from .documents import LOG, Entry, LogPiece, RunStart, log_summary

_MOST_BYTES: Final = 512 * 1024
"""Maximum size of the JSON of a piece in bytes, unless a single entry is larger."""
_MOST_CARRIED: Final = 64_000
"""Maximum size of the JSON of a piece that another activity carries, in bytes."""
_LONGEST_TEXT: Final = 1_000
_MOST_VALUES: Final = 100
"""Maximum number of values in a shortened event, and of characters in one value."""
_TIME: Final = timedelta(seconds=10)
"""Timeout of the activity that notifies listeners of a piece, which blocks nothing else; it reveals a killed
worker."""
_RETRY: Final = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))


class LogWriter:
    """Appends entries to the log, in the order of the history.

    Listeners receive a piece when its activity begins. A piece with its own activity waits for the previous
    one. A piece that another activity carries does not wait, so with busy workers, listeners can receive it
    after later pieces.
    """

    def __init__(self, start: RunStart, largest: int) -> None:
        """Construct the writer of a run; an event with more than `largest` bytes of JSON is shortened."""
        self._start = start
        self._largest = largest
        self._waiting: list[tuple[Entry, int]] = []
        self._carried: list[tuple[Entry, int]] = []
        self._carried_at = -1
        """Length of the history when the activities were started that carry the entries in `_carried`."""
        self._is_sending = False
        self._pieces = 0
        self._sent = 0
        self.failure: Exception | None = None
        """Reason why the writer stopped; the run cannot continue then."""
        self.keys: set[str] = set()
        self.events: list[Mapping[str, Json]] = []

    def publish(self, key: str | None, event: Mapping[str, Json]) -> None:
        """Append an event, unless the log has its key or has ended."""
        key = log_key(key, event)
        if key in self.keys or "run_stream_end" in self.keys:
            return
        if key is not None:
            self.keys.add(key)
        text, copy = encode(dict(event), f"the event {key}")
        if len(text) > self._largest or _is_too_deep(copy):
            copy = _without_large_values(copy)
        self.events.append(copy)
        self.add(Entry(event=copy), len(text))

    def add(self, entry: Entry, size: int) -> None:
        """Append an entry of this many bytes."""
        self._waiting.append((entry, size))

    def piece_to_carry(self, takes: Callable[[int], bool]) -> list[LogPiece]:
        """Return the piece for an activity that starts now: all pending entries, or nothing.

        While another piece is being sent, pending entries get an activity of their own. `takes` returns
        whether this many bytes fit into the message with its other content.
        """
        size = sum(size for _, size in self._waiting)
        if self._is_sending or not self._waiting:
            return []
        if size > _MOST_CARRIED or not takes(size):
            return []
        if self._carried_at != (now := workflow.info().get_current_history_length()):
            self._carried, self._carried_at = [], now
        self._carried += self._waiting
        return [self._take_piece()]

    def requeue_carried(self) -> None:
        """Put back, before all pending entries, the pieces of activities that this workflow task has started.

        Those activities are canceled now, and the server never receives them.
        """
        if self._carried_at == workflow.info().get_current_history_length():
            self._waiting = self._carried + self._waiting
            self._sent -= sum("event" in entry for entry, _ in self._carried)
            self._carried = []

    async def flush(self) -> None:
        """Return when all entries were sent and acknowledged, or when the writer has failed."""
        await workflow.wait_condition(
            lambda: self.failure is not None or (not self._waiting and not self._is_sending)
        )

    async def run(self) -> None:
        """Send pending entries until this is canceled, or until a bug in toolgen makes it fail."""
        try:
            await self._send()
        except Exception as error:  # noqa: BLE001 - `failure` stores it, and ends the tasks that wait for it
            self.failure = error

    async def _send(self) -> None:
        """Send pending entries forever; the entries of one workflow task go together."""
        while True:
            await workflow.wait_condition(lambda: bool(self._waiting))
            self._is_sending = True
            piece = self._take_piece()
            self._pieces += 1
            await workflow.execute_activity(
                LOG,
                piece,
                activity_id=f"log:{self._pieces}",
                start_to_close_timeout=_TIME,
                retry_policy=_RETRY,
                cancellation_type=workflow.ActivityCancellationType.ABANDON,
                summary=log_summary(piece["entries"]),
            )
            self._is_sending = False

    def _take_piece(self) -> LogPiece:
        entries, after = self._next_piece(), self._sent
        self._sent += sum("event" in entry for entry in entries)
        return {
            "run_id": self._start["run_id"],
            "loop": self._start["loop"],
            "session": self._start["session"],
            "after": after,
            "entries": entries,
        }

    def _next_piece(self) -> list[Entry]:
        total, count = 0, 0
        for _, size in self._waiting:
            total += size
            if count and total > _MOST_BYTES:
                break
            count += 1
        piece, self._waiting = self._waiting[:count], self._waiting[count:]
        return [entry for entry, _ in piece]


def require_shallow(value: Json, what: str) -> None:
    """Raise if a value is nested too deeply for a log entry, because the server would not accept it.

    Raises:
        EngineError: it is too deep; the message names `what`.
    """
    encode({"entries": [{"value": value}]}, what)


def _is_too_deep(value: Json) -> bool:
    try:
        require_shallow(value, "an event")
    except EngineError:
        return True
    return False


def _without_large_values(event: Mapping[str, Json]) -> dict[str, Json]:
    """Return the type and the first small values of an event that is too large for the log, with `is_cut`."""
    ordered = {"type": event["type"], **event} if "type" in event else event
    small = ((name, value) for name, value in ordered.items() if _is_small(name) and _is_small(value))
    # checks only the first of possibly 90,000 values
    return {**dict(islice(small, _MOST_VALUES)), "is_cut": True}


def _is_small(value: Json) -> bool:
    return not isinstance(value, dict | list) and (not isinstance(value, str) or len(value) <= _LONGEST_TEXT)
