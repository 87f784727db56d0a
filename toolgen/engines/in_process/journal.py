"""The journal of an engine: it has enough to replay a loop without repeating its operations.

With every journal, the records of unfinished runs are in memory. All changes of them go through the journal,
which can persist them. All texts are JSON. Reports of activities, for example pieces of text, are in no
journal: a follower of the log that is slow or starts late loses the oldest reports.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

from pydantic_core import from_json, to_json

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record

from ..engine import OnEvent
from ..errors import ActivityFailed, EngineError, PayloadTooLargeError

NULL: Final = b"null"
MOST_BYTES: Final = 64 * 2**20
"""Maximum size of the JSON of one value in a file, in bytes; a larger input or question is not read."""
_ONCE: Final = frozenset(("run_completed", "run_stream_end"))
"""Types of the events that occur once per run; their type is their key."""
_MOST: Final = 1_000
"""Maximum number of recent reports of one run, and of unread reports of one follower."""
CANCEL: Final = "\x00cancel"
"""Id of the signal that cancels its run."""

log = logger("toolgen.engines")

Ending = Literal["completed", "failed", "canceled"]
Events: TypeAlias = tuple[bool, list[tuple[int, Mapping[str, Json]]]]
"""Whether a run is over, and some of its events with their offsets."""


@frozen_record(kw_only=False)
class OpRecord:
    """The end of one operation of a loop."""

    op: str
    what: str
    """Name of the activity or of the child run's loop; `wait` for a wait."""
    digest: bytes
    """The `digest` of its argument."""
    at: float
    """Seconds since 1970."""
    value: bytes = NULL
    kind: str = ""
    """Kind of the failure; "" if the operation succeeded."""
    message: str = ""

    def failure(self) -> ActivityFailed | None:
        return ActivityFailed(self.op, self.kind, self.message) if self.kind else None


@dataclass(slots=True)
class SignalRecord:
    signal_id: str
    name: str
    payload: bytes
    is_taken: bool = False
    key: str = ""
    """Key that equal answers share; "" for any other signal."""
    no: int = 0
    """Number of the signal in a journal that numbers signals."""


@frozen_record(kw_only=False)
class WaitRecord:
    """A wait that has begun."""

    op: str
    about: bytes
    names: tuple[str, ...] = ()


@frozen_record(kw_only=False)
class AttemptRecord:
    """Attempts at an operation that has not ended."""

    failed: int = 0
    """Number of failed attempts."""
    until: float = 0.0
    """Time at which the next attempt may start, in seconds since 1970."""
    has_begun: bool = False
    """Whether its activity has recorded that it begins an effect that must not happen twice."""


NO_ATTEMPT: Final = AttemptRecord()


@dataclass(slots=True, kw_only=True)
class RunRecord:
    """All data of one run; only its journal changes it."""

    run_id: str
    loop: str
    input: bytes
    parent: str | None
    session: str = ""
    starter: str | None = None
    """Id of the run that detached this one."""
    began: float | None = None
    """First execution of the loop, in seconds since 1970."""
    ending: Ending | None = None
    output: bytes = NULL
    error: str = ""
    children: list[str] = field(default_factory=list)
    detached: list[str] = field(default_factory=list)
    ops: dict[str, OpRecord] = field(default_factory=dict)
    waits: dict[str, WaitRecord] = field(default_factory=dict)
    """Waits that `wait_status` can find."""
    attempts: dict[str, AttemptRecord] = field(default_factory=dict)
    signals: dict[str, SignalRecord] = field(default_factory=dict)
    events: list[bytes] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    """Keys of the events that have a key."""
    no: int = 0
    """Number of the run in a journal that numbers runs."""
    next_op: int = 0
    """Highest number of an operation."""
    is_parked: bool = False
    """Whether the journal has recorded that only signals can wake the run."""
    unwritten: int = 0
    """Number of operation ends that the loop received before they were durable."""
    undelivered_events: int = 0
    """Number of events that listeners receive once they are durable."""


class EventLog:
    """Appends the events of runs to their log, and passes them to followers."""

    def __init__(
        self,
        add_event: Callable[[RunRecord, str | None, bytes], int],
        when_durable: Callable[[Callable[[], None]], None],
    ) -> None:
        """Construct the log; `add_event` appends an event with a new key, and returns its offset.

        `when_durable` calls back when all appended records, and the records that led to them, are durable.
        """
        self._add_event = add_event
        self._when_durable = when_durable
        self.on_event: OnEvent | None = None
        self.on_report: Callable[[str, int, Mapping[str, Json]], None] | None = None
        """Receives each report for other processes, with its run and the number of events before it."""
        self.followers = Followers()

    def append(self, record: RunRecord, key: str | None, text: bytes, event: Mapping[str, Json]) -> None:
        """Append an event to the log of a run, unless the log has the key or has ended."""
        key = log_key(key, event)
        if key in record.keys or "run_stream_end" in record.keys:
            return
        offset = self._add_event(record, key, text)
        if key == "run_stream_end":
            self.followers.forget(record.run_id)
        deliver = partial(notify, self.on_event, record.run_id, record.loop, offset, event)
        if record.unwritten or record.undelivered_events:  # a crash could lose records that led to the event
            record.undelivered_events += 1
            self._when_durable(partial(_deliver_later, record, deliver))
        else:
            deliver()

    def report(self, record: RunRecord, event: Mapping[str, Json]) -> None:
        """Pass an ephemeral report to followers. The log does not store it, and its offset is 0."""
        if "run_stream_end" not in record.keys:
            self.followers.publish(record.run_id, len(record.events), event)
            if self.on_report is not None:
                self.on_report(record.run_id, len(record.events), event)
            notify(self.on_event, record.run_id, record.loop, 0, event)


def _deliver_later(record: RunRecord, notify: Callable[[], None]) -> None:
    record.undelivered_events -= 1
    notify()


def notify(on_event: OnEvent | None, run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
    """Notify the listener in this process of an event, or of a report with offset 0; log its exceptions."""
    if on_event is not None:
        try:
            on_event(run_id, loop, offset, event)
        except KeyboardInterrupt:
            raise
        except BaseException:
            log.exception("run %s: an event listener failed", run_id)


class ReportQueue:
    """The unread reports of one follower, in order, and the event that wakes it."""

    def __init__(self, recent: Iterable[tuple[int, Mapping[str, Json]]]) -> None:
        self._waiting = deque(recent, maxlen=_MOST)
        self._news = asyncio.Event()

    def add(self, after: int, event: Mapping[str, Json]) -> None:
        """Append a report, with the current number of events in the log."""
        self._waiting.append((after, event))
        self._news.set()

    def wake(self) -> None:
        """Wake the follower: the log has a new event, or it has ended."""
        self._news.set()

    async def wait(self) -> None:
        """Return once the follower was woken, or a report was added, since the last return.

        Take the reports after this returns, not before: a report added later is for the next wait.
        """
        await self._news.wait()
        self._news.clear()

    def take_until(self, offset: int) -> Iterator[Mapping[str, Json]]:
        """Yield the reports that precede the event after this offset."""
        while self._waiting and self._waiting[0][0] <= offset:
            yield self._waiting.popleft()[1]


class Followers:
    """Followers of runs in this process."""

    def __init__(self) -> None:
        self._reports: dict[str, list[ReportQueue]] = {}
        self._recent: dict[str, deque[tuple[int, Mapping[str, Json]]]] = {}
        """Newest reports of each unfinished run."""
        self._changes: dict[str, asyncio.Event] = {}
        """Events that wake listeners for a state change, by run."""

    @contextmanager
    def follow(self, run_id: str, offset: int) -> Iterator[ReportQueue]:
        """Follow a run: yield a queue of its recent reports and of all later ones."""
        recent = self._recent.get(run_id, ())
        reports = ReportQueue(report for report in recent if report[0] >= offset)
        self._reports.setdefault(run_id, []).append(reports)
        try:
            yield reports
        finally:
            self._reports[run_id].remove(reports)
            if not self._reports[run_id]:
                del self._reports[run_id]

    async def events(
        self,
        run_id: str,
        read: Callable[[int], Events | None],
        offset: int,
        require_news: Callable[[], None] | None,
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        """Yield the events after an offset as `Engine.events` does, until `read` returns None.

        `require_news` raises if no more events will come. Without it, only the existing events are yielded.
        """
        with self.follow(run_id, offset) as reports:
            while (news := read(offset)) is not None:
                is_over, events = news
                for number, event in events:
                    for report in reports.take_until(offset) if require_news else ():
                        yield 0, report
                    offset = number
                    yield offset, event
                for report in reports.take_until(offset) if require_news else ():
                    yield 0, report
                if events:
                    continue
                if is_over or not require_news:
                    return
                require_news()
                await reports.wait()
                require_news()

    def publish(self, run_id: str, after: int, event: Mapping[str, Json]) -> None:
        """Publish a report to the followers of the run."""
        self._recent.setdefault(run_id, deque(maxlen=_MOST)).append((after, event))
        for reports in self._reports.get(run_id, ()):
            reports.add(after, event)

    def take_message(self, message: bytes) -> None:
        """Publish a report of another process, a `report_message`, to the current followers of its run."""
        try:
            run_id, after, event = decode(message)
            followers = self._reports.get(run_id, ())
        except (TypeError, ValueError):
            after = event = None
            followers = ()
        if not (isinstance(after, int) and isinstance(event, dict)):
            log.warning("a message of another process is not a report")
            return
        for reports in followers:
            reports.add(after, event)

    async def change(self, run_id: str) -> None:
        """Wait until the state of a run might have changed."""
        await self._changes.setdefault(run_id, asyncio.Event()).wait()

    def wake(self, run_id: str) -> None:
        """Wake the followers of a run whose log has grown."""
        for reports in self._reports.get(run_id, ()):
            reports.wake()

    def changed(self, run_id: str) -> None:
        """Wake the tasks that wait for a change of a run, and its followers."""
        self.wake(run_id)
        if change := self._changes.pop(run_id, None):
            change.set()

    def wake_all(self) -> None:
        """Wake all waiting tasks, because any run might have changed or none will change any more."""
        for run_id in {*self._reports, *self._changes}:
            self.changed(run_id)

    def forget(self, run_id: str) -> None:
        """Drop the reports of a run that is over."""
        self._recent.pop(run_id, None)


def report_message(run_id: str, after: int, event: Mapping[str, Json]) -> bytes:
    """Return the message that sends a report to other processes, with the number of events before it."""
    return encode([run_id, after, dict(event)], "a report")[0]


def log_key(key: str | None, event: Mapping[str, Json]) -> str | None:
    """Return the key of an event in the log of its run; None if the log can have the event more than once."""
    return str(event["type"]) if event.get("type") in _ONCE else key


def begun_key(op: str, number: int) -> str:
    """Return the key of an initial event of an activity, by its number from 0."""
    return f"{op}:begun:{number}"


def digest(text: bytes) -> bytes:
    """Return a digest of an argument, by which a replay detects a changed argument."""
    return sha256(text).digest()


def encode(value: Any, what: str, limit: int | None = None) -> tuple[bytes, Any]:
    """Return the JSON of a value, and the value as its receiver decodes it.

    `to_json` also serializes values that are not JSON, for example dates; they decode to other values.

    Raises:
        EngineError: the value is not JSON; the message names `what` and the place in the value.
        PayloadTooLargeError: the JSON has more than `limit` bytes.
    """
    try:
        text = to_json(value, inf_nan_mode="null")
        copy = from_json(text)
        is_same = bool(copy == value)
    except Exception as error:
        raise EngineError(f"{what} is not JSON: {_find_non_json(value) or error}") from error
    if not is_same:
        raise EngineError(f"{what} is not JSON: {_find_non_json(value) or 'it is decoded as something else'}")
    if limit is not None and len(text) > limit:
        raise PayloadTooLargeError(
            f"{what} has {len(text)} bytes of JSON; the engine keeps {limit}",
            hint="put it into a store and pass its reference",
        )
    return text, copy


def decode(text: bytes) -> Any:
    return from_json(text)


def _find_non_json(value: object, path: str = "$", depth: int = 0) -> str:
    """Return which part of a value is not JSON, with its path; "" if no such part is found."""
    match value:
        case None | bool() | int():
            return ""
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                return f"{path} has a lone surrogate, {value!r:.60}"
            return ""
        case float():
            return "" if value - value == 0 else f"{path} is {value}"
        case dict() | list() if depth > 150:
            return f"it is nested deeper than {depth} levels, or contains itself"
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    return f"{path} has the key {key!r:.60}, which is not a string"
                if problem := _find_non_json(item, f"{path}.{key}", depth + 1):
                    return problem
            return ""
        case list():
            places = (_find_non_json(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value))
            return next(filter(None, places), "")
        case _:
            return f"{path} is a {type(value).__qualname__}"
