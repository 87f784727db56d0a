"""The interface of a loop to its run, and the facts that an activity has about its place."""

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
    """How an engine treats one activity. Times are seconds."""

    attempts: int = 3
    """All attempts, for failures of the infrastructure; a tool's errors are data in its result."""
    backoff: float = 0.2
    """The pause until the second attempt; it doubles."""
    timeout: float | None = None
    """The limit of one attempt."""
    once: bool = False
    """Whether the operation must not be repeated after `ActivityInfo.begun`. If the process ends or the time
    is over after that, and no result was stored, the operation ends as `outcome_unknown`. It may start
    before `ActivityInfo.all_kept`.
    """
    is_kept_later: bool = False
    """Its end may be kept with what follows from it. The loop may go on before, of which nobody hears."""


answer_name: Final[Callable[[str], str]] = "answer:{}".format
"""Returns the name of the signal that answers the wait of an operation."""

GRANT_LOOP: Final = "grant"
"""Loop whose runs are grants; an engine revokes them if their file is older than its witness."""
REVOKED: Final = "revoked"
"""Operation whose answer revokes a grant."""

Emit: TypeAlias = Callable[[Mapping[str, Json]], None]
"""Takes an event at once, in any thread, and never raises."""


class BeginRecord(Protocol):
    """Keeps that an activity begins, and what its events are so far."""

    def __call__(self, events: Sequence[Mapping[str, Json]] = (), /) -> Awaitable[None]: ...


async def _at_once() -> None:
    """Return: outside an engine nothing is kept."""


async def _keep_nothing(events: Sequence[Mapping[str, Json]] = (), /) -> None:
    """Do nothing: outside an engine there is no begun record."""


@frozen_record
class ActivityInfo:
    """The facts that an activity knows of its run and attempt."""

    run_id: str
    op: str
    attempt: int
    """The number of the attempt; the first is 1."""
    missed: int = 0
    """Attempts of processes that lacked what it needs, which are not counted by `attempt`."""
    emit: Emit = field(repr=False)
    """Takes a report of progress, best effort; may be called in any thread. It goes to those who listen in
    this process, and into no journal."""
    timeout: float | None = None
    """Seconds that the attempt has: of `CallOptions.timeout`, what is left after it waited to begin."""
    is_followed: Callable[[], bool] = field(default=bool, repr=False)
    """Returns whether further activities that the run has started are about to begin in this process, which
    wait for nobody's end."""
    begun: BeginRecord = field(default=_keep_nothing, repr=False)
    """Awaited immediately before an effect that must not happen twice, with `CallOptions.once`: it returns
    once the engine has kept that the activity begins now. The events are in the log of the run then, or will
    be although this process ends; each is there once, whichever attempt begins."""

    all_kept: Callable[[], Awaitable[None]] = field(default=_at_once, repr=False)
    """Awaited with `CallOptions.once` before an effect without `begun`: it returns once all that has led to
    the activity is kept. Without `once` the activity starts then."""

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt, in any process."""
        return f"{self.run_id}/{self.op}"


class RunContext(Protocol):
    """The operations of a loop. Each operation has a key of its own within the run."""

    @property
    def run_id(self) -> str: ...

    @property
    def has_room(self) -> bool:
        """Whether the engine has room for many more operations of this run; a loop ends where it has not."""
        ...

    def now(self) -> float:
        """Return the time of the newest recorded operation, in seconds since 1970."""
        ...

    def start(self, op: str, activity: str, arg: Json, options: CallOptions | None = None) -> Awaitable[Json]:
        """Start an activity at once and return an awaitable of its result.

        Raises:
            ActivityFailed: when awaited; all attempts failed.
            DuplicateOperationError: the key is taken.
        """
        ...

    async def child(self, op: str, loop: str, arg: Json) -> Json:
        """Run a child run, whose id is `<run id>/<op>`, and return its result.

        Raises:
            ActivityFailed: it failed or was canceled.
        """
        ...

    async def detach(self, op: str, loop: str, arg: Json) -> str:
        """Start a run that outlives this one, and return its id: `<run id>/<op>`.

        It is kept, and forgotten, by itself. Only when this run is canceled, it is canceled too.
        """
        ...

    async def gather(self, *awaitables: Awaitable[Json]) -> list[Json | ActivityFailed]:
        """Return all results in the order of the arguments, after the last one; nothing is cancelled."""
        ...

    def one_by_one(self) -> AbstractAsyncContextManager[None]:
        """Return what lets one part of the loop in at a time, in the order in which they came.

        That order follows from the loop, so that it is the same when an engine runs the loop again.
        """
        ...

    async def wait(
        self, op: str, *names: str, timeout_s: float | None = None, about: Json = None
    ) -> Signal | None:
        """Return the next unused signal of these names; None after `timeout_s` seconds.

        With `timeout_s=0` it takes what is there. While it waits the run is `waiting`, and `about` stands
        in `RunStatus.awaiting`. A run may wait for several things at once, each under its own key.
        Without names it sleeps, and the run is `running`. A wait for `answer_name(op)` gets the answer that
        `Engine.answer` takes for it.
        """
        ...

    async def publish(self, key: str, event: Mapping[str, Json]) -> None:
        """Append an event to the log of the run, once for a key however often the loop runs."""
        ...


Loop: TypeAlias = Callable[[RunContext, Any], Awaitable[Any]]
"""Takes and gives JSON."""
Activity: TypeAlias = Callable[[ActivityInfo, Any], Awaitable[Any]]
"""Takes and gives JSON."""


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
    """Keys of the operations that began with `CallOptions.once`, also of those that ended."""
    waits: Mapping[str, Json]
    """Subjects of the open waits, by their keys."""
    child_log: Callable[[str], Sequence[Mapping[str, Json]] | None] = lambda run_id: None
    """Returns the log of a child run, which is over, by its id; None where the engine does not have it."""


LastEvents: TypeAlias = Callable[[EndedRun], Iterable[Mapping[str, Json]]]
"""Returns what the log of a run lacks that ended without its loop. Pure."""
