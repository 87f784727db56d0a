"""The protocols of an engine, of its optional parts, and of the stores and codecs for its values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .context import Activity, LastEvents, Loop
from .statuses import ForgottenRun, Receipt, RunState, RunStatus, RunWait, WaitStatus


@frozen_record
class EngineCaps:
    """The features of an engine."""

    is_durable: bool
    """Runs survive the process."""
    has_many_workers: bool
    max_payload_bytes: int | None = None
    """The most bytes of JSON of one argument or result; None without a limit."""


OnEvent: TypeAlias = Callable[[str, str, int, Mapping[str, Json]], None]
"""Gets the id of the run, the name of its loop, the offset and the event, once it is in the log; of a report,
which is in none, the offset 0. Must not block or raise."""
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
"""Work of a worker: loops and activities, only loops, or only activities."""

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


class PayloadStore(Protocol):
    """Keeps bytes by reference; an engine whose history is small gives it what is large, encrypted or not.

    Each method is one atomic step, over all processes.
    """

    async def put(self, data: bytes, *, owner: str = "") -> str:
        """Store data and return its reference; the same data has the same reference.

        `owner` is what it is erased with, such as the id of a workflow; "" for none. Data of two owners is
        stored for each.
        """
        ...

    async def get(self, ref: str) -> bytes:
        """Return the data of a reference.

        Raises:
            PayloadGoneError: it was erased or pruned, or never stored.
        """
        ...

    async def forget(self, owner: str) -> int:
        """Erase what was stored for an owner; return how many payloads it were.

        Raises:
            ValueError: the owner is "".
        """
        ...


class ReportChannel(Protocol):
    """Carries reports, such as pieces of text, to processes that listen now: best effort, and none is kept.

    An engine drops what is not sent fast enough, so that no run waits for a channel.
    """

    async def send(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Send messages of at most 64 KiB, each to those who listen to its topic, in their order.

        One engine sends at most a hundred at once, and no others before it has returned. What it raises is
        logged.
        """
        ...

    def listen(self, topic: str, take: Callable[[bytes], None]) -> AbstractAsyncContextManager[None]:
        """Call `take` with each message of a topic meanwhile, also with those that this object sends.

        It is entered once messages come, and connects again by itself.
        """
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

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str, session: str = "") -> Receipt:
        """Answer the wait of an operation, open or not begun; one answer counts, over all processes.

        Answers with the same `key` are the same answer. An engine whose file has the conversations too stores
        the answer only if `session` has not ended, which is one transaction; others do not know sessions.

        Raises:
            UnknownRunError: no run has the id.
            WaitOverError: the wait ended without an answer, the run is over, or the session has ended.
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

        Between them comes what its activities report meanwhile, with the offset 0: in this process all of it,
        of another one what that passes on. Without `follow` only the events that are there now.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, after: str = "", limit: int = 100
    ) -> tuple[RunStatus, ...]:
        """Return runs, the newest first; with `after`, those after this run, and none where it is gone."""
        ...
