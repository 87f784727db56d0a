"""Operations of a loop: used keys, concurrent parts, failures, and results that nothing awaits."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from inspect import CORO_CREATED, getcoroutinestate
from typing import Any, Final, Literal

from toolgen.contract.json_value import Json
from toolgen.contract.logs import log_failure, logger
from toolgen.stores import StoreError

from ..context import ActivityInfo, EndedRun, LastEvents
from ..errors import OUTCOME_UNKNOWN, ActivityFailed, DuplicateOperationError, EngineError, NonRetryableError
from .journal import RunRecord, decode, encode
from .live_run import Awake, LiveRun

_TOOL: Final = re.compile(r"[\w.:/-]{1,200}")
"""Pattern of activity names; a model can request a tool with any name."""

EXIT: Final = "the loop raised an exception that ends the process"
"""Error message that replaces such an exception."""

log = logger("toolgen.engines")


def duplicate_operation(run_id: str, op: str) -> DuplicateOperationError:
    """Return the error for an operation whose key another operation of the run uses."""
    return DuplicateOperationError(
        f"the loop of run {run_id} uses the key {op!r} for two operations; "
        "this is a bug of the loop, please report it"
    )


async def result_or_failure(awaitable: Awaitable[Json]) -> Json | ActivityFailed:
    """Await one argument of `RunContext.gather`, and return its result, or its failure as a value."""
    try:
        return await awaitable
    except ActivityFailed as failure:
        return failure
    except SystemExit as error:  # raised from a task, it would end the event loop
        raise RuntimeError(EXIT) from error


def cancel_gathered(tasks: Iterable[asyncio.Task[object]], awaitables: Iterable[Awaitable[Json]]) -> None:
    """Cancel the tasks of gathered awaitables, including awaitables that have not begun."""
    for task in tasks:
        task.cancel()
    for awaitable in awaitables:
        if isinstance(awaitable, Coroutine) and getcoroutinestate(awaitable) == CORO_CREATED:
            awaitable.close()  # its task ends before it begins


def activity_name(activity: str, arg: Json) -> str:
    """Return the name of an activity in logs: for a tool call, the id of the tool."""
    match arg:
        case {"call": {"tool": str(tool)}} if activity == "tool" and _TOOL.fullmatch(tool):
            return tool
        case _:
            return activity


def log_cut_off(run_id: str, op: str, activity: str, *, is_unknown: bool, is_durable: bool = True) -> None:
    """Log that an attempt did not end before its worker, and how the run continues."""
    then = "another worker executes it again" if is_durable else "its run ends with this process"
    if is_unknown:
        then = "its outcome is unknown"
    log.warning(
        "run %s: %s of %s did not end before its worker and was cut off; %s", run_id, op, activity, then
    )


def ignore_exception(end: asyncio.Future[Any]) -> None:
    """Mark the exception of a future as retrieved, so that asyncio does not log it if nothing awaits it."""
    if not end.cancelled():
        end.exception()


def error_text(error: BaseException) -> str:
    """Return the text of an exception, even if its `__str__` fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a class of the author's
        return "its text cannot be read"


def timed_out(limit_s: float) -> tuple[str, str]:
    """Return the failure kind and the message of an activity that timed out."""
    return "timeout", f"no answer within {limit_s:g} seconds"


def attempt_failure(
    info: ActivityInfo, error: BaseException, *, limit_s: float | None, has_begun: bool, is_last: bool
) -> tuple[str, str, bool]:
    """Log that an attempt failed, and return the kind of the failure, its message, and whether it is final.

    Args:
        info: The attempt.
        error: The exception that it raised.
        limit_s: The time limit of the attempt in seconds, if it was exceeded.
        has_begun: Whether it began an effect that must not happen twice.
        is_last: Whether no attempt is left.
    """
    kind, message = (type(error).__name__, error_text(error)) if limit_s is None else timed_out(limit_s)
    if limit_s is None and isinstance(error, StoreError):
        message = error.public_text  # the loop can show the text to a model
    is_last = is_last or has_begun or isinstance(error, NonRetryableError | SystemExit)
    kind = OUTCOME_UNKNOWN if has_begun else kind
    # An intentional error needs only its message; other errors need the traceback of their origin.
    trace = None if isinstance(error, NonRetryableError) else error
    level = logging.ERROR if is_last else logging.WARNING
    log.log(level, "run %s: %s failed: %s: %s", info.run_id, info.op, kind, message, exc_info=trace)
    return kind, message, is_last


def failure_text(run_id: str, problem: BaseException, correlation_id: str = "") -> str:
    """Log why a run failed, and return the public message; for a bug, only a correlation id."""
    match problem:
        case ActivityFailed():
            log.error("run %s failed", run_id, exc_info=problem)
            return error_text(problem)
        case EngineError():
            log.error("run %s failed", run_id, exc_info=problem)
            return problem.message
        case _:
            reference = log_failure(log, problem, "run %s failed", run_id, correlation_id=correlation_id)
            return f"the run failed with an internal error (reference {reference})"


def ended_run(
    record: RunRecord,
    ending: Literal["failed", "canceled"],
    reason: str,
    at: float,
    begun_ops: Set[str],
    find: Callable[[str], RunRecord | None],
) -> EndedRun:
    """Return the facts about a run that ended without its loop; `find` returns the record of a child run."""

    def child_log(run_id: str) -> list[Mapping[str, Json]] | None:
        child = find(run_id) if run_id in record.children else None
        return None if child is None else _log(child)

    return EndedRun(
        input=decode(record.input),
        ending=ending,
        reason=reason,
        at=at,
        log=_log(record),
        begun=begun_ops,
        waits={op: _subject(wait.about) for op, wait in record.waits.items() if op not in record.ops},
        child_log=child_log,
    )


def ending_events(
    run_id: str, ending: str, reason: str, last_events: LastEvents | None, ended: Callable[[], EndedRun]
) -> list[Mapping[str, Json]]:
    """Return the last events of the log of a run that ended without its loop, from the facts of `ended`."""
    events: list[Mapping[str, Json]] = []
    if last_events is not None:
        try:
            for event in last_events(ended()):  # if one fails, the earlier ones are appended
                events.append(encode(event, "an event")[1])
        except Exception:
            log.exception("run %s: its last events were not appended to its log", run_id)
    return [*events, {"type": "run_completed", "status": ending, "error": reason}, {"type": "run_stream_end"}]


def _log(record: RunRecord) -> list[Mapping[str, Json]]:
    return [decode(text) for text in record.events]


def _subject(text: bytes) -> Json:
    """Return the subject of a wait; None if the stored text is no longer JSON."""
    try:
        subject: Json = decode(text)
    except ValueError:
        return None
    return subject


def is_shutdown(run: LiveRun) -> bool:
    """Return whether the event loop is shutting down; a task that only cancels itself has failed."""
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    if run.task is None or run.task.done() or run.task.cancelling():
        return True
    while task.cancelling():
        task.uncancel()
    return False


class Progress:
    """Passes on the reports of an attempt while it runs."""

    __slots__ = ("_op", "_publish", "_run_id", "is_open")

    def __init__(self, run_id: str, op: str, publish: Callable[[Mapping[str, Any]], object]) -> None:
        """Construct it, open for reports; `publish` receives copies of reports, from any thread."""
        self._run_id = run_id
        self._op = op
        self._publish = publish
        self.is_open = True

    def emit(self, event: Mapping[str, Json]) -> None:
        """Publish a report, from any thread; drop it if it is not JSON or comes late."""
        if not self.is_open:
            return
        try:
            _, copy = encode(dict(event), f"an event of the operation {self._op}")
            self._publish(copy)
        except Exception:
            log.exception("run %s: an event of %s was lost", self._run_id, self._op)


class OneByOne:
    """Admits one part of a loop at a time, in order of arrival."""

    __slots__ = ("_awake", "_is_taken", "_waiting")

    def __init__(self, awake: Awake) -> None:
        self._awake = awake
        self._is_taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._is_taken and not await self._awake.wait(self._waiting):
            self._leave()
            raise asyncio.CancelledError
        self._is_taken = True

    async def __aexit__(self, *raised: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._is_taken = self._awake.wake_next(self._waiting)


class Gathering:
    """Parts of a loop that another part waits for, until all have ended or one has failed."""

    __slots__ = ("_awake", "_is_over", "_parts", "_started", "_unfinished")

    def __init__(self, awake: Awake, parts: int) -> None:
        """Construct the gathering of this many parts, which are about to begin."""
        self._awake = awake
        self._parts = self._unfinished = parts
        self._started = 0
        self._is_over = False
        awake.wake(parts)

    @contextmanager
    def part(self) -> Iterator[None]:
        """Count one part from its start to its end."""
        if self._started < self._parts:
            self._started += 1
            self._awake.rest()
        is_failed = True
        try:
            yield
            is_failed = False
        finally:
            self._unfinished -= 1
            if not self._is_over and (is_failed or not self._unfinished):
                self._is_over = True
                self._awake.wake()  # the part that waits for the others

    async def ended(self, tasks: Iterable[asyncio.Task[object]]) -> None:
        """Wait until the tasks of all parts have ended.

        Raises:
            BaseException: the exception of the first part that failed.
        """
        try:
            await asyncio.gather(*tasks)
        finally:
            self._awake.rest(self._parts - self._started + self._is_over)
            self._started, self._is_over = self._parts, True
