"""The log of a run on Temporal: its parts are the arguments of consecutive activities."""

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
"""The most bytes of JSON in one piece, unless one entry alone has more."""
_MOST_BROUGHT: Final = 64_000
"""The most bytes of JSON in a piece that an activity brings."""
_LONGEST_TEXT: Final = 1_000
_MOST_VALUES: Final = 100
"""The most values, and characters of one, of an event that is cut."""
_TIME: Final = timedelta(seconds=10)
"""The time for notifying listeners of a piece, which blocks nobody; after it, a killed worker is missed."""
_RETRY: Final = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))


class LogWriter:
    """Appends entries to the log, in the order of the history.

    Listeners hear a piece when its activity begins. One that goes by itself waits for the one before; what
    another activity brings does not, so where workers are busy it may be heard after what comes later.
    """

    def __init__(self, start: RunStart, largest: int) -> None:
        """Construct the writer of a run; an event of more than `largest` bytes of JSON is cut."""
        self._start = start
        self._largest = largest
        self._waiting: list[tuple[Entry, int]] = []
        self._brought: list[tuple[Entry, int]] = []
        self._brought_at = -1
        """Length of the history at which activities were started that bring log entries."""
        self._is_sending = False
        self._pieces = 0
        self._sent = 0
        self.failure: Exception | None = None
        """Reason why nothing more is sent; the run cannot continue then."""
        self.keys: set[str] = set()
        self.events: list[Mapping[str, Json]] = []

    def publish(self, key: str | None, event: Mapping[str, Json]) -> None:
        """Append an event, unless its key is there or the log has ended."""
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
        """Append an entry of so many bytes."""
        self._waiting.append((entry, size))

    def brought(self, takes: Callable[[int], bool]) -> list[LogPiece]:
        """Return what an activity that starts now brings: all that is appended, or nothing.

        What comes while a piece is on its way goes by itself. `takes` says whether so many bytes fit beside
        what else is sent.
        """
        size = sum(size for _, size in self._waiting)
        if self._is_sending or not self._waiting:
            return []
        if size > _MOST_BROUGHT or not takes(size):
            return []
        if self._brought_at != (now := workflow.info().get_current_history_length()):
            self._brought, self._brought_at = [], now
        self._brought += self._waiting
        return [self._take_piece()]

    def take_back(self) -> None:
        """Append again, before all else, what activities bring that this workflow task has started.

        They are canceled now, and the server is told nothing of them.
        """
        if self._brought_at == workflow.info().get_current_history_length():
            self._waiting = self._brought + self._waiting
            self._sent -= sum("event" in entry for entry, _ in self._brought)
            self._brought = []

    async def flush(self) -> None:
        """Return when all entries have been told, or when the writer has failed."""
        await workflow.wait_condition(
            lambda: self.failure is not None or (not self._waiting and not self._is_sending)
        )

    async def run(self) -> None:
        """Send what is appended, until it is canceled or fails, which only a mistake of ours makes it do."""
        try:
            await self._send()
        except Exception as error:  # noqa: BLE001 - `failure` holds it, and ends whoever waits for it
            self.failure = error

    async def _send(self) -> None:
        """Send what is appended for ever; what comes in one workflow task goes together."""
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
    """Raise for a value that is nested too deeply for an entry of a piece, which the server would not get.

    Raises:
        EngineError: it is; the message names `what`.
    """
    encode({"entries": [{"value": value}]}, what)


def _is_too_deep(value: Json) -> bool:
    try:
        require_shallow(value, "an event")
    except EngineError:
        return True
    return False


def _without_large_values(event: Mapping[str, Json]) -> dict[str, Json]:
    """Return the type and the first small values of an event too large for the log; `is_cut` says so."""
    ordered = {"type": event["type"], **event} if "type" in event else event
    small = ((name, value) for name, value in ordered.items() if _is_small(name) and _is_small(value))
    return {**dict(islice(small, _MOST_VALUES)), "is_cut": True}  # of 90,000 values few are looked at


def _is_small(value: Json) -> bool:
    return not isinstance(value, dict | list) and (not isinstance(value, str) or len(value) <= _LONGEST_TEXT)
