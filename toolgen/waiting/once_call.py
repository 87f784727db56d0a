"""Calls of runs that must not run twice: records of their beginning, late ends, and resolutions."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from weakref import ref

from toolgen.calls.errors import OutcomeUnknownError, ToolError
from toolgen.calls.results import ToolResult, WithoutResult
from toolgen.calls.steps.result_encoding import encode_result
from toolgen.contract.boundary import Outcome, Raised, Returned
from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.contract.secrets import hiding
from toolgen.contract.tasks import start_task
from toolgen.stores.outages import until_back

if TYPE_CHECKING:
    from toolgen.calls.steps.frame import Frame
    from toolgen.calls.steps.registered_tool import RegisteredTool
    from toolgen.contract.json_value import Json
    from toolgen.contract.secrets import Secrets

Settle: TypeAlias = "Callable[[Resolution], Awaitable[None]]"
"""Stores the outcome of a call after it was recorded as unknown."""

BY_ITSELF: Final = "the call itself, which ended late"
"""Name recorded as the source of an outcome that a late executor reported."""

log = logger("toolgen.runtime")


@frozen_record
class CallRecorder:
    """Callbacks of an activity for a call that must not run twice."""

    record_begin: Callable[[], Awaitable[None]]
    """Persists that the executor begins."""
    settle: Settle
    """Stores the outcome of the call."""
    late_ends: LateEnds

    def watch(self, frame: Frame) -> None:
        """Record the beginning and the late end of a call that is about to be dispatched."""
        if not frame.tool.may_repeat:
            call = WatchedCall(self, frame)
            frame.record_begin, frame.give_up = call.begin, call.give_up
            frame.tool = call.watched(frame.tool)


class WatchedCall:
    """A call whose executor reports its end here; if the call was given up, that settles its outcome.

    Its frame refers to it, so it refers to its frame only while the executor runs. Otherwise each call would
    leave a reference cycle of fifty objects to the garbage collector.
    """

    def __init__(self, recorder: CallRecorder, frame: Frame) -> None:
        self._recorder = recorder
        self._frame = ref(frame)
        self._loop = asyncio.get_running_loop()
        self._is_given_up = False
        self._outcome: Outcome[Any] | None = None

    async def begin(self) -> None:
        """Record that the executor begins now, unless it reports the beginning itself."""
        frame = self._running()
        if frame.tool.begins_itself:
            frame.context.on_begin = self._recorder.record_begin
        else:
            await self._recorder.record_begin()

    def watched(self, tool: RegisteredTool) -> RegisteredTool:
        """Return the tool with an executor that reports its end here."""
        watched = object.__new__(type(tool))  # `copy.copy` takes many times as long
        vars(watched).update(vars(tool))
        watched.execute = self._in_loop(tool.execute) if tool.is_async else self._in_thread(tool.execute)
        return watched

    def give_up(self) -> None:
        """Settle the call with the past or future end of its executor, as nothing awaits the call now."""
        self._is_given_up = True
        if self._outcome is not None:
            self._settle_by(self._running(), self._outcome)

    def _running(self) -> Frame:
        """Return the frame while its call is dispatched."""
        frame = self._frame()
        assert frame is not None, "a dispatched call has its frame"
        return frame

    def _in_loop(self, execute: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def run(frame: Frame, arguments: Any) -> Any:
            return await self._awaited(frame, execute(*arguments))

        return lambda *arguments: run(self._running(), arguments)

    def _in_thread(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            frame = self._running()
            try:
                value = execute(*arguments)
            except BaseException as error:
                self._report_end(frame, Raised(error=error))
                raise
            if inspect.isawaitable(value):
                return self._awaited(frame, value)
            self._report_end(frame, Returned(value=value))
            return value

        return run

    async def _awaited(self, frame: Frame, work: Awaitable[Any]) -> Any:
        try:
            value = await work
        except BaseException as error:
            if not _is_cut():  # otherwise it shows how the task was canceled, not how the call ended
                self._ended(frame, Raised(error=error))
            elif isinstance(error, ToolError):
                self._settle_by(frame, Raised(error=error))
            raise
        if _is_cut():
            self._settle_by(frame, Returned(value=value))
        else:
            self._ended(frame, Returned(value=value))
        return value

    def _report_end(self, frame: Frame, outcome: Outcome[Any]) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._ended, frame, outcome)

    def _ended(self, frame: Frame, outcome: Outcome[Any]) -> None:
        self._outcome = outcome
        if self._is_given_up:
            self._settle_by(frame, outcome)

    def _settle_by(self, frame: Frame, outcome: Outcome[Any]) -> None:
        resolution = _resolution(frame, outcome)
        if resolution is not None:
            log.info("%s ended after its call was given up", frame.spec.id)
            settle, late_ends = self._recorder.settle, self._recorder.late_ends
            late_ends.settle(frame.spec.id, resolution, settle, frame.secrets)


def _resolution(frame: Frame, outcome: Outcome[Any]) -> Resolution | None:
    """Return the outcome of the call; None if the executor does not determine it."""
    if isinstance(outcome, Raised):
        return _failure(frame, outcome.error)
    value = outcome.value
    if isinstance(value, ToolResult):  # the result of a raw executor
        if value.error is not None:
            return _failure(frame, value.error)
        value = value.result
    if isinstance(value, WithoutResult):
        return None
    try:
        document = encode_result(frame.spec, value, frame.meta).json
    except Exception as error:  # noqa: BLE001 - a result of the author's that cannot be encoded; it is recorded as the failure
        return _failure(frame, error)
    return Resolution(outcome="result", result=json.loads(document))


def _failure(frame: Frame, error: BaseException) -> Resolution | None:
    if isinstance(error, OutcomeUnknownError | asyncio.CancelledError | KeyboardInterrupt):
        return None
    return Resolution(outcome="failed", message=str(frame.failed_result(error).error))


def _is_cut() -> bool:
    """Return whether the running task was canceled, by its time limit or with its caller."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class LateEnds:
    """Settles the late calls of one runtime in the background."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def open(self) -> None:
        """Settle calls from now on, even after `close`."""
        self._is_closed = False

    def settle(
        self, tool: str, resolution: Resolution, settle: Settle, secrets: Secrets | None = None
    ) -> None:
        """Start storing the outcome of a call; after `close`, the outcome stays unknown.

        Sensitive values of the call are redacted for people.
        """
        if self._is_closed:
            log.warning("%s ended after its runtime was closed, so its outcome stays unknown", tool)
            return
        work = _settled(tool, resolution, settle, secrets)
        start_task(self._tasks, work, name=f"late end of {tool}")

    async def close(self) -> None:
        """Stop; the outcome of unsettled calls stays unknown."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _settled(tool: str, resolution: Resolution, settle: Settle, secrets: Secrets | None) -> None:
    with hiding(secrets):
        try:
            await until_back(partial(settle, resolution), f"the late end of {tool}")
        except ResolveError as error:  # another resolution was stored first
            log.info("the late result of %s was not needed: %s", tool, error)
        except ToolgenError as error:  # for example, the engine is closed
            log.warning("the late result of %s was not stored, so its outcome stays unknown: %s", tool, error)
        except Exception:
            log.exception("the late result of %s was not stored, so its outcome stays unknown", tool)


class ResolveError(ToolgenError):
    """The resolution was rejected; the message says why, and nothing has changed."""


class UnfitResultError(ResolveError):
    """The result does not fit the tool."""


@frozen_record
class Resolution:
    """The outcome of a call, as determined by a person."""

    outcome: Literal["result", "failed", "not_run"]
    result: Json = None
    """Result of a successful call, in the form of its tool's result schema."""
    message: str = ""
    """Error message for the model, if the call failed."""
