"""Gates, which so many calls pass at once, and the queues before them, served in turns of the runs.

All of it belongs to one event loop. A place that becomes free is handed to the next call, so that nobody who
comes later is faster.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from ..errors import BusyError


class Waiting(Hashable, Protocol):
    """A call that waits: `running_call.RunningCall`."""

    tool: str
    lane: Gate | None


C = TypeVar("C", bound=Waiting)


class FairQueue(Generic[C]):
    """Calls that wait: of each run in their order, and one of each run in turn."""

    __slots__ = ("lanes",)

    def __init__(self) -> None:
        self.lanes: OrderedDict[Gate, OrderedDict[C, asyncio.Future[bool]]] = OrderedDict()
        """Who waits, by run; the next one's is the first."""

    def add(self, call: C, future: asyncio.Future[bool]) -> None:
        """Put a call at the end of those of its run."""
        assert call.lane is not None, "a call that waits has a lane"
        self.lanes.setdefault(call.lane, OrderedDict())[call] = future

    def discard(self, call: C) -> asyncio.Future[bool] | None:
        """Take a call out and return what it waits for; None where it is not there."""
        assert call.lane is not None, "a call that waits has a lane"
        waiters = self.lanes.get(call.lane)
        future = None if waiters is None else waiters.pop(call, None)
        if waiters is not None and not waiters:
            del self.lanes[call.lane]
        return future

    def pop(self) -> tuple[C, asyncio.Future[bool]] | None:
        """Take out the first call of the run whose turn it is; None where nobody waits.

        Those that are being cancelled are taken out with it.
        """
        while self.lanes:
            lane, waiters = next(iter(self.lanes.items()))
            call, future = waiters.popitem(last=False)
            if waiters:
                self.lanes.move_to_end(lane)
            else:
                del self.lanes[lane]
            if not future.done():
                return call, future
        return None


class Queues:
    """The calls that wait in any of the queues of a scheduler."""

    __slots__ = ("_limit", "waiting")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.waiting = 0

    async def wait(self, queue: FairQueue[C], call: C, give_back: Callable[[], None]) -> bool:
        """Wait in a queue until somebody sets the future of the call, and return its value.

        `give_back` undoes what was granted to a call that is cancelled at the same time.

        Raises:
            BusyError: too many wait already.
            asyncio.CancelledError: the caller's own task is being cancelled.
        """
        lane = call.lane
        assert lane is not None, "a call that waits has a lane"
        if lane.waiting >= self._limit - self.waiting:
            raise BusyError(call.tool, lane.waiting, self.waiting)
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        queue.add(call, future)
        lane.waiting += 1
        self.waiting += 1
        try:
            return await future
        except asyncio.CancelledError:
            if queue.discard(call) is None and future.done() and not future.cancelled() and future.result():
                give_back()
            raise
        finally:
            lane.waiting -= 1
            self.waiting -= 1


class Gate:
    """Lets so many calls run at once; the gate of a run is also its lane, by which its calls take turns."""

    __slots__ = ("limit", "loop", "name", "queue", "running", "users", "waiting")

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop, name: str = "") -> None:
        self.limit = limit
        self.loop = loop
        self.name = name
        self.running = 0
        self.queue = FairQueue[Any]()
        """Empty unless the limit is reached."""
        self.waiting = 0
        """Calls of this lane in any queue."""
        self.users = 0
        """Calls that have it among their gates; `GateTable` counts them."""

    def leave(self) -> None:
        """Let a call leave, and the next one in."""
        self.running -= 1
        if self.queue.lanes:
            self.let_in()

    def let_in(self) -> None:
        """Let calls in for which there is room now."""
        while self.running < self.limit and (waiting := self.queue.pop()):
            self.running += 1
            waiting[1].set_result(True)


class GateTable:
    """Gates by name, kept as long as a call has them."""

    __slots__ = ("_gates", "_limit", "_loop")

    def __init__(self, limit: int | None, loop: asyncio.AbstractEventLoop) -> None:
        self._limit = limit
        self._loop = loop
        self._gates: dict[str, Gate] = {}

    def __len__(self) -> int:
        return len(self._gates)

    def get(self, name: str) -> Gate | None:
        """Return the gate of a name for one more call; None where nothing limits or is named."""
        if self._limit is None or not name:
            return None
        gate = self._gates.get(name)
        if gate is None:
            gate = self._gates[name] = Gate(self._limit, self._loop, name)
        gate.users += 1
        return gate

    def put_back(self, gate: Gate) -> None:
        """Give a gate back that was got for a call."""
        if self._gates.get(gate.name) is gate:
            gate.users -= 1
            if not gate.users:
                del self._gates[gate.name]
