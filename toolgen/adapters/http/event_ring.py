"""Numbered ring of the newest events of a hub, for readers that each store their own position.

One subscription fills the ring, so each reader costs only a number. A slow or reconnecting reader gets the
events that it missed as long as they are in the ring.
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
"""Maximum number of events that a reader takes out of the ring at once."""


@frozen_record(kw_only=False)
class RingEvent:
    """Serialized event, and the fields by which readers select it."""

    number: int
    type: str
    session_id: str
    lines: bytes


def lines_of(event: Event, id_: str) -> bytes:
    """Return the SSE lines of one event; without an id, a reconnecting reader cannot refer to it."""
    head = b"id: " + id_.encode() + b"\n" if id_ else b""
    return head + b"data: " + to_json(as_json(event)) + b"\n\n"


class EventRing:
    """The newest events of one hub since the first reader connected."""

    def __init__(self, events: Events, size: int, most_bytes: int) -> None:
        """Create the ring of a hub with limits for the number of events and their total bytes."""
        self._events = events
        self._size = size
        self._most_bytes = most_bytes
        self._ring: dict[int, RingEvent] = {}
        """Events by number, without gaps up to the newest."""
        self._bytes = 0
        self.start = secrets.token_hex(4)
        """Identifies this ring: an id of another ring does not tell which events were missed here."""
        self.newest = 0
        """Number of the newest event, which is the last one in the ring."""
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_over = False

    def open(self) -> None:
        """Start to collect events, if this is the first call."""
        if self._task is None:
            subscription = self._events.subscribe(size=self._size)
            self._task = asyncio.create_task(self._fill(subscription), name="events over HTTP")

    async def close(self) -> None:
        """Stop the ring: readers get the events that it still contains, and no more."""
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
        """Add an event at the end, and discard the oldest ones."""
        if isinstance(event, EventsDropped):  # as many events as the ring holds have followed the gap
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
        except (ValueError, RecursionError):  # an event contains a value that is not JSON
            log.warning("an event of type %s is not JSON and was not sent", event.type)
            event = EventsDropped(count=1, total=1)
            lines = lines_of(event, id_)
        return RingEvent(number, event.type, event.session_id, lines)

    @property
    def _oldest(self) -> int:
        """Number of the oldest event in the ring; the number of the next event if the ring is empty."""
        return self.newest - len(self._ring) + 1

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def place_of(self, id_: str) -> tuple[int, bool]:
        """Return the number of the event with this id, and whether the number of missed events is unknown.

        Without an id, a reader starts with the next event.
        """
        start, _, number = id_.partition(".")
        if not id_:
            return self.newest, False
        is_ours = start == self.start and number.isascii() and number.isdecimal() and len(number) <= 15
        seen = int(number) if is_ours else self.newest
        return min(seen, self.newest), not is_ours or seen > self.newest

    async def read(self, seen: int) -> AsyncIterator[Sequence[RingEvent]]:
        """Yield batches of events after a number.

        An `EventsDropped` replaces the events that were discarded.
        """
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
