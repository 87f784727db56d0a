"""Schedules the operations of a run within the server's limits for one run and one message."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Set
from functools import partial
from typing import Any, Final

from temporalio import workflow
from temporalio.exceptions import ActivityError

from toolgen.contract.record import frozen_record

from ..errors import PayloadTooLargeError
from ..in_process.operations import ignore_exception

_MOST_OPEN: Final = 1_000
"""Maximum number of open activities of a run on the server, which allows 2,000 and fails the workflow task if
there are more."""
_MOST_AT_ONCE: Final = 2_500_000
"""Maximum number of bytes that a loop can send to the server in one workflow task. The server accepts
messages of 4 MiB, and the same message can contain a piece of the log."""

Begin = Callable[[], workflow.ActivityHandle[Any]]


@frozen_record
class _Waiting:
    """Activity that is sent to the server when others have ended."""

    op: str
    begin: Begin
    size: int
    end: asyncio.Future[Any]


class ActivityScheduling:
    """Schedules the activities of a run, oldest first, and counts the bytes that one workflow task sends."""

    def __init__(self) -> None:
        self._open: dict[str, workflow.ActivityHandle[Any]] = {}
        """Unfinished activities on the server, by operation."""
        self._canceled: Set[str] = frozenset()
        self._waiting: deque[_Waiting] = deque()
        self._sent = (0, 0)
        """Length of the history, which differs in each workflow task, and the bytes sent in that task."""

    def start(self, op: str, begin: Begin, size: int, what: str) -> asyncio.Future[Any]:
        """Schedule an activity now or later, and return the future of its end.

        Args:
            op: Key of its operation.
            begin: Schedules it.
            size: Number of bytes of its argument that go to the server.
            what: The argument, for messages.

        Raises:
            PayloadTooLargeError: together with everything else that begins now, it exceeds one message to the
                server.
        """
        if not self._waiting and len(self._open) < _MOST_OPEN:
            self.count(size, what)
            return self._begin(op, begin)
        end = asyncio.get_running_loop().create_future()
        end.add_done_callback(ignore_exception)
        self._waiting.append(_Waiting(op=op, begin=begin, size=size, end=end))
        return end

    def count(self, size: int, what: str) -> None:
        """Count bytes that this workflow task schedules.

        Raises:
            PayloadTooLargeError: as `start`.
        """
        if not self._fits(size):
            raise PayloadTooLargeError(
                f"{what} sends {size} bytes to the server, beside {self._before()} of others that start with "
                f"it; the engine sends {_MOST_AT_ONCE} at once",
                hint="put it into a store and pass its reference",
            )
        self._add(size)

    def takes(self, size: int) -> bool:
        """Count this many bytes for this workflow task, unless they do not fit; return whether they fit."""
        if is_fitting := self._before() + size <= _MOST_AT_ONCE:
            self._add(size)
        return is_fitting

    def is_open(self, op: str) -> bool:
        """Return whether the server has an unfinished activity with this key, or had one at `cancel`."""
        return op in self._open or op in self._canceled

    def cancel(self) -> bool:
        """Cancel all activities, and return whether the server has an unfinished one.

        Activities that were not sent to the server yet are never scheduled.
        """
        self._canceled = frozenset(self._open)
        for waiting in self._waiting:
            waiting.end.cancel()
        self._waiting.clear()
        for handle in self._open.values():
            handle.cancel()
        return bool(self._canceled)

    def _begin(self, op: str, begin: Begin) -> workflow.ActivityHandle[Any]:
        handle = self._open[op] = begin()
        handle.add_done_callback(partial(self._ended, op))
        return handle

    def _ended(self, op: str, handle: asyncio.Task[object]) -> None:
        del self._open[op]
        if handle.cancelled() or not isinstance(handle.exception(), ActivityError | None):
            return  # the worker evicts the run from memory
        while self._waiting and len(self._open) < _MOST_OPEN:
            first = self._waiting[0]
            if self._open and not self._fits(first.size):  # scheduled after the next activity ends
                return
            self._waiting.popleft()
            self._add(first.size)
            self._begin(first.op, first.begin).add_done_callback(partial(_pass_on, first.end))

    def _before(self) -> int:
        return self._sent[1] if self._sent[0] == workflow.info().get_current_history_length() else 0

    def _fits(self, size: int) -> bool:
        before = self._before()
        return not before or before + size <= _MOST_AT_ONCE

    def _add(self, size: int) -> None:
        self._sent = (workflow.info().get_current_history_length(), self._before() + size)


def _pass_on(end: asyncio.Future[Any], handle: asyncio.Task[object]) -> None:
    """Pass the end of an activity to the future that was created before the activity was scheduled."""
    if end.done():
        return
    if handle.cancelled():
        end.cancel()
    elif (error := handle.exception()) is not None:
        end.set_exception(error)
    else:
        end.set_result(handle.result())
