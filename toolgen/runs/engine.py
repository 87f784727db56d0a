"""The protocol of an engine, of what a loop may do on it, and of what an activity knows of its place."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from toolgen.contract.json_value import Json

from .errors import ActivityFailed
from .statuses import ForgottenRun, LostJournal, Receipt, RunState, RunStatus, RunWait, Signal, WaitStatus

if TYPE_CHECKING:
    from toolgen.stores.batched_file import BatchedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCaps:
    """The features of an engine."""

    is_durable: bool
    """Runs survive the process."""
    has_many_workers: bool
    max_payload_bytes: int | None = None
    """The most bytes of JSON of one argument or result; None without a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """How an engine treats one activity. Times are seconds."""

    attempts: int = 3
    """In all, for failures of the infrastructure; a tool's errors are data in its result."""
    backoff: float = 0.2
    """Before the second attempt; it doubles."""
    timeout: float | None = None
    """Of one attempt."""
    once: bool = False
    """Nothing is tried again after `ActivityInfo.begun`. When the process ends after it, or the time, and no
    result was kept, the operation ends as `outcome_unknown`."""


answer_name: Final[Callable[[str], str]] = "answer:{}".format
"""Returns the name of the signal that answers the wait of an operation."""

Emit: TypeAlias = Callable[[Mapping[str, Json]], None]
"""Takes an event at once, in any thread, and never raises."""


class Begun(Protocol):
    """Keeps that an activity begins, and what its events are so far."""

    def __call__(self, events: Sequence[Mapping[str, Json]] = (), /) -> Awaitable[None]: ...


async def _begun(events: Sequence[Mapping[str, Json]] = (), /) -> None:
    """Do nothing: outside an engine there is no begun record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityInfo:
    """The facts that an activity knows of its run and attempt."""

    run_id: str
    op: str
    attempt: int
    """From 1."""
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
    begun: Begun = field(default=_begun, repr=False)
    """Awaited immediately before an effect that must not happen twice, with `CallOptions.once`: it returns
    once the engine has kept that the activity begins now. The events are in the log of the run then, or will
    be although this process ends; each is there once, whichever attempt begins."""

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
OnEvent: TypeAlias = Callable[[str, str, int, Mapping[str, Json]], None]
"""Gets the id of the run, the name of its loop, the offset and the event, once it is in the log; of a report,
which is in none, the offset 0. Must not block or raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run that was canceled, or whose loop failed."""

    input: Any
    ending: Literal["failed", "canceled"]
    reason: str
    """Why it was canceled, or has failed."""
    at: float
    """Seconds since 1970."""
    log: Sequence[Mapping[str, Json]]
    begun: Set[str]
    """Keys of the operations that began with `CallOptions.once`, also of those that ended."""
    waits: Mapping[str, Json]
    """By the keys of the waits with a subject that were open, what each was about."""
    child_log: Callable[[str], Sequence[Mapping[str, Json]] | None] = lambda run_id: None
    """Returns the log of a child run, which is over, by its id; None where the engine does not have it."""


LastEvents: TypeAlias = Callable[[EndedRun], Sequence[Mapping[str, Json]]]
"""Returns what the log of a run lacks that ended without its loop. Pure."""
OnForget: TypeAlias = Callable[[Sequence[ForgottenRun]], Awaitable[None]]
"""Gets runs that are over, before their engine forgets them, and drops what they left elsewhere. Where it
raises, or the process ends meanwhile, the runs stay, and it gets them again."""


@runtime_checkable
class ErasingEngine(Protocol):
    """An engine whose runs can be dropped before their time."""

    async def forget_session(self, session: str) -> int:
        """Drop the runs of a session that are over, with their children; return how many.

        An engine whose file may hold their records afterwards has a method `vacuum`, which rewrites it.
        """
        ...


WorkerRole = Literal["all", "runs", "activities"]
"""What a worker executes: loops and activities, loops alone, or activities alone."""

DRAIN_S: Final = 30.0
"""Seconds that activities have to end before a worker ends, where nobody says."""


@runtime_checkable
class QueueEngine(Protocol):
    """An engine whose workers take their work from queues."""

    def assign(
        self, *, queues: Collection[str] = (), role: WorkerRole = "all", drain_s: float = DRAIN_S
    ) -> None:
        """Set which queues the worker of this process serves, and what of them, before it starts.

        Without queues it serves those that the engine has by default. `close` takes nothing new, and lets
        activities end for at most `drain_s` seconds.

        Raises:
            EngineError: the worker has started, or no queue has such a name.
        """
        ...


@runtime_checkable
class DrainingEngine(Protocol):
    """An engine that lets its activities end before it is closed; one whose `close` does that is none."""

    async def drain(self, seconds: float) -> bool:
        """Start no further attempt at an activity, and wait until those that run have ended.

        Return whether they have; False after so many seconds. What was not started is begun by the next
        worker. After it come only `close`, which cuts off and logs what still runs, and another `drain`.
        """
        ...

    @property
    def is_draining(self) -> bool:
        """Whether it was drained, and not closed since."""
        ...


@runtime_checkable
class ClockEngine(Protocol):
    """An engine that trusts no wall clock that is far ahead of all that it has kept."""

    @property
    def held_s(self) -> float:
        """The seconds by which the clock of its runs is held behind the wall clock; 0.0 while it is not."""
        ...

    async def release_clock(self) -> None:
        """Trust the wall clock of now: what it says is over ends."""
        ...


@runtime_checkable
class RestoringEngine(Protocol):
    """An engine that executes nothing after its journal was lost or replaced, until somebody accepts that."""

    async def restore(self) -> LostJournal | None:
        """Accept the journal as it is, and return what is known of the one before; None where it is the same.

        Raises:
            EngineError: a worker executes the runs, or they are in memory.
            StoreError: the journal cannot be used.
        """
        ...


@runtime_checkable
class CheckedEngine(Protocol):
    """An engine that can check what it has kept."""

    async def check(self) -> tuple[str, ...]:
        """Return what is damaged, each a sentence that names a run or the file; nothing is changed.

        Raises:
            StoreError: it cannot be read at all.
        """
        ...

    def describe(self) -> tuple[str, ...]:
        """Return in a sentence each who executes the runs, and where the secret is that seals what waits."""
        ...


@runtime_checkable
class FileEngine(Protocol):
    """An engine that may keep its runs in a file which has tables for their conversations too."""

    @property
    def file(self) -> BatchedFile | None:
        """The file of the runs; None where they are in memory."""
        ...


class Engine(Protocol):
    """Executes runs."""

    @property
    def name(self) -> str: ...

    @property
    def id(self) -> str:
        """The same for all processes that share runs, and for no other engine."""
        ...

    @property
    def caps(self) -> EngineCaps: ...

    @property
    def is_worker(self) -> bool:
        """Whether this process executes runs now."""
        ...

    def secret(self, *, create: bool = True) -> bytes | None:
        """Return the secret that seals what waits, stored beside the runs; None where the host must give one.

        Without `create` it is None too where there is none yet, or none any more.
        """
        ...

    def register(
        self,
        *,
        loops: Mapping[str, Loop],
        activities: Mapping[str, Activity],
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        on_forget: OnForget | None = None,
    ) -> None:
        """Register the loops and activities that runs execute, before the first run starts.

        The mappings are read when a run is started or executed: while this process executes none, more may
        be added to them.

        Raises:
            EngineError: it is done already.
        """
        ...

    async def start(self, *, worker: bool = True, only: Collection[str] | None = None) -> None:
        """Start to execute; without `worker` only start, signal and watch runs. Idempotent.

        With `only` this process executes these runs and what they start, and no other that was there before;
        where another worker has the runs, it is a client. Another set may be given later.

        Raises:
            EngineError: another worker has the runs, and no set is given.
        """
        ...

    async def close(self) -> None:
        """Stop executing. Runs are neither failed nor canceled by it."""
        ...

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        """Start a run; one that has the id already is left alone. It can be listed by its session."""
        ...

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        """Send a signal to a run, now or before it waits; a second signal of the same id is dropped.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str) -> Receipt:
        """Answer the wait of an operation, open or not begun; one answer counts, over all processes.

        Answers with the same `key` are the same answer.

        Raises:
            UnknownRunError: no run has the id.
            WaitOverError: the wait ended without an answer, or the run is over.
            UnsettledAnswerError: nobody knows yet whether the answer counts; it may be given again.
        """
        ...

    async def kept_answer(self, run_id: str, op: str) -> Json:
        """Return the payload of the answer that counts for an operation; None while there is none.

        Unlike `wait_status` it also knows the answer to a wait that has not begun, and never will.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        """Return the status of a wait; None where none has begun under the key.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        """Return the open waits with a subject, of all runs or of a session, oldest first."""
        ...

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        """Cancel a run and its children, waiting ones too; no effect on a run that is over.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def status(self, run_id: str) -> RunStatus:
        """Return the status of a run.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def settled(self, run_id: str) -> RunStatus:
        """Return the status when the run is over, or waits and no child of it goes on.

        Raises:
            UnknownRunError: no run has the id.
            NondeterminismError: the run, or a child of it, is stalled in this process.
        """
        ...

    async def result(self, run_id: str) -> RunStatus:
        """Return the status when the run is over.

        Raises:
            UnknownRunError: no run has the id.
            NondeterminismError: as `settled`.
        """
        ...

    def events(
        self, run_id: str, *, after: int = 0, follow: bool = True
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        """Yield the events of a run with their offsets, from 1 without gaps, to its `run_stream_end`.

        Between them comes what its activities report in this process meanwhile, with the offset 0. Without
        `follow` only the events that are there now.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, limit: int = 100
    ) -> tuple[RunStatus, ...]:
        """Return runs, the newest first."""
        ...
