"""The `RunContext` interface between a loop and its run, and the `ActivityInfo` that an activity receives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Any, Final, Literal, Protocol, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .errors import ActivityFailed
from .statuses import Signal


@frozen_record
class CallOptions:
    """Options for one activity. Times are in seconds."""

    attempts: int = 3
    """Maximum number of attempts. Only infrastructure failures are retried; a tool's errors are data in its
    result."""
    backoff: float = 0.2
    """Delay before the second attempt; it doubles with each attempt."""
    timeout: float | None = None
    """Time limit of one attempt."""
    once: bool = False
    """Whether the operation must not be repeated after `ActivityInfo.begun`. If the process ends or the time
    limit expires after `begun` and no result was stored, the operation ends as `outcome_unknown`. It can
    start before `ActivityInfo.wait_for_durable_inputs` returns."""
    is_durable_later: bool = False
    """Whether the end can be persisted together with the records that follow it. The loop can continue before
    that, but no listener and no other run sees the effects until the end is durable."""


answer_name: Final[Callable[[str], str]] = "answer:{}".format
"""Returns the name of the signal that answers the wait of an operation."""

GRANT_LOOP: Final = "grant"
"""Loop whose runs are grants; an engine revokes them if their file is older than its witness."""
REVOKED: Final = "revoked"
"""Operation whose answer revokes a grant."""

Emit: TypeAlias = Callable[[Mapping[str, Json]], None]
"""Accepts an event immediately, from any thread, and never raises."""


class BeginRecord(Protocol):
    """Persists the record that an activity begins, and its events so far."""

    def __call__(self, events: Sequence[Mapping[str, Json]] = (), /) -> Awaitable[None]: ...


async def _at_once() -> None:
    """Do nothing, because outside an engine nothing is persisted."""


async def _record_nothing(events: Sequence[Mapping[str, Json]] = (), /) -> None:
    """Do nothing: outside an engine there is no begun record."""


@frozen_record
class ActivityInfo:
    """Facts about the run and the attempt, passed to an activity."""

    run_id: str
    op: str
    attempt: int
    """Number of the attempt, starting with 1."""
    missed: int = 0
    """Number of attempts in processes that lacked something the activity needs; `attempt` does not count
    them."""
    emit: Emit = field(repr=False)
    """Takes a progress report, best effort; can be called from any thread. Subscribers in this process
    receive it, and no journal stores it."""
    timeout: float | None = None
    """Seconds left for the attempt: `CallOptions.timeout` minus the time it waited to begin."""
    is_followed: Callable[[], bool] = field(default=bool, repr=False)
    """Returns whether other activities that the run has started are about to begin in this process without
    waiting for another activity to end."""
    begun: BeginRecord = field(default=_record_nothing, repr=False)
    """Await this, with `CallOptions.once`, immediately before an effect that must not happen twice. It
    returns once the engine has persisted that the activity begins. By then the events are in the log of the
    run, or will be even if this process ends. Each event is logged once, whichever attempt begins."""

    wait_for_durable_inputs: Callable[[], Awaitable[None]] = field(default=_at_once, repr=False)
    """Await this, with `CallOptions.once`, before an effect without `begun`. It returns once every record
    that led to the activity is durable. Without `once`, the activity starts only then."""

    @property
    def idempotency_key(self) -> str:
        """Idempotency key of the operation; identical for every attempt, in any process."""
        return f"{self.run_id}/{self.op}"


class RunContext(Protocol):
    """Operations available to a loop. Each operation has its own key within the run."""

    @property
    def run_id(self) -> str: ...

    @property
    def has_room(self) -> bool:
        """Whether the engine has room for many more operations of this run; if not, a loop must end."""
        ...

    def now(self) -> float:
        """Return the time of the newest recorded operation, in seconds since 1970."""
        ...

    def start(self, op: str, activity: str, arg: Json, options: CallOptions | None = None) -> Awaitable[Json]:
        """Start an activity immediately and return an awaitable of its result.

        Raises:
            ActivityFailed: when awaited; all attempts failed.
            DuplicateOperationError: the key is already used.
        """
        ...

    async def child(self, op: str, loop: str, arg: Json) -> Json:
        """Run a child run, whose id is `<run id>/<op>`, and return its result.

        Raises:
            ActivityFailed: the child failed or was canceled.
        """
        ...

    async def detach(self, op: str, loop: str, arg: Json) -> str:
        """Start a run that outlives this one, and return its id: `<run id>/<op>`.

        The run is stored and deleted independently of this run, but it is canceled if this run is canceled.
        """
        ...

    async def gather(self, *awaitables: Awaitable[Json]) -> list[Json | ActivityFailed]:
        """Return all results in the order of the arguments, after the last one ended; nothing is canceled."""
        ...

    def one_by_one(self) -> AbstractAsyncContextManager[None]:
        """Return a context manager that admits one part of the loop at a time, in order of arrival.

        The order depends only on the loop, so it is the same when an engine replays the loop.
        """
        ...

    async def wait(
        self, op: str, *names: str, timeout_s: float | None = None, about: Json = None
    ) -> Signal | None:
        """Return the next unused signal of these names; None after `timeout_s` seconds.

        With `timeout_s=0` it takes only a signal that has already arrived. While it waits, the run is
        `waiting`, and `RunStatus.awaiting` contains `about`. A run can have several waits at once, each under
        its own key. Without names it sleeps, and the run is `running`. A wait for `answer_name(op)` receives
        the answer that `Engine.answer` accepts for the operation.
        """
        ...

    async def publish(self, key: str, event: Mapping[str, Json]) -> None:
        """Append an event to the log of the run, once per key, however often the loop runs."""
        ...


Loop: TypeAlias = Callable[[RunContext, Any], Awaitable[Any]]
"""Takes and returns JSON."""
Activity: TypeAlias = Callable[[ActivityInfo, Any], Awaitable[Any]]
"""Takes and returns JSON."""


@frozen_record
class EndedRun:
    """A run that was canceled, or whose loop failed."""

    input: Any
    ending: Literal["failed", "canceled"]
    reason: str
    """Reason for the cancellation or failure."""
    at: float
    """Seconds since 1970."""
    log: Sequence[Mapping[str, Json]]
    begun: Set[str]
    """Keys of all operations that began with `CallOptions.once`, including those that ended."""
    waits: Mapping[str, Json]
    """Subjects of the open waits, by their keys."""
    child_log: Callable[[str], Sequence[Mapping[str, Json]] | None] = lambda run_id: None
    """Returns the log of a child run that is over, by its id; None if the engine does not have the log."""


LastEvents: TypeAlias = Callable[[EndedRun], Iterable[Mapping[str, Json]]]
"""Returns the events that are missing from the log of a run whose end its loop did not write. Pure
function."""
