"""Activities on Temporal: one attempt, its heartbeats, and the record that it began."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError, Client
from temporalio.common import RawValue
from temporalio.converter import ActivitySerializationContext
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.stores import StoreError

from ..context import ActivityInfo
from ..errors import OUTCOME_UNKNOWN, EngineError, NotRegisteredError
from ..in_process.journal import Followers, digest, encode, notify
from ..in_process.operations import Progress, attempt_failure, error_text, log_cut_off
from .documents import BEGUN_RECORD, LOG, ActivityEnd, ActivityStart, LogPiece, SentBegun, received_piece
from .failures import ALL_LOST, LOST
from .payloads import OffloadingCodec, StoreAwayError, is_reference
from .reports import Reports
from .settings import EngineSettings

_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 10.0
"""Maximum number of seconds between two attempts to store a large result."""
_LOST_WORKERS: Final = 20
"""Extra attempts of an activity, for workers that ended while they executed it."""

_LOGGED: Final = ApplicationErrorCategory.BENIGN
"""Category of a failure that toolgen has logged and that is not a bug: the SDK logs no traceback."""

log = logger("toolgen.engines")


class Heartbeats:
    """Heartbeats of one attempt; with them the server detects a lost worker and delivers a cancellation."""

    def __init__(self, client: Client, every: timedelta, *, once: bool) -> None:
        self._client = client
        self._once = once
        self._context = _context_of(activity.info())
        self._converter = client.data_converter.with_context(self._context)
        self._every = every.total_seconds()
        details = activity.info().heartbeat_details
        self.has_begun = BEGUN_RECORD in details
        self.missed: int = next((detail for detail in details if isinstance(detail, int)), 0)
        """Number of attempts in workers that lacked something the activity needs."""
        self.is_canceled = False
        """Whether the server reported the cancellation in its reply to a record; the SDK might not know it
        yet."""
        self._is_stopped = False
        """Whether a reply before `begin` ended the attempt: its run was canceled, is over, was paused or
        reset."""
        self._in_turn = asyncio.Lock()

    @asynccontextmanager
    async def meanwhile(self) -> AsyncIterator[None]:
        """Send heartbeats inside the context."""
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            task.cancel()

    async def begin(self, events: Sequence[Mapping[str, Json]] = (), /) -> None:
        """Return once the server has stored that the activity begins now, and its events so far.

        Raises:
            asyncio.CancelledError: the run was canceled, or is over.
        """
        await self._tell_begun(events)
        await self.record_begin()

    async def record_begin(self) -> None:
        """Return once the server has stored, for the next attempt, that the activity begins now.

        Raises:
            asyncio.CancelledError: the run was canceled, or is over.
        """
        async with self._in_turn:
            if self._is_stopped:
                if not self.is_canceled:
                    await activity.wait_for_cancelled()
                raise asyncio.CancelledError
            self.has_begun = True
            await self._keep()

    async def miss(self) -> None:
        """Return once the server has stored that this worker lacks something the activity needs.

        Raises:
            asyncio.CancelledError: the run was canceled, or is over.
        """
        async with self._in_turn:
            self.missed += 1
            await self._keep()

    async def _keep(self) -> None:
        """Return once the server has stored the details for the next attempt.

        Raises:
            asyncio.CancelledError: the run was canceled, or is over.
        """
        activity.heartbeat(*self._details())  # replaces older details, which a failure would send with it
        await self._record()
        if self.is_canceled:
            raise asyncio.CancelledError

    async def _record(self) -> bool:
        """Send a heartbeat, and return whether the attempt continues after the server has it."""
        attempt = self._client.get_async_activity_handle(task_token=activity.info().task_token)
        try:
            await attempt.with_context(self._context).heartbeat(*self._details())
        except AsyncActivityCancelledError as error:
            self.is_canceled = error.details is not None and error.details.cancel_requested
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            self.is_canceled = True
        else:
            return True
        return False

    async def send(self, events: Sequence[Mapping[str, Json]] = (), /) -> None:
        """Return once the server has stored events of the activity, which its run appends to the log.

        Raises:
            asyncio.CancelledError: the run is over.
        """
        if events:
            await self._tell_begun(events)

    async def stored(self, end: ActivityEnd) -> ActivityEnd | RawValue:
        """Return an end, or its reference after storing it; retry while the large-value store is away.

        Otherwise the SDK would store it after the heartbeats stopped, and a failure would discard the
        finished work.
        """
        info, pause = activity.info(), _FIRST_PAUSE_S
        while isinstance(self._converter.payload_codec, OffloadingCodec):
            try:
                [payload] = await self._converter.encode([end])
            except StoreAwayError as error:
                log.warning(
                    "run %s: the result of %s waits to be stored: %s",
                    info.workflow_id,
                    info.activity_id,
                    error.message,
                )
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            else:
                return RawValue(payload) if is_reference(payload) else end
        return end

    async def _tell_begun(self, events: Sequence[Mapping[str, Json]]) -> None:
        """Send the run a signal that the activity begins now, with its events so far.

        Raises:
            asyncio.CancelledError: the run is over.
        """
        info = activity.info()
        sent: SentBegun = {"op": info.activity_id, "events": [dict(event) for event in events]}
        workflow = self._client.get_workflow_handle(info.workflow_id or "", run_id=info.workflow_run_id)
        try:
            await workflow.signal(BEGUN_RECORD, sent)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                self.is_canceled = True
                raise asyncio.CancelledError from error
            # The server accepts 10,000 signals per run. The record that it stores with the activity is
            # decisive.
            if events or error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            log.info("run %s: the start of %s was not recorded: %s", info.workflow_id, sent["op"], error)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            if self._once and not self.has_begun and not self._is_stopped:
                await self._beat_before_begin()
            else:
                activity.heartbeat(*self._details())

    async def _beat_before_begin(self) -> None:
        """Send a heartbeat that completes before the record of the beginning is sent.

        The SDK retries its own heartbeats while the server is away. One that arrives after the record would
        replace it. The SDK only learns from its own heartbeats that the attempt must end, so one follows in
        that case.
        """
        try:
            async with self._in_turn:
                self._is_stopped = not await self._record()
        except RPCError as error:
            info = activity.info()
            log.warning("run %s: %s sends no heartbeat: %s", info.workflow_id, info.activity_id, error)
        if self._is_stopped:
            activity.heartbeat(*self._details())

    def _details(self) -> list[str | int]:
        return [*([BEGUN_RECORD] if self.has_begun else []), *([self.missed] if self.missed else [])]


def _context_of(info: activity.Info) -> ActivitySerializationContext:
    """Return the context in which the SDK decodes the heartbeat details of an activity."""
    return ActivitySerializationContext(
        namespace=info.namespace,
        workflow_id=info.workflow_id,
        workflow_type=info.workflow_type,
        activity_type=info.activity_type,
        activity_id=info.activity_id,
        activity_task_queue=info.task_queue,
        is_local=info.is_local,
    )


class ActivityWorker:
    """Executes the activities of one process."""

    def __init__(
        self, client: Client, settings: EngineSettings, followers: Followers, reports: Reports
    ) -> None:
        self._client = client
        self._settings = settings
        self._followers = followers
        self._reports = reports

    def definitions(self) -> list[Callable[..., Any]]:
        """Return the activity definitions that an SDK worker registers."""

        @activity.defn(dynamic=True)
        async def perform(args: Sequence[RawValue]) -> ActivityEnd | RawValue:
            start: ActivityStart = activity.payload_converter().from_payload(args[0].payload)
            if activity.info().attempt == 1:
                self._notify_own_piece(args[1:])
            return await self._perform(start)

        @activity.defn(name=LOG)
        async def notify_piece(piece: RawValue) -> None:
            self._notify_own_piece([piece])

        return [perform, notify_piece]

    async def _perform(self, start: ActivityStart) -> ActivityEnd | RawValue:
        info = activity.info()
        run_id, op = (info.workflow_id or "").removeprefix(self._settings.prefix), info.activity_id
        beats = Heartbeats(self._client, self._settings.beat, once=start["once"])
        if start["once"] and beats.has_begun:
            log.warning("run %s: %s: %s: %s", run_id, op, OUTCOME_UNKNOWN, LOST)
            raise ApplicationError(LOST, type=OUTCOME_UNKNOWN, non_retryable=True, category=_LOGGED)
        attempt = info.attempt - beats.missed
        if attempt > start["attempts"] + _LOST_WORKERS:
            raise ApplicationError(ALL_LOST, type="failed", non_retryable=True)
        report = partial(self._report, run_id, start)
        soon = asyncio.get_running_loop().call_soon_threadsafe
        progress = Progress(run_id, op, partial(soon, report))
        activity_info = ActivityInfo(
            run_id=run_id,
            op=op,
            attempt=attempt,
            missed=beats.missed,
            emit=progress.emit,
            timeout=start["timeout"],
            begun=beats.begin if start["once"] else beats.send,
        )
        argument, _ = encode(start["argument"], f"the argument of the operation {op}")
        try:
            async with beats.meanwhile():
                value = await self._attempt(activity_info, start, beats)
                return await beats.stored({"argument_digest": digest(argument).hex(), "value": value})
        except asyncio.CancelledError:
            if _is_canceled():
                raise
            # The SDK does not know about the cancellation yet and would log it as a failure.
            raise ApplicationError(
                "it was canceled", type="canceled", non_retryable=True, category=_LOGGED
            ) from None
        finally:
            progress.is_open = False

    async def _attempt(self, info: ActivityInfo, start: ActivityStart, beats: Heartbeats) -> Json:
        """Return the result of one attempt.

        Raises:
            ApplicationError: it failed; its type is the kind of the failure.
            asyncio.CancelledError: the run was canceled, or this process is shutting down.
        """
        limit = asyncio.timeout(start["timeout"])
        try:
            function = self._settings.activities.get(start["activity"])
            if function is None:
                raise NotRegisteredError(f"no activity is registered as {start['activity']!r}")
            async with limit:
                result = await function(info, start["argument"])
            what = f"the result of {start['activity']} for the operation {info.op}"
            _, copy = encode(result, what, self._settings.limits.max_payload_bytes)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and (beats.is_canceled or _is_canceled()):
                if activity.is_worker_shutdown():
                    is_unknown = start["once"] and beats.has_begun
                    log_cut_off(info.run_id, info.op, activity.info().activity_type, is_unknown=is_unknown)
                raise
            if _is_elsewhere(error) and not beats.has_begun:
                raise await self._missed(info, start, beats, error) from None
            raise self._failure(info, start, beats, error, is_late=limit.expired()) from None
        value: Json = copy
        return value

    async def _missed(
        self, info: ActivityInfo, start: ActivityStart, beats: Heartbeats, error: BaseException
    ) -> ApplicationError:
        """Return the failure of an attempt whose worker lacks something; others follow until the timeout."""
        message, began = error_text(error), activity.info().scheduled_time
        if isinstance(error, StoreError):
            log.warning("run %s: %s waits for a store: %s", info.run_id, info.op, error)
            message = error.public_text
        waited_s = (datetime.now(UTC) - began).total_seconds()
        if start["timeout"] is not None and waited_s >= start["timeout"]:
            message = f"{message}, nor by another worker within {start['timeout']:g} seconds"
            log.error("run %s: %s failed: %s", info.run_id, info.op, message)
            return ApplicationError(message, type="timeout", non_retryable=True)
        await beats.miss()
        log.warning("run %s: %s: %s; it is left to another worker", info.run_id, info.op, message)
        return ApplicationError(message, type=type(error).__name__, category=_LOGGED)

    def _failure(
        self,
        info: ActivityInfo,
        start: ActivityStart,
        beats: Heartbeats,
        error: BaseException,
        *,
        is_late: bool,
    ) -> ApplicationError:
        kind, message, is_last = attempt_failure(
            info,
            error,
            limit_s=start["timeout"] if is_late else None,
            has_begun=start["once"] and beats.has_begun,
            is_last=info.attempt >= start["attempts"] or isinstance(error, EngineError),
        )
        return ApplicationError(message, type=kind, non_retryable=is_last)

    def _notify_own_piece(self, pieces: Sequence[RawValue]) -> None:
        """Notify listeners of a log piece, unless it is malformed or belongs to another run."""
        if not pieces:
            return
        workflow_id = activity.info().workflow_id
        try:
            piece = received_piece([activity.payload_converter().from_payload(pieces[0].payload)])
        except ApplicationError as error:  # the history has the events anyway
            log.warning("%s; listeners miss events", error.message)
            return
        if piece is None:
            log.warning("the workflow %s returned a malformed log entry", workflow_id)
        elif workflow_id == f"{self._settings.prefix}{piece['run_id']}":
            self._notify(piece)
        else:
            log.warning("the workflow %s returned a log entry of another run", workflow_id)

    def _notify(self, piece: LogPiece) -> None:
        """Notify the listeners of this process of the events in a log piece."""
        events = [entry["event"] for entry in piece["entries"] if "event" in entry]
        for offset, event in enumerate(events, piece["after"] + 1):
            notify(self._settings.on_event, piece["run_id"], piece["loop"], offset, event)
            if event.get("type") == "run_stream_end":
                self._followers.forget(piece["run_id"])

    def _report(self, run_id: str, start: ActivityStart, event: Mapping[str, Json]) -> None:
        """Pass a report to the followers of the run, and to the listener of this process."""
        self._reports.publish(run_id, start["logged"], event)
        notify(self._settings.on_event, run_id, start["loop"], 0, event)


def _is_elsewhere(error: BaseException) -> bool:
    """Return whether a later attempt or another worker might have what is missing, such as a store."""
    return isinstance(error, NotRegisteredError) or (isinstance(error, StoreError) and error.is_temporary)


def _is_canceled() -> bool:
    """Return whether the server or a shutdown cancels this task; a task that cancels itself has failed."""
    details = activity.cancellation_details()
    return details is not None or activity.is_cancelled() or activity.is_worker_shutdown()
