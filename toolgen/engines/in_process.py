"""The engine that needs nothing: one asyncio task for each run, and a journal in memory."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import (
    Activity,
    EngineCaps,
    EngineError,
    LastEvents,
    Loop,
    OnEvent,
    OpenWait,
    Receipt,
    RunState,
    RunStatus,
    WaitOverError,
    WaitStatus,
    answer_name,
    unknown_run,
)

from .journal import RunRecord, SignalRecord
from .memory_journal import MemoryJournal
from .payloads import NULL, decode, encode
from .run import Run
from .runs import Runs
from .timers import CallLater, call_later


class InProcessEngine:
    """Executes runs in this process and this event loop; they end with the process."""

    def __init__(
        self,
        *,
        keep_runs: int = 1000,
        max_payload_bytes: int | None = None,
        clock: Callable[[], float] = time.time,
        call_later: CallLater = call_later,
    ) -> None:
        """Make an engine.

        Args:
            keep_runs: How many runs that are over are remembered, with their children.
            max_payload_bytes: The most bytes of JSON of one argument, result or signal.
            clock: Gives seconds since 1970.
            call_later: Ends the waits of runs and the pauses between attempts; by default asyncio does.
        """
        self._journal = MemoryJournal(keep_runs)
        self._runs = Runs(self._journal, clock, call_later, max_payload_bytes)
        self._id = f"memory_{uuid.uuid4().hex}"
        self._secret = secrets.token_bytes(32)
        self._is_registered = False
        self._is_closed = False

    @property
    def name(self) -> str:
        return "in-process"

    @property
    def id(self) -> str:
        return self._id

    @property
    def caps(self) -> EngineCaps:
        return EngineCaps(
            is_durable=False, has_many_workers=False, max_payload_bytes=self._runs.max_payload_bytes
        )

    def secret(self) -> bytes | None:
        return self._secret

    def register(
        self,
        *,
        loops: Mapping[str, Loop],
        activities: Mapping[str, Activity],
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
    ) -> None:
        if self._is_registered:
            raise EngineError("this engine has its loops and activities already; it belongs to one runtime")
        self._is_registered = True
        self._runs.register(loops, activities, on_event, last_events)

    async def start(self, *, worker: bool = True) -> None:
        """Begin to execute, also what `close` has left; all runs have the context variables of now."""
        self._is_closed = False
        self._runs.start(worker=worker)

    async def close(self) -> None:
        """Stop executing, within about a second; a later `start` goes on from the journal."""
        if not self._is_closed:
            self._is_closed = True
            await self._runs.close()

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        """Start a run, at the latest when the engine starts.

        Raises:
            EngineError: no loop has the name, the input is not JSON, or the engine is closed.
        """
        self._require_open()
        if self._journal.find(run_id) is None:
            text, _ = encode(arg, f"the input of run {run_id}", self._runs.max_payload_bytes)
            self._runs.open(loop, text, run_id, session=session)

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        self._require_open()
        record = self._record(run_id)
        if record.ending is None and signal_id not in record.signals:
            what = f"the payload of the signal {name} to run {run_id}"
            text, _ = encode(payload, what, self._runs.max_payload_bytes)
            self._runs.deliver(record, SignalRecord(signal_id, name, text))

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str) -> Receipt:
        self._require_open()
        record, name = self._record(run_id), answer_name(op)
        kept = record.signals.get(name)
        if kept is not None:
            return "same" if kept.key == key else "conflict"
        if record.ending is not None or op in record.ops:
            raise WaitOverError(f"nothing waits for an answer to {op} of run {run_id} any more")
        what = f"the answer to {op} of run {run_id}"
        text, _ = encode(payload, what, self._runs.max_payload_bytes)
        self._runs.deliver(record, SignalRecord(name, name, text, key=key))
        return "accepted" if self._runs.is_working else "recorded"

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        record = self._record(run_id)
        wait, answer = record.waits.get(op), record.signals.get(answer_name(op))
        if wait is None:
            return None
        return WaitStatus(
            about=decode(wait.about),
            is_open=answer is None and record.ending is None and op not in record.ops,
            answer=None if answer is None else decode(answer.payload),
        )

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        self._require_open()
        self._runs.cancel(self._record(run_id), reason)

    async def status(self, run_id: str) -> RunStatus:
        return self._status(self._record(run_id))

    async def settled(self, run_id: str) -> RunStatus:
        record = self._record(run_id)
        while record.ending is None:
            run = self._live(record)
            if run.is_parked:
                break
            await run.turned.wait()
        return self._status(record)

    async def result(self, run_id: str) -> RunStatus:
        record = self._record(run_id)
        while record.ending is None:
            await self._live(record).turned.wait()
        return self._status(record)

    def events(
        self, run_id: str, *, after: int = 0, follow: bool = True
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        return self._follow(self._record(run_id), max(0, after), follow)

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, limit: int = 100
    ) -> tuple[RunStatus, ...]:
        found: list[RunStatus] = []
        for record in self._journal.newest():
            if len(found) >= limit:
                break
            if session in (None, record.session) and state in (None, self._state(record)):
                found.append(self._status(record))
        return tuple(found)

    async def replay(self, run_id: str) -> Json:
        """Run the loop of a completed run again from the journal, without activities, and return its output.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the run is not completed.
            NondeterminismError: the loop does or returns something else than the first time.
        """
        return await self._runs.replay(self._record(run_id))

    async def _follow(
        self, record: RunRecord, offset: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        while True:
            while offset < len(record.events):
                offset += 1
                yield offset, decode(record.events[offset - 1])
            if record.ending is not None or not follow:
                return
            await self._live(record).appended.wait()

    def _record(self, run_id: str) -> RunRecord:
        record = self._journal.find(run_id)
        if record is None:
            raise unknown_run(run_id)
        return record

    def _live(self, record: RunRecord) -> Run:
        self._require_open()
        return self._runs.run_of(record)

    def _require_open(self) -> None:
        if self._is_closed:
            raise EngineError("the engine is closed", hint="start it again")

    def _state(self, record: RunRecord) -> RunState:
        if record.ending is not None:
            return record.ending
        is_waiting = not self._is_closed and self._runs.run_of(record).is_parked
        return "waiting" if is_waiting else "running"

    def _status(self, record: RunRecord) -> RunStatus:
        waits = self._runs.run_of(record).waits.values() if record.ending is None else ()
        return RunStatus(
            run_id=record.run_id,
            state=self._state(record),
            input=decode(record.input),
            output=decode(record.output),
            error=record.error,
            children=tuple(record.children),
            awaiting=tuple(
                OpenWait(op=wait.op, about=decode(wait.about)) for wait in waits if wait.about != NULL
            ),
            session=record.session,
        )
