"""The event hub: numbers events per run, and puts them into a bounded queue for each subscriber.

Emitting never waits for a subscriber, never raises, and is possible in any thread. One lock covers the
numbers and the queues, so that every subscriber sees the events of a run in the order of their numbers.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import Final, get_args

from toolgen.calls.call import NO_META, CallMeta
from toolgen.contract.boundary import as_task_exception
from toolgen.contract.logs import logger

from .document import as_read
from .records import Event, EventsDropped

_MOST_RUNS: Final = 10_000
"""Maximum number of runs with event counters; the run that was idle longest starts again at 1."""
_TYPES: Final = frozenset(kind.__dataclass_fields__["type"].default for kind in get_args(Event))

log = logger("toolgen.runtime")


class Events:
    """Receives the events of a runtime and passes them to subscribers."""

    __slots__ = ("_clock", "_lock", "_logged", "_seqs", "_subscriptions", "is_idle")

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Construct a hub without subscribers; the clock returns seconds since 1970."""
        self._clock = clock
        self._lock = threading.RLock()  # reentrant, because a signal handler can emit while this thread emits
        self._seqs: OrderedDict[str, int] = OrderedDict()
        self._logged: OrderedDict[str, None] = OrderedDict()
        """Ids of the runs whose events are numbered by their log."""
        self._subscriptions: tuple[Subscription, ...] = ()
        self.is_idle = True
        """True without subscribers; check it before you build an event."""

    def emit(self, event: Event, meta: CallMeta = NO_META) -> None:
        """Number and date a new event, add the ids of the call, and queue it for the subscribers.

        Only events that are emitted while a subscriber exists are counted. Events beside the log of a run,
        for example of a call made by one of its tools, have the number 0.
        """
        if self.is_idle:
            return
        try:
            with self._lock:
                # No other code has the event yet; it does not change after this.
                event.run_id = run = meta.run_id  # type: ignore[misc]
                event.session_id = meta.session_id  # type: ignore[misc]
                event.turn_id = meta.turn_id  # type: ignore[misc]
                event.tool_call_id = meta.tool_call_id  # type: ignore[misc]
                event.agent_id = meta.agent  # type: ignore[misc]
                event.time = self._clock()  # type: ignore[misc]
                event.seq = 0 if run in self._logged else self._next(run)  # type: ignore[misc]
                if event.type == "run_stream_end":
                    self._seqs.pop(run, None)
                for subscription in self._subscriptions:
                    subscription._offer(event)
        except Exception:
            log.exception("an event was lost")

    def mark_logged(self, run: str) -> None:
        """Mark a run as logged: its events arrive numbered by `forward`."""
        with self._lock:
            self._logged[run] = None
            self._logged.move_to_end(run)
            if len(self._logged) > _MOST_RUNS:
                self._logged.popitem(last=False)

    def forward(self, event: Event) -> None:
        """Queue an event from a run's log, which already has its number and time."""
        with self._lock:
            for subscription in self._subscriptions:
                subscription._offer(event)

    def subscribe(
        self, *, size: int = 1000, types: Iterable[str] | None = None, run_id: str | None = None
    ) -> Subscription:
        """Return a subscription to events from now on; close it, or use it with `async with`.

        Args:
            size: Maximum number of unread events. Beyond it, the oldest are dropped, so that the end of a run
                is always received, and an `EventsDropped` replaces them.
            types: Receive only events of these types, for example `tool_end`.
            run_id: Receive only events of this run.

        Raises:
            ValueError: the size is below 1, or a type does not exist.
        """
        wanted = None if types is None else frozenset(types)
        if size < 1:
            raise ValueError(f"size is {size}; it must be at least 1")
        if wanted is not None and (unknown := wanted - _TYPES):
            names = ", ".join(sorted(unknown))
            raise ValueError(f"unknown event type {names}; the types are {', '.join(sorted(_TYPES))}")
        subscription = Subscription(self, size, wanted, run_id)
        with self._lock:
            self._subscriptions = (*self._subscriptions, subscription)
            self.is_idle = False
        return subscription

    def on(
        self,
        callback: Callable[[Event], Awaitable[None] | None],
        *,
        size: int = 1000,
        types: Iterable[str] | None = None,
        run_id: str | None = None,
    ) -> Listener:
        """Call back with each event, one after another, in a task of the running loop.

        Raises:
            ValueError: as `subscribe`.
            RuntimeError: no event loop is running.
        """
        asyncio.get_running_loop()  # before there is a subscription that would never be closed
        return Listener(self.subscribe(size=size, types=types, run_id=run_id), callback)

    def close(self) -> None:
        """End all subscriptions; readers still receive queued events."""
        for subscription in self._subscriptions:
            subscription.close()

    def _next(self, run: str) -> int:
        seqs = self._seqs
        seq = seqs.get(run, 0) + 1
        seqs[run] = seq
        seqs.move_to_end(run)
        if len(seqs) > _MOST_RUNS:
            seqs.popitem(last=False)
        return seq

    def _leave(self, leaving: Subscription) -> None:
        with self._lock:
            self._subscriptions = tuple(
                subscription for subscription in self._subscriptions if subscription is not leaving
            )
            self.is_idle = not self._subscriptions


class Subscription:
    """Queue of events for one reader: `async with events.subscribe() as events: async for event in
    events`."""

    __slots__ = (
        "_hub", "_is_open", "_lock", "_loop", "_missed", "_queue", "_run_id", "_types", "_waiter", "dropped",
    )  # fmt: skip

    def __init__(self, hub: Events, size: int, types: frozenset[str] | None, run_id: str | None) -> None:
        self._hub = hub
        self._lock = hub._lock
        self._queue: deque[Event] = deque(maxlen=size)
        self._types = types
        self._run_id = run_id
        self._is_open = True
        self._missed = 0
        self._waiter: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.dropped = 0
        """Number of dropped events since the subscription began, because the reader was too slow."""

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        """Return the next event; the iteration ends when the subscription is closed and read to its end.

        Only one reader can wait at a time.
        """
        while True:
            with self._lock:
                if self._missed:
                    return self._gap()
                if self._queue:
                    return as_read(self._queue.popleft())
                if not self._is_open:
                    raise StopAsyncIteration
                waiter = self._wait()
            await waiter

    async def batch(self) -> list[Event]:
        """Return all queued events, waiting if there are none; empty at the end."""
        try:
            first = await anext(self)
        except StopAsyncIteration:
            return []
        with self._lock:
            gap = [self._gap()] if self._missed else []
            events = [first, *gap, *map(as_read, self._queue)]
            self._queue.clear()
        return events

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop receiving events; queued events can still be read."""
        with self._lock:
            self._is_open = False
            self._hub._leave(self)
            self._wake()

    def _offer(self, event: Event) -> None:
        """Queue the event, under the hub's lock."""
        if self._types is not None and event.type not in self._types:
            return
        if self._run_id is not None and event.run_id != self._run_id:
            return
        queue = self._queue
        if len(queue) == queue.maxlen:  # the oldest event is dropped
            self._missed += 1
            self.dropped += 1
        queue.append(event)
        if self._waiter is not None:
            self._wake()

    def _gap(self) -> EventsDropped:
        missed, self._missed = self._missed, 0
        now = self._hub._clock()
        return EventsDropped(time=now, run_id=self._run_id or "", count=missed, total=self.dropped)

    def _wait(self) -> asyncio.Future[None]:
        """Return a future that is done at the next event; the caller must hold the hub's lock."""
        if self._waiter is not None and not self._waiter.done():
            raise RuntimeError("the subscription already has a reader; subscribe once for each reader")
        self._loop = asyncio.get_running_loop()
        self._waiter = self._loop.create_future()
        return self._waiter

    def _wake(self) -> None:
        """Wake the reader, from any thread."""
        waiter, self._waiter = self._waiter, None
        if waiter is None or self._loop is None:
            return
        if asyncio._get_running_loop() is self._loop:
            _done(waiter)
            return
        try:
            self._loop.call_soon_threadsafe(_done, waiter)
        except RuntimeError:  # the reader's event loop is closed
            self._is_open = False
            self._hub._leave(self)


class Listener:
    """Calls back with each event, in its own task; exceptions are counted, and the first one is logged."""

    __slots__ = ("_callback", "_subscription", "_task", "failed")

    def __init__(
        self, subscription: Subscription, callback: Callable[[Event], Awaitable[None] | None]
    ) -> None:
        self._subscription = subscription
        self._callback = callback
        self.failed = 0
        """Number of events for which the callback raised."""
        self._task = asyncio.get_running_loop().create_task(self._listen(), name="toolgen listener")

    @property
    def dropped(self) -> int:
        """Number of events that were dropped because the callback was too slow."""
        return self._subscription.dropped

    async def __aenter__(self) -> Listener:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self, timeout_s: float = 5.0) -> None:
        """Receive no more events, and call back with the queued ones; cancel a callback that hangs."""
        self._subscription.close()
        if self._task is asyncio.current_task():
            return  # the callback itself calls this
        await asyncio.wait({self._task}, timeout=timeout_s)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=timeout_s)

    async def _listen(self) -> None:
        try:
            async for event in self._subscription:
                await self._call(event)
        finally:
            self._subscription.close()

    async def _call(self, event: Event) -> None:
        try:
            awaitable = self._callback(event)
            if awaitable is not None:
                await awaitable
        except BaseException as error:
            exception = as_task_exception(error)
            self.failed += 1
            if self.failed == 1:
                log.warning(
                    "an event listener failed; its further failures are not logged", exc_info=exception
                )


def _done(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
