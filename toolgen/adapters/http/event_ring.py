"""The newest events of a hub, numbered, for readers that each keep their own place.

One subscription fills the ring, so that a reader costs a number, and one that is slow, or comes again, finds
what it has missed as long as the ring has it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Sequence
from itertools import islice
from typing import Final

from pydantic_core import to_json

from toolgen.events import Event, Events, EventsDropped, Subscription, as_json

_PIECE: Final = 100
"""Events that a reader takes out of the ring at once."""


class KeptEvent:
    """An event with its id, and with its lines once somebody has asked for them."""

    __slots__ = ("_lines", "event", "id", "number")

    def __init__(self, start: str, number: int, event: Event) -> None:
        self.id = f"{start}.{number}"
        self.number = number
        self.event = event
        self._lines = b""

    @property
    def lines(self) -> bytes:
        """The event as a reader gets it; made once, for all readers."""
        if not self._lines:
            self._lines = lines_of(self.event, self.id)
        return self._lines


def lines_of(event: Event, id_: str) -> bytes:
    """Return the lines of one event; without an id a reader that comes again does not name it."""
    head = b"id: " + id_.encode() + b"\n" if id_ else b""
    return head + b"data: " + to_json(as_json(event)) + b"\n\n"


class EventRing:
    """The newest events of one hub, since its first reader came."""

    def __init__(self, events: Events, size: int) -> None:
        """Construct the ring of a hub with the most events that it has at once."""
        self._events = events
        self._size = size
        self._newest_events: deque[KeptEvent] = deque(maxlen=size)
        self.start = secrets.token_hex(4)
        """Names this ring: an id of another one says nothing of what was missed here."""
        self.newest = 0
        """The number of the newest event; those that are kept end with it."""
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
                    if isinstance(event, EventsDropped):  # as many as are kept have come since
                        self._newest_events.clear()
                        self.newest += event.count
                    else:
                        self.newest += 1
                        self._newest_events.append(KeptEvent(self.start, self.newest, event))
                self._wake()
        finally:
            subscription.close()
            self._is_over = True
            self._wake()

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

    async def read(self, seen: int) -> AsyncIterator[Sequence[KeptEvent]]:
        """Yield the events after a number, some at once; an `EventsDropped` for those not kept any more."""
        while True:
            oldest = self.newest - len(self._newest_events) + 1
            if seen + 1 < oldest:
                missed, seen = oldest - seen - 1, oldest - 1
                yield [KeptEvent(self.start, seen, EventsDropped(count=missed, total=missed))]
            elif seen < self.newest:
                first = seen + 1 - oldest
                piece = list(islice(self._newest_events, first, first + _PIECE))
                seen = piece[-1].number
                yield piece
            elif self._is_over:
                return
            else:
                await self._news.wait()
