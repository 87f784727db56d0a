"""The newest events of a hub, numbered, for readers that each keep their own place.

One subscription fills the ring, so that a reader costs a number, and one that is slow, or comes again, finds
what it has missed as long as the ring has it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Final

from pydantic_core import to_json

from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.events import Event, Events, EventsDropped, Subscription, as_json

log = logger("toolgen.http")

_PIECE: Final = 100
"""Events that a reader takes out of the ring at once."""


@frozen_record(kw_only=False)
class RingEvent:
    """An event as its readers get it, and what they choose it by."""

    number: int
    type: str
    session_id: str
    lines: bytes


def lines_of(event: Event, id_: str) -> bytes:
    """Return the lines of one event; without an id a reader that comes again does not name it."""
    head = b"id: " + id_.encode() + b"\n" if id_ else b""
    return head + b"data: " + to_json(as_json(event)) + b"\n\n"


class EventRing:
    """The newest events of one hub, since its first reader came."""

    def __init__(self, events: Events, size: int, most_bytes: int) -> None:
        """Construct the ring of a hub, with the most events and bytes of them that it has at once."""
        self._events = events
        self._size = size
        self._most_bytes = most_bytes
        self._ring: dict[int, RingEvent] = {}
        """Events by number, without gaps up to the newest."""
        self._bytes = 0
        self.start = secrets.token_hex(4)
        """Names this ring: an id of another one says nothing of what was missed here."""
        self.newest = 0
        """The number of the newest event; those in the ring end with it."""
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_over = False

    def open(self) -> None:
        """Begin to keep events, at the first time."""
        if self._task is None:
            subscription = self._events.subscribe(size=self._size)
            self._task = asyncio.create_task(self._fill(subscription), name="events over HTTP")

    async def close(self) -> None:
        """End: readers get what is kept, and no more."""
        self._is_over = True
        self._wake()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _fill(self, subscription: Subscription) -> None:
        try:
            while events := await subscription.batch():
                for event in events:
                    self._add(event)
                self._wake()
        finally:
            subscription.close()
            self._is_over = True
            self._wake()

    def _add(self, event: Event) -> None:
        """Add an event at the end; the oldest give way."""
        if isinstance(event, EventsDropped):  # since the gap as many have come as the ring takes
            self._ring.clear()
            self._bytes = 0
            self.newest += event.count
            return
        self.newest += 1
        added = self._ring[self.newest] = self._event(self.newest, event)
        self._bytes += len(added.lines)
        while len(self._ring) > self._size or (self._bytes > self._most_bytes and len(self._ring) > 1):
            self._bytes -= len(self._ring.pop(self._oldest).lines)

    def _event(self, number: int, event: Event) -> RingEvent:
        id_ = f"{self.start}.{number}"
        try:
            lines = lines_of(event, id_)
        except (ValueError, RecursionError):  # somebody has put into it what is no JSON
            log.warning("an event of type %s is not JSON and was not sent", event.type)
            event = EventsDropped(count=1, total=1)
            lines = lines_of(event, id_)
        return RingEvent(number, event.type, event.session_id, lines)

    @property
    def _oldest(self) -> int:
        """The number of the oldest event in the ring; that of the next one where it is empty."""
        return self.newest - len(self._ring) + 1

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def place_of(self, id_: str) -> tuple[int, bool]:
        """Return the number of the event of an id, and whether nobody knows what its reader has missed.

        Without an id a reader begins with what comes.
        """
        start, _, number = id_.partition(".")
        if not id_:
            return self.newest, False
        is_ours = start == self.start and number.isascii() and number.isdecimal() and len(number) <= 15
        seen = int(number) if is_ours else self.newest
        return min(seen, self.newest), not is_ours or seen > self.newest

    async def read(self, seen: int) -> AsyncIterator[Sequence[RingEvent]]:
        """Yield the events after a number, some at once; an `EventsDropped` for those that are gone."""
        while True:
            if seen + 1 < self._oldest:
                missed, seen = self._oldest - seen - 1, self._oldest - 1
                yield [self._event(seen, EventsDropped(count=missed, total=missed))]
            elif seen < self.newest:
                first, seen = seen + 1, min(seen + _PIECE, self.newest)
                yield [self._ring[number] for number in range(first, seen + 1)]
            elif self._is_over:
                return
            else:
                await self._news.wait()
