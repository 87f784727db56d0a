"""Protocols of an engine, of its optional parts, and of its payload store and report channel."""

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
    """Features of an engine."""

    is_durable: bool
    """Whether runs survive the end of the process."""
    has_many_workers: bool
    max_payload_bytes: int | None = None
    """Maximum size of the JSON of one argument or result, in bytes; None without a limit."""


OnEvent: TypeAlias = Callable[[str, str, int, Mapping[str, Json]], None]
"""Receives the run id, the name of the loop, the offset and the event, once the event is in the log. A report
is in no log and has offset 0. Must not block or raise."""
OnForget: TypeAlias = Callable[[Sequence[ForgottenRun]], Awaitable[None]]
"""Receives finished runs before their engine deletes them, and deletes their data in other stores. If it
raises, or the process ends meanwhile, the engine keeps the runs and passes them again."""


@runtime_checkable
class ErasingEngine(Protocol):
    """Engine whose runs can be deleted before their retention ends."""

    async def forget_session(self, session: str) -> int:
        """Delete the finished runs of a session, with their children, and return their number.

        If the file of an engine can still contain their records afterwards, the engine has a method `vacuum`,
        which rewrites the file.
        """
        ...


WorkerRole = Literal["all", "runs", "activities"]
"""Work that a worker executes: loops and activities, only loops, or only activities."""

DRAIN_S: Final = 30.0
"""Default number of seconds that activities have to end before a worker stops."""


@runtime_checkable
class QueueEngine(Protocol):
    """Engine whose workers take their work from queues."""

    def assign(
        self, *, queues: Collection[str] = (), role: WorkerRole = "all", drain_s: float = DRAIN_S
    ) -> None:
        """Set the queues and the role of the worker in this process, before it starts.

        Without queues, the worker serves the default queues of the engine. `close` accepts no new work and
        waits at most `drain_s` seconds for activities to end.

        Raises:
            EngineError: the worker has started, or no queue has one of these names.
        """
        ...


@runtime_checkable
class DrainingEngine(Protocol):
    """Engine that can wait for its activities before `close`; not needed if `close` itself waits for them."""

    async def drain(self, seconds: float) -> bool:
        """Start no further activity attempts, and wait until the running ones have ended.

        Return whether they have ended; False after this many seconds. The next worker begins the activities
        that were not started. Afterwards you can only call `close`, which cancels and logs the running
        attempts, or `drain` again.
        """
        ...

    @property
    def is_draining(self) -> bool:
        """Whether the engine was drained, and not closed since."""
        ...


@runtime_checkable
class ClockEngine(Protocol):
    """Engine that does not trust a wall clock that is far ahead of all its records."""

    @property
    def held_s(self) -> float:
        """Seconds by which the clock of the runs is held behind the wall clock; 0.0 if it is not held."""
        ...

    async def release_clock(self) -> None:
        """Trust the current wall clock: waits and timeouts that are over by it end."""
        ...


class PayloadStore(Protocol):
    """Stores bytes by reference. An engine with a small history uses it for large values, encrypted or not.

    Each method is one atomic step across all processes.
    """

    async def put(self, data: bytes, *, owner: str = "") -> str:
        """Store data and return its reference; equal data has the same reference.

        `owner` is the name under which `forget` erases the data, for example the id of a workflow; "" for
        none. Data of two owners is stored once for each.
        """
        ...

    async def get(self, ref: str) -> bytes:
        """Return the data of a reference.

        Raises:
            PayloadGoneError: it was erased or pruned, or never stored.
        """
        ...

    async def forget(self, owner: str) -> int:
        """Erase all data stored for an owner, and return the number of payloads.

        Raises:
            ValueError: the owner is "".
        """
        ...


class ReportChannel(Protocol):
    """Carries reports, for example pieces of text, to current subscribers in other processes; stores nothing.

    Delivery is best effort. An engine drops messages that are not sent fast enough, so that no run waits for
    a channel.
    """

    async def send(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Send messages of at most 64 KiB, each to the subscribers of its topic, in order.

        One engine sends at most a hundred messages at once, and sends no others before this returns. The
        engine logs an exception that it raises.
        """
        ...

    def listen(self, topic: str, take: Callable[[bytes], None]) -> AbstractAsyncContextManager[None]:
        """Call `take` with each message of a topic inside the context, including messages from this object.

        The context is entered once messages arrive, and it reconnects automatically.
        """
        ...


class Engine(Protocol):
    """Executes runs."""

    @property
    def name(self) -> str: ...

    @property
    def id(self) -> str:
        """Id shared by all processes that share runs, and by no other engine."""
        ...

    @property
    def caps(self) -> EngineCaps: ...

    @property
    def is_worker(self) -> bool:
        """Whether this process currently executes runs."""
        ...

    def secret(self, *, create: bool = True) -> bytes | None:
        """Return the secret that seals suspended calls, stored with the runs; None if the host must pass it.

        Without `create`, it is also None if no secret exists yet, or no longer exists.
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

        The mappings are read when a run is started or executed, so you can extend them while this process
        executes no runs.

        Raises:
            EngineError: they are already registered.
        """
        ...

    async def start(self, *, worker: bool = True, only: Collection[str] | None = None) -> None:
        """Start executing runs; without `worker`, only start, signal and watch runs. Idempotent.

        With `only`, this process executes these runs and the runs that they start, and no other existing run.
        If another worker owns the runs, this process is a client. You can pass another set later.

        Raises:
            EngineError: another worker owns the runs, and no set is passed.
        """
        ...

    async def close(self) -> None:
        """Stop executing. This neither fails nor cancels runs."""
        ...

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        """Start a run, unless a run with this id exists. `list_runs` can filter it by its session."""
        ...

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        """Send a signal to a run, now or before it waits; a second signal with the same id is dropped.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str, session: str = "") -> Receipt:
        """Answer the wait of an operation, open or not begun; only one answer counts, across all processes.

        Answers with the same `key` are the same answer. An engine that stores conversations in the same file
        stores the answer only if `session` has not ended, in one transaction; other engines ignore sessions.

        Raises:
            UnknownRunError: no run has the id.
            WaitOverError: the wait ended without an answer, the run is over, or the session has ended.
            UnsettledAnswerError: it is unknown whether the answer counts; you can send it again.
        """
        ...

    async def accepted_answer(self, run_id: str, op: str) -> Json:
        """Return the payload of the accepted answer to an operation; None if there is none.

        Unlike `wait_status`, it also finds the answer to a wait that has not begun, or never will.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        """Return the status of a wait; None if no wait has begun under the key.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        """Return the open waits that have a subject, of all runs or of one session, oldest first."""
        ...

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        """Cancel a run and its children, including suspended ones; no effect on a run that is over.

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
        """Return the status when the run is over, or when it waits and no child of it is running.

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

        Reports of its activities come between them, with the offset 0: all reports of this process, and from
        other processes those that reach this one. Without `follow`, only the existing events are yielded.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, after: str = "", limit: int = 100
    ) -> tuple[RunStatus, ...]:
        """Return runs, newest first; with `after`, the runs that follow this one, and none if it is gone."""
        ...
