"""Runs on Temporal as their histories tell them: status, waits, events and lists. No worker is needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from temporalio.client import (
    Client,
    WorkflowHandle,
    WorkflowHistory,
)

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime.engine import (
    EndedRun,
    LastEvents,
    NondeterminismError,
    PayloadGoneError,
    RunState,
    RunStatus,
    RunWait,
    UnknownRunError,
    WaitStatus,
    unknown_run,
)

from ..journal import Followers, log_key
from .documents import (
    SESSION,
    WORKFLOW,
    attribute,
)
from .failures import of_server
from .history import RunView
from .listing import ENDED, PAGE, RUNNING, newest_first
from .reader import HistoryReader
from .settings import WorkflowSettings

_AT_ONCE: Final = 20
"""Histories that are read side by side for a list."""
_TASK_S: Final = 1.0
"""For which a status waits for the end of a workflow task, before which the newest signals are not seen."""
_PAUSE_S: Final = 0.02
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

    def __init__(
        self,
        client: Client,
        settings: WorkflowSettings,
        followers: Followers,
        last_events: LastEvents | None,
    ) -> None:
        self.client = client
        self._settings = settings
        self._followers = followers
        self._last_events = last_events

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        """Return the status of a wait; None where none has begun under the key.

        Raises:
            UnknownRunError: no run has the id.
        """
        return (await self._view(run_id)).wait_status(op)

    async def kept_answer(self, run_id: str, op: str) -> Json:
        """Return the payload of the answer that counts for an operation; None while there is none.

        Raises:
            UnknownRunError: no run has the id.
        """
        answer = (await self._view(run_id)).answer(op)
        return None if answer is None else answer["payload"]

    async def open_waits(self, *, session: str | None, limit: int) -> tuple[RunWait, ...]:
        """Return the open waits with a subject, oldest run first, for which all running ones are listed."""
        found: list[RunWait] = []
        ids = [run_id async for run_id in self._listed([RUNNING], session)]
        for start in range(0, len(ids), _AT_ONCE):
            for run_id, view in await self._views(ids[::-1][start : start + _AT_ONCE]):
                waits = [one for one in view.awaiting if view.answer(one.op) is None]
                found += [RunWait(run_id=run_id, op=wait.op, about=wait.about) for wait in waits]
            if len(found) >= limit:
                break
        return tuple(found[:limit])

    async def status(self, run_id: str) -> RunStatus:
        """Return the status of a run.

        Raises:
            UnknownRunError: no run has the id.
        """
        return await self._status(run_id, await self._view_after_task(run_id))

    async def settled(self, run_id: str) -> RunStatus:
        """Return the status when the run is over, or waits and no child of it goes on.

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
            if reader.view.fault:  # the next page may say that the task has succeeded since
                self._require_no_fault(run_id, await self._view(run_id))
        return await self._status(run_id, reader.view)

    async def events(
        self, run_id: str, *, after: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        """Yield the log of a run; of one that the server ended, with the end that it lacks.

        Raises:
            UnknownRunError: no run has the id.
        """
        if not follow:
            for offset, event in self._log(await self._view(run_id), after):
                yield offset, event
            return
        await self._view(run_id)
        reader, offset = self._reader(run_id), after
        growing: asyncio.Task[bool] | None = None
        with self._followers.follow(run_id, offset) as reports:
            try:
                while True:
                    for number, event in self._log(reader.view, offset):
                        for report in reports.take_until(offset):
                            yield 0, report
                        offset = number
                        yield offset, event
                    for report in reports.take_until(offset):
                        yield 0, report
                    if reader.view.ending is not None:
                        return
                    growing = growing or asyncio.create_task(reader.grow())
                    news = asyncio.create_task(reports.wait())
                    try:
                        await asyncio.wait((growing, news), return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        news.cancel()
                    if growing.done():
                        growing.result()
                        growing = None
            finally:
                if growing is not None:
                    growing.cancel()

    async def list_runs(
        self, *, state: RunState | None, session: str | None, limit: int
    ) -> tuple[RunStatus, ...]:
        """Return runs, the newest first. The server lists a run some milliseconds after it began."""
        found: list[RunStatus] = []
        listed = self._listed(_STATES[state], session, expected=limit)
        most, is_at_end = min(_AT_ONCE, limit), False
        while len(found) < limit and not is_at_end:
            ids = [run_id async for run_id in _first(listed, most)]
            is_at_end = len(ids) < most
            statuses = [await self._status(run_id, view) for run_id, view in await self._views(ids)]
            fitting = [status for status in statuses if state in (None, status.state)]
            found += fitting
            # Where some do not fit, nobody knows how many have to be read: not one after the other then.
            most = min(_AT_ONCE, limit - len(found)) if len(fitting) == len(ids) else _AT_ONCE
        return tuple(found[: max(0, limit)])

    async def history(self, run_id: str) -> WorkflowHistory:
        """Return the whole history of a run.

        Raises:
            UnknownRunError: no run has the id.
        """
        with of_server(run_id):
            return await self._handle(run_id).fetch_history()

    def _id(self, run_id: str) -> str:
        return f"{self._settings.prefix}{run_id}"

    def _handle(self, run_id: str) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(self._id(run_id))

    def _reader(self, run_id: str) -> HistoryReader:
        return HistoryReader(self.client, self._id(run_id), run_id)

    async def _view(self, run_id: str) -> RunView:
        view = await self._reader(run_id).now() if run_id else RunView()
        if view.start is None:
            raise unknown_run(run_id)
        return view

    async def _view_after_task(self, run_id: str) -> RunView:
        """Return what the history says after the workflow task that a worker has in hand, or soon."""
        view = await self._view(run_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(_TASK_S):
                while view.is_in_task and view.ending is None:
                    await asyncio.sleep(_PAUSE_S)
                    view = await self._view(run_id)
        return view

    async def _views(self, ids: Sequence[str]) -> list[tuple[str, RunView]]:
        """Return what the histories say; one that was deleted meanwhile, or cannot be read, is left out."""
        views = await asyncio.gather(*(self._view(run_id) for run_id in ids), return_exceptions=True)
        found: list[tuple[str, RunView]] = []
        for run_id, view in zip(ids, views, strict=True):
            if isinstance(view, RunView):
                found.append((run_id, view))
            elif isinstance(view, PayloadGoneError):
                log.warning("it is not listed: %s", view)
            elif not isinstance(view, UnknownRunError):
                raise view
        return found

    async def _listed(
        self, statuses: Sequence[str], session: str | None, *, expected: int = PAGE
    ) -> AsyncIterator[str]:
        """Yield the ids of runs, the newest first; as `newest_first`."""
        query = f"WorkflowType = '{WORKFLOW}'"
        if session is not None:
            query += f" AND {SESSION} = {_quoted(attribute(session))}"
        prefix = self._settings.prefix
        if prefix:
            query += f" AND WorkflowId STARTS_WITH {_quoted(prefix)}"
        async for id_ in newest_first(self.client, query, statuses, expected=expected):
            if id_.startswith(prefix):
                yield id_.removeprefix(prefix)

    async def _status(self, run_id: str, view: RunView) -> RunStatus:
        if view.start is None:
            raise unknown_run(run_id)
        return RunStatus(
            run_id=run_id,
            state=await self._state(view),
            input=view.start["input"],
            output=view.output,
            error=view.error if view.ending is not None else view.fault,
            children=tuple(child.removeprefix(self._settings.prefix) for child in view.children),
            awaiting=view.awaiting,
            session=view.start["session"],
        )

    async def _state(self, view: RunView) -> RunState:
        if view.ending is not None:
            return view.ending
        if not view.is_idle:
            return "running"
        for below in view.open_children.values():
            try:
                child = await self._view(below.removeprefix(self._settings.prefix))
            except UnknownRunError:  # it is about to begin
                return "running"
            if await self._state(child) != "waiting":
                return "running"
        return "waiting"

    async def _open_below(self, run_id: str) -> list[str]:
        """Return the children of a run that are not over, and theirs.

        Raises:
            NondeterminismError: one of them, or the run, is stalled.
        """
        view = await self._view(run_id)
        self._require_no_fault(run_id, view)
        found: list[str] = []
        for child in view.open_children.values():
            below = child.removeprefix(self._settings.prefix)
            with suppress(UnknownRunError):  # it is about to begin
                found += [*await self._open_below(below), below]
        return found

    def _require_no_fault(self, run_id: str, view: RunView) -> None:
        if view.ending is None and view.is_gone:
            raise PayloadGoneError(f"run {run_id} is stalled: {view.fault}", hint="cancel it")
        if view.ending is None and view.fault:
            raise NondeterminismError(
                f"run {run_id} is stalled: {view.fault}",
                hint="cancel it, or go back to the version that began it",
            )

    def _log(self, view: RunView, after: int) -> list[tuple[int, Mapping[str, Json]]]:
        """Return the events of a run after an offset."""
        events = list(view.events)
        if view.ending is not None and not any(one.get("type") == "run_stream_end" for one in events):
            events += self._end_of(view)
        return list(enumerate(events, 1))[after:]

    def _end_of(self, view: RunView) -> list[Mapping[str, Json]]:
        """Return the end of the log of a run that the server ended without its loop."""
        assert view.start is not None, "every history begins with the start of its workflow"
        keys = {log_key(None, event) for event in view.events}
        last: list[Mapping[str, Json]] = []
        if self._last_events is not None:
            ended = EndedRun(
                input=view.start["input"],
                ending="canceled" if view.ending == "canceled" else "failed",
                reason=view.error,
                at=view.time,
                log=view.events,
                begun=view.begun,
                waits={
                    op: wait.about
                    for op, wait in view.waits.items()
                    if wait.is_open and wait.about is not None
                },
            )
            last += self._last_events(ended)
        last.append({"type": "run_completed", "status": view.ending or "", "error": view.error})
        last.append({"type": "run_stream_end"})
        return [event for event in last if log_key(None, event) is None or log_key(None, event) not in keys]


async def _first(ids: AsyncIterator[str], most: int) -> AsyncIterator[str]:
    """Yield the next ids, as many as there are up to a number of them."""
    for _ in range(most):
        try:
            yield await anext(ids)
        except StopAsyncIteration:
            return


def _quoted(text: str) -> str:
    """Return a text as a literal of a list query."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
