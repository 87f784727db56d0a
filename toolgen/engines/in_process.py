"""The engine without a server: a task for each run, and a journal in memory or in a SQLite file."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import (
    Activity,
    EngineCaps,
    LastEvents,
    Loop,
    OnEvent,
    OnForget,
    Receipt,
    RunState,
    RunStatus,
    RunWait,
    WaitStatus,
)

from .client import Client, closed_error, registered_error
from .journal import encode
from .live_run import CallLater, Timer
from .memory import MemoryClient

if TYPE_CHECKING:
    from toolgen.runtime.stores.batched_file import BatchedFile


class SteadyClock:
    """Wall time at its construction, plus the monotonic time since then.

    So a wall clock that is set anew in between moves no deadline.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._offset = wall() - monotonic()

    def __call__(self) -> float:
        return self._offset + self._monotonic()


def call_later(delay_s: float, callback: Callable[[], None]) -> Timer:
    """Call back by the clock of the event loop."""
    return asyncio.get_running_loop().call_later(delay_s, callback)


class InProcessEngine:
    """Executes runs in this process and this event loop.

    Without a path they end with the process. With one they go on when the next process opens the file: one
    worker at a time executes them, and any number of clients starts, signals and watches them.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        worker: bool = True,
        synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
        keep_runs: int = 1000,
        keep_s: float | None = None,
        max_payload_bytes: int | None = None,
        clock: Callable[[], float] | None = None,
        call_later: CallLater = call_later,
    ) -> None:
        """Construct an engine.

        Args:
            path: The file that keeps the runs, made where it is missing; None keeps them in memory.
            worker: Whether `start` executes runs; without, this engine is a client of the worker of its file.
            synchronous: What a run that was kept survives: NORMAL the end of the process, FULL a loss of
                power too.
            keep_runs: How many runs that are over are kept, with their children; a file may have some more.
            keep_s: How long they are kept, in seconds; None for ever. Only in a file.
            max_payload_bytes: The most bytes of JSON of one argument, result or signal.
            clock: Gives seconds since 1970; by default the wall clock of now, and what has passed since.
            call_later: Ends the waits of runs and the pauses between attempts; by default asyncio does.

        Raises:
            StoreError: the file cannot be opened, or it is something else; the class says why.
        """
        self._wall = clock or SteadyClock()
        self._max_payload_bytes = max_payload_bytes
        self._may_work = worker
        self._path = None if path is None else Path(path).absolute()
        self._is_registered = False
        self._is_closed = False
        self._secret: bytes | None = None
        self._client: Client
        if self._path is None:
            self._client = MemoryClient(
                keep_runs, clock=self._wall, call_later=call_later, max_payload_bytes=max_payload_bytes
            )
        else:
            from .file_client import FileClient  # SQLite is for those who keep runs in a file

            self._client = FileClient(
                self._path,
                synchronous=synchronous,
                keep_runs=keep_runs,
                keep_s=keep_s,
                clock=self._wall,
                call_later=call_later,
                max_payload_bytes=max_payload_bytes,
            )
        self._runs = self._client.runs
        self.name, self.id = "in-process", self._client.id
        self._caps = EngineCaps(
            is_durable=self._path is not None, has_many_workers=False, max_payload_bytes=max_payload_bytes
        )

    @property
    def caps(self) -> EngineCaps:
        return self._caps

    @property
    def file(self) -> BatchedFile | None:
        """The file of the runs, which has tables for conversations too; None in memory.

        What is put into it by an activity is committed before its end, or with it.
        """
        return self._client.file

    @property
    def is_worker(self) -> bool:
        return self._runs.is_working

    def secret(self, *, create: bool = True) -> bytes | None:
        """Return the secret that seals what waits: of a file, the content of `<path>.key`.

        Raises:
            StoreError: the key file cannot be read or made, or is not for this user alone.
        """
        if self._secret is None and self._path is not None:
            from toolgen.runtime.stores.key_file import create_key, read_key

            key_file = self._path.with_name(f"{self._path.name}.key")
            self._secret = read_key(key_file)
            if self._secret is None and create:
                self._secret = create_key(key_file)
        elif self._secret is None:
            self._secret = secrets.token_bytes(32)
        return self._secret

    def register(
        self,
        *,
        loops: Mapping[str, Loop],
        activities: Mapping[str, Activity],
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        on_forget: OnForget | None = None,
    ) -> None:
        if self._is_registered:
            raise registered_error()
        self._is_registered = True
        self._runs.register(loops, activities, on_event, last_events)
        if on_forget is not None:
            self._client.tell_forgotten(on_forget)

    async def start(self, *, worker: bool = True, only: Collection[str] | None = None) -> None:
        """Start to execute, also runs left by `close`; they get the current context variables.

        With `only` these runs and what they start; where another worker has the file, it executes them.

        Raises:
            EngineError: another worker has the file, or another event loop has the engine.
            StoreError: the file cannot be used.
        """
        self._runs.tasks.require_loop()
        self._is_closed = False
        await self._client.start(worker=worker and self._may_work, only=only)

    async def drain(self, seconds: float) -> bool:
        """Start no further activity, and wait until those that run have ended; as `DrainingEngine`.

        Raises:
            EngineError: the engine is closed, or another event loop has it.
        """
        self._require_open()
        return await self._runs.activities.drain(seconds)

    @property
    def held_s(self) -> float:
        """The seconds by which the wall clock is ahead of that of the runs, which does not trust it."""
        return self._client.held_s

    async def release_clock(self) -> None:
        """Trust the wall clock of now, however far it is ahead of the newest time of the file.

        Raises:
            EngineError: the engine is closed, or another event loop has it.
            StoreError: the file cannot be used.
        """
        self._require_open()
        await self._client.release_clock(self._wall())

    async def check(self) -> tuple[str, ...]:
        """Return what of the file is damaged, as `CheckedEngine`.

        Raises:
            EngineError: the engine is closed, or another event loop has it.
            StoreError: the file cannot be read.
        """
        self._require_open()
        return await self._client.check()

    async def close(self) -> None:
        """Stop executing, within about a second; a later `start` resumes from the journal."""
        if not self._is_closed:
            self._is_closed = True
            await self._client.close()

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        """Start a run, at the latest when the engine starts.

        Raises:
            EngineError: no loop has the name, the input is not JSON, or the engine is closed.
        """
        self._require_open()
        text, _ = encode(arg, f"the input of run {run_id}", self._max_payload_bytes)
        await self._client.start_run(loop, text, run_id=run_id, session=session)

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        self._require_open()
        what = f"the payload of the signal {name} to run {run_id}"
        text, _ = encode(payload, what, self._max_payload_bytes)
        await self._client.signal(run_id, name, text, signal_id=signal_id)

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str) -> Receipt:
        self._require_open()
        text, _ = encode(payload, f"the answer to {op} of run {run_id}", self._max_payload_bytes)
        return await self._client.answer(run_id, op, text, key=key)

    async def kept_answer(self, run_id: str, op: str) -> Json:
        return await self._client.kept_answer(run_id, op)

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        return await self._client.wait_status(run_id, op)

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        return await self._client.open_waits(session=session, limit=limit)

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        self._require_open()
        await self._client.cancel(run_id, reason)

    async def forget_session(self, session: str) -> int:
        """Drop the runs of a session that are over, with their children; return how many.

        In a file, it is rewritten without them, and its write-ahead log emptied.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        return await self._client.forget_session(session)

    async def status(self, run_id: str) -> RunStatus:
        return await self._client.status(run_id)

    async def settled(self, run_id: str) -> RunStatus:
        return await self._client.status_when(run_id, may_wait=True)

    async def result(self, run_id: str) -> RunStatus:
        return await self._client.status_when(run_id, may_wait=False)

    def events(
        self, run_id: str, *, after: int = 0, follow: bool = True
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        return self._client.events(run_id, after=max(0, after), follow=follow)

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, limit: int = 100
    ) -> tuple[RunStatus, ...]:
        return await self._client.list_runs(state=state, session=session, limit=limit)

    async def replay(self, run_id: str) -> Json:
        """Run the loop of a completed run again from the journal, without activities, and return its output.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the run is not completed.
            NondeterminismError: the loop does or returns something else than the first time.
        """
        return await self._runs.replay(self._client.record(run_id))

    def _require_open(self) -> None:
        self._runs.tasks.require_loop()
        if self._is_closed:
            raise closed_error()
