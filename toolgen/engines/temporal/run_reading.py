"""Runs on Temporal, read from their histories: status, waits, events and lists. No worker is needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal

from temporalio.client import Client, WorkflowHandle, WorkflowHistory

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger

from ..context import EndedRun
from ..errors import NondeterminismError, PayloadGoneError, UnknownRunError
from ..in_process.journal import Events, Followers, log_key
from ..in_process.operations import ending_events, ignore_exception
from ..statuses import RunState, RunStatus, RunWait, WaitStatus
from .documents import NOTHING, WAITS
from .failures import of_server
from .history import RunView
from .listing import ENDED, PAGE, RUNNING, first, newest_first, oldest_first, runs_query
from .reader import Description, HistoryReader
from .settings import EngineSettings

_AT_ONCE: Final = 20
"""Number of histories that are read concurrently for a list."""
_TASK_S: Final = 1.0
"""Seconds that a status waits for the end of a workflow task, which hides new signals until then."""
_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
_LOOKS: Final = 10
"""Maximum number of repeated reads if a run progresses between reading its description and its history."""
_STATES: Final[Mapping[RunState | None, Sequence[str]]] = {
    None: (RUNNING, ENDED),
    "running": (RUNNING,),
    "waiting": (RUNNING,),
    "completed": ("ExecutionStatus = 'Completed'",),
    "failed": ("ExecutionStatus IN ('Failed', 'TimedOut')",),
    "canceled": ("ExecutionStatus IN ('Canceled', 'Terminated')",),
}

log = logger("toolgen.engines")


class RunReading:
    """Reads the runs of an engine."""

    def __init__(self, client: Client, settings: EngineSettings, followers: Followers) -> None:
        self.client = client
        self._settings = settings
        self._followers = followers

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        """Return the status of a wait; None if no wait has begun under the key.

        Raises:
            UnknownRunError: no run has the id.
        """
        return (await self._view_of(run_id, op)).wait_status(op)

    async def accepted_answer(self, run_id: str, op: str) -> Json:
        """Return the payload of the accepted answer to an operation; None if there is none.

        Raises:
            UnknownRunError: no run has the id.
        """
        answer = (await self._view(run_id)).answer(op)
        return None if answer is None else answer["payload"]

    async def open_waits(self, *, session: str | None, limit: int) -> tuple[RunWait, ...]:
        """Return the open waits with a subject, oldest run first.

        Without `session`, it only reads the runs that the server lists with an open wait, which takes the
        server some milliseconds after the wait began.
        """
        query, waits = runs_query(self._settings.prefix, session), list[RunWait]()
        if session is None:
            query += f" AND {WAITS} != '{NOTHING}'"
        listed = self._own(oldest_first(self.client, query))
        while ids := [run_id async for run_id in first(listed, min(_AT_ONCE, limit - len(waits)))]:
            for run_id, (view, _) in await self._views(ids):
                unanswered = [wait for wait in view.awaiting if view.answer(wait.op) is None]
                waits += [RunWait(run_id=run_id, op=wait.op, about=wait.about) for wait in unanswered]
        return tuple(waits[:limit])

    async def status(self, run_id: str) -> RunStatus:
        """Return the status of a run.

        Raises:
            UnknownRunError: no run has the id.
        """
        now = await self._now(run_id, await self._described_after_task(run_id))
        return self._status_of(run_id, *now)

    async def settled(self, run_id: str) -> RunStatus:
        """Return the status when the run is over, or when it waits and no child of it is running.

        Raises:
            UnknownRunError: no run has the id.
            NondeterminismError: the run, or a child of it, is stalled.
        """
        readers = {run_id: self._reader(run_id)}
        growing: dict[str, asyncio.Task[bool]] = {}
        try:
            while True:
                status = await self.status(run_id)
                if status.is_over or status.state == "waiting":
                    return status
                for below in await self._open_below(run_id):
                    readers.setdefault(below, self._reader(below))
                for id_, reader in readers.items():
                    if id_ not in growing or growing[id_].done():
                        growing[id_] = asyncio.create_task(reader.grow())
                done, _ = await asyncio.wait(growing.values(), return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
                growing = {id_: task for id_, task in growing.items() if task not in done}
                readers = {id_: reader for id_, reader in readers.items() if reader.view.ending is None}
        finally:
            for task in growing.values():
                task.cancel()

    async def result(self, run_id: str) -> RunStatus:
        """Return the status when the run is over.

        Raises:
            UnknownRunError: no run has the id.
            NondeterminismError: as `settled`.
        """
        reader = self._reader(run_id)
        while reader.view.ending is None and await reader.grow():
            if reader.view.fault:  # the next page can show that a retry of the task has succeeded
                self._require_no_fault(run_id, await self._view(run_id))
        return self._status_of(run_id, reader.view, reader.view.ending or "running")

    async def events(
        self, run_id: str, *, after: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        """Yield the log of a run; if the server ended the run, also the missing last events.

        Raises:
            UnknownRunError: no run has the id.
        """
        reader = self._reader(run_id, waits=follow)
        if not follow:
            for numbered in self._log(run_id, await reader.to_end(), after):
                yield numbered
            return
        await reader.grow()
        growing = asyncio.create_task(_read_on(reader, partial(self._followers.wake, run_id)))
        growing.add_done_callback(ignore_exception)

        def read(offset: int) -> Events:
            return reader.view.ending is not None, self._log(run_id, reader.view, offset)

        def require_news() -> None:
            if growing.done():
                growing.result()

        try:
            async for numbered in self._followers.events(run_id, read, after, require_news):
                yield numbered
        finally:
            growing.cancel()

    async def list_runs(
        self, *, state: RunState | None, session: str | None, after: str, limit: int
    ) -> tuple[RunStatus, ...]:
        """Return runs, newest first. The server lists a run some milliseconds after it began."""
        statuses: list[RunStatus] = []
        listed = self._listed(_STATES[state], session, after, expected=limit)
        most, is_at_end = min(_AT_ONCE, limit), False
        while len(statuses) < limit and not is_at_end:
            ids = [run_id async for run_id in first(listed, most)]
            is_at_end = len(ids) < most
            views = await self._views(ids)
            page = [self._status_of(run_id, view, now) for run_id, (view, now) in views]
            fitting = [status for status in page if state in (None, status.state)]
            statuses += fitting
            # If some runs do not match, the number of runs to read is unknown, so they are read in full
            # batches.
            most = min(_AT_ONCE, limit - len(statuses)) if len(fitting) == len(ids) else _AT_ONCE
        return tuple(statuses[: max(0, limit)])

    async def history(self, run_id: str) -> WorkflowHistory:
        """Return the complete history of a run.

        Raises:
            UnknownRunError: no run has the id.
        """
        with of_server(run_id):
            return await self._handle(run_id).fetch_history()

    def _id(self, run_id: str) -> str:
        return f"{self._settings.prefix}{run_id}"

    def _handle(self, run_id: str) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(self._id(run_id))

    def _reader(self, run_id: str, *, waits: bool = True) -> HistoryReader:
        return HistoryReader(self.client, self._settings.prefix, run_id, waits=waits)

    async def _view(self, run_id: str) -> RunView:
        return await self._reader(run_id, waits=False).to_end()

    async def _view_of(self, run_id: str, op: str) -> RunView:
        """Return a view with the current state of a wait; if the wait is open, without reading the history.

        Raises:
            UnknownRunError: no run has the id.
        """
        reader = self._reader(run_id)
        view = await reader.brief(await reader.described())
        return view if view is not None and op in view.waits else await self._view(run_id)

    async def _described_after_task(self, run_id: str, most_s: float = _TASK_S) -> Description:
        """Return the description of a run once no worker executes its loop, or after this many seconds.

        Raises:
            UnknownRunError: no run has the id.
        """
        reader = self._reader(run_id)
        described = await reader.described()
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                pause = _PAUSE_S
                while described.is_in_task:
                    await asyncio.sleep(pause)
                    pause = min(1.5 * pause, _LONGEST_PAUSE_S)
                    described = await reader.described()
        return described

    async def _now(
        self, run_id: str, described: Description | None = None, *, looks: int = _LOOKS
    ) -> tuple[RunView, RunState]:
        """Return the view of a run, without its history if possible, and its state at that moment.

        Raises:
            UnknownRunError: no run has the id.
        """
        reader = self._reader(run_id)
        described = described or await reader.described()
        view = await reader.brief(described) or await self._view(run_id)
        if view.ending is None and described.is_idle and view.length > described.length:
            # The history was read later, so its waits can differ from the waits for which the run was idle.
            return await self._now(run_id, looks=looks - 1) if looks else (view, "running")
        return view, view.ending or await self._state(view, described)

    async def _views(self, ids: Sequence[str]) -> list[tuple[str, tuple[RunView, RunState]]]:
        """Return views and states of runs; leave out a run that was deleted meanwhile or cannot be read."""
        views = await asyncio.gather(*(self._now(run_id) for run_id in ids), return_exceptions=True)
        readable: list[tuple[str, tuple[RunView, RunState]]] = []
        for run_id, view in zip(ids, views, strict=True):
            if isinstance(view, tuple):
                readable.append((run_id, view))
            elif isinstance(view, PayloadGoneError):
                log.warning("it is not listed: %s", view)
            elif not isinstance(view, UnknownRunError):
                raise view
        return readable

    async def _listed(
        self, statuses: Sequence[str], session: str | None, after: str = "", *, expected: int = PAGE
    ) -> AsyncIterator[str]:
        """Yield the ids of runs, newest first, after one of them; as `newest_first`."""
        query, place = runs_query(self._settings.prefix, session), None
        if after:
            try:
                described = await self._reader(after).described()
            except UnknownRunError:
                return
            place = described.started_at, self._id(after)
        ids = newest_first(self.client, query, statuses, after=place, expected=expected)
        async for run_id in self._own(ids):
            yield run_id

    async def _own(self, ids: AsyncIterator[str]) -> AsyncIterator[str]:
        """Yield the run ids of workflow ids."""
        async for id_ in ids:
            if id_.startswith(self._settings.prefix):
                yield id_.removeprefix(self._settings.prefix)

    def _status_of(self, run_id: str, view: RunView, state: RunState) -> RunStatus:
        assert view.start is not None, "it is known to be a run"
        return RunStatus(
            run_id=run_id,
            state=state,
            input=view.start["input"],
            output=view.output,
            error=view.error if view.ending is not None else view.fault,
            children=tuple(view.children),
            awaiting=view.awaiting,
            session=view.start["session"],
        )

    async def _state(self, view: RunView, described: Description) -> RunState:
        children = described.open_children
        has_waits = any(wait.is_open for wait in view.waits.values())
        if not described.is_idle or view.is_asleep or not (has_waits or children):
            return "running"
        for below in children:
            try:
                _, state = await self._now(below)
            except UnknownRunError:  # the child is about to begin
                return "running"
            if state != "waiting":
                return "running"
        return "waiting"

    async def _open_below(self, run_id: str) -> list[str]:
        """Return the unfinished descendants of a run.

        Raises:
            NondeterminismError: one of them, or the run, is stalled.
        """
        described = await self._reader(run_id).described()
        if described.has_failed_task:
            self._require_no_fault(run_id, await self._view(run_id))
        ids: list[str] = []
        for below in described.open_children:
            with suppress(UnknownRunError):  # the child is about to begin
                ids += [*await self._open_below(below), below]
        return ids

    def _require_no_fault(self, run_id: str, view: RunView) -> None:
        if view.ending is None and view.is_gone:
            raise PayloadGoneError(f"run {run_id} is stalled: {view.fault}", hint="cancel it")
        if view.ending is None and view.fault:
            raise NondeterminismError(
                f"run {run_id} is stalled: {view.fault}",
                hint="cancel it, or go back to the version that started it",
            )

    def _log(self, run_id: str, view: RunView, after: int) -> list[tuple[int, Mapping[str, Json]]]:
        """Return the events of a run after an offset."""
        events = list(view.events)
        if view.ending is not None and not any(event.get("type") == "run_stream_end" for event in events):
            events += self._end_of(run_id, view)
        return list(enumerate(events, 1))[after:]

    def _end_of(self, run_id: str, view: RunView) -> list[Mapping[str, Json]]:
        """Return the last events of the log of a run that the server ended without its loop."""
        assert view.start is not None, "it is known to be a run"
        ending: Literal["canceled", "failed"] = "canceled" if view.ending == "canceled" else "failed"
        ended = partial(
            EndedRun,
            input=view.start["input"],
            ending=ending,
            reason=view.error,
            at=view.time,
            log=view.events,
            begun=view.begun_ops,
            waits=view.subjects,
        )
        keys = {log_key(None, event) for event in view.events} - {None}
        last = ending_events(run_id, ending, view.error, self._settings.last_events, ended)
        return [event for event in last if log_key(None, event) not in keys]


async def _read_on(reader: HistoryReader, tell: Callable[[], None]) -> None:
    """Read until the run is over; call `tell` after each page, and at the end or a failure."""
    try:
        while reader.view.ending is None and await reader.grow():
            tell()
    finally:
        tell()
