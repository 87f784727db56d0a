"""The one workflow of all runs: it executes a loop, and keeps what comes to the run from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime.engine import EndedRun, NondeterminismError

from ..journal import encode
from ..operations import failure_text, ignore_exception
from .context import WorkflowContext
from .documents import ANSWER, BEGUN, SIGNAL, WORKFLOW, KeptAnswer, RunStart, SentAnswer
from .failures import cancel_reason
from .inbox import Inbox
from .log_writer import LogWriter
from .received import received_answer, received_begun, received_signal, received_start
from .settings import SETTINGS, WorkflowSettings

Ending = Literal["completed", "failed", "canceled"]

_ALL_BEGUN: Final = "all-begun"
"""Patch: before its last events, a run that does not complete takes one workflow task more, with the records
of the activities that began before the server knew that they are canceled."""
_NEXT_TASK_S: Final = 0.001

log = logger("toolgen.engines")


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """A run. It stands still where its loop does something else than its history holds."""

    def __init__(self) -> None:
        self._inbox = Inbox()
        self._context: WorkflowContext | None = None
        self._is_over = False

    @workflow.signal(name=SIGNAL)
    def signal(self, *args: Any) -> None:
        sent = received_signal(args)
        if sent is None:
            _log_dropped("a signal that is malformed, or named as an answer")
        else:
            self._inbox.add_signal(sent)

    @workflow.signal(name=ANSWER)
    def answer_by_signal(self, *args: Any) -> None:
        sent = received_answer(args)
        if sent is None:
            _log_dropped("a malformed answer")
        else:
            self._inbox.add_answer(sent)

    @workflow.signal(name=BEGUN)
    def begun(self, *args: Any) -> None:
        sent = received_begun(args)
        if sent is None or self._context is None or not self._context.activities.is_open(sent["op"]):
            _log_dropped("a begun record that is malformed, or of no activity in flight")
        else:
            self._context.publish_begun(sent)

    @workflow.update(name=ANSWER)
    async def answer(self, *args: Any) -> KeptAnswer:
        """Keep an answer, and return the one that counts: where the loop waits for it, once the loop has it.

        Raises:
            ApplicationError: it is malformed.
        """
        sent = _require_answer(args)
        op = sent["op"]
        self._inbox.add_answer(sent)
        if self._inbox.is_open(op):
            await workflow.wait_condition(lambda: op in self._inbox.over or self._is_over)
        kept = self._inbox.answers.get(op)
        if kept is None or (self._is_over and op not in self._inbox.taken):
            return {"is_over": True, "key": "", "by": ""}
        return {"is_over": False, "key": kept["key"], "by": kept["by"]}

    @answer.validator
    def _check_answer(self, *args: Any) -> None:
        _require_answer(args)

    @workflow.run
    async def run(self, given: Any = None) -> Any:
        settings = SETTINGS.get()
        start = _require_start([given])
        writer = LogWriter(start, settings.largest_entry)
        context = self._context = WorkflowContext(start, settings, self._inbox, writer)
        writing = asyncio.ensure_future(writer.run())
        loop = asyncio.ensure_future(_execute(context, start, settings))
        loop.add_done_callback(ignore_exception)
        writing.add_done_callback(partial(_cancel_without_log, writer, loop))
        output, problem = None, None
        try:
            output = await asyncio.shield(loop)
        except (Exception, asyncio.CancelledError) as error:
            _require_living()
            problem = error
        _require_log(start, writer)
        problem = context.fault or problem
        if isinstance(problem, NondeterminismError):
            log.error("run %s is stalled: %s", start["run_id"], problem, exc_info=problem)
            raise RuntimeError(problem.message) from problem  # the workflow task fails, not the workflow
        ending, said = _ending(start, problem)
        end = asyncio.ensure_future(self._end(context, writer, loop, ending, said, settings))
        while not end.done():
            try:
                await asyncio.shield(end)
            except asyncio.CancelledError:  # a run that is over is not canceled
                _require_living()
        end.result()
        _require_log(start, writer)
        writing.cancel()
        if ending == "canceled":
            raise asyncio.CancelledError
        if ending == "failed":
            raise ApplicationError(said, type="failed", non_retryable=True)
        return output

    async def _end(
        self,
        context: WorkflowContext,
        writer: LogWriter,
        loop: asyncio.Future[Any],
        ending: Ending,
        error: str,
        settings: WorkflowSettings,
    ) -> None:
        """Cancel what goes on, and close the log."""
        context.is_over = self._is_over = True
        loop.cancel()
        is_cut = context.activities.cancel()
        if is_cut and ending != "completed" and workflow.patched(_ALL_BEGUN):
            await asyncio.sleep(_NEXT_TASK_S)
        for child in context.children:
            child.cancel(error if ending == "canceled" else f"run {context.run_id} is over")
        if ending == "canceled":
            await _cancel_detached(context, settings, error)
        if ending != "completed":
            ended = EndedRun(
                input=context.input,
                ending=ending,
                reason=error,
                at=context.now(),
                log=writer.events,
                begun=context.begun,
                waits=self._inbox.open,
            )
            _append_last_events(writer, ended, settings)
            writer.publish(None, {"type": "run_completed", "status": ending, "error": error})
        writer.publish(None, {"type": "run_stream_end"})
        await writer.flush()
        await workflow.wait_condition(workflow.all_handlers_finished)


def _ending(start: RunStart, problem: BaseException | None) -> tuple[Ending, str]:
    """Return how a run ends whose loop has returned, or raised a problem, and what its status says."""
    if problem is None:
        return "completed", ""
    reason = workflow.cancellation_reason()
    if reason is not None and isinstance(problem, asyncio.CancelledError):
        return "canceled", cancel_reason(reason)
    return "failed", failure_text(start["run_id"], problem, workflow.uuid4().hex[:12])  # in a replay the same


def _log_dropped(what: str) -> None:
    if not workflow.unsafe.is_replaying():
        log.warning("the workflow %s drops %s", workflow.info().workflow_id, what)


def _require_answer(args: Sequence[Any]) -> SentAnswer:
    """Return an answer.

    Raises:
        ApplicationError: it is malformed.
    """
    sent = received_answer(args)
    if sent is None:
        raise ApplicationError("a malformed answer", type="malformed", non_retryable=True)
    return sent


def _require_start(args: Sequence[Any]) -> RunStart:
    """Return the start of a run.

    Raises:
        ApplicationError: it is malformed.
    """
    start = received_start(args)
    if start is None:
        log.warning("the workflow %s is not the one of a run", workflow.info().workflow_id)
        raise ApplicationError("a malformed start of a run", type="malformed", non_retryable=True)
    return start


def _require_log(start: RunStart, writer: LogWriter) -> None:
    """Raise where the log of a run cannot be written: the workflow task fails, not the workflow.

    Raises:
        RuntimeError: as said.
    """
    if writer.failure is not None:
        message = "its log cannot be written"
        log.error("run %s is stalled: %s", start["run_id"], message, exc_info=writer.failure)
        raise RuntimeError(message) from writer.failure


def _require_living() -> None:
    """Raise, as the SDK does, where the run leaves the memory of its worker: nothing may be done then."""
    workflow.random()


async def _execute(context: WorkflowContext, start: RunStart, settings: WorkflowSettings) -> Json:
    function = settings.loops.get(start["loop"])
    if function is None:
        name, run_id = start["loop"], start["run_id"]
        raise NondeterminismError(f"no loop is registered as {name!r}, for run {run_id}")
    try:
        value = await function(context, start["input"])
    except SystemExit as error:  # out of a task it would end the event loop
        raise RuntimeError("the loop raised an exception that ends the process") from error
    _, copy = encode(value, f"the output of run {start['run_id']}", settings.max_payload_bytes)
    output: Json = copy
    return output


async def _cancel_detached(context: WorkflowContext, settings: WorkflowSettings, reason: str) -> None:
    """Cancel the runs that outlive this one, unless they are over."""
    for run_id in context.detached:
        handle = workflow.get_external_workflow_handle(f"{settings.prefix}{run_id}")
        try:
            await handle.cancel(reason=reason)
        except ApplicationError as error:
            log.info("run %s: %s was not canceled: %s", context.run_id, run_id, error.message)


def _append_last_events(writer: LogWriter, ended: EndedRun, settings: WorkflowSettings) -> None:
    """Append the missing last events to the log of a run that ended without its loop."""
    if settings.last_events is None:
        return
    try:
        for event in settings.last_events(ended):
            writer.publish(None, event)
    except Exception:
        log.exception("a run: its last events were not appended to its log")


def _cancel_without_log(writer: LogWriter, loop: asyncio.Future[Any], writing: asyncio.Future[None]) -> None:
    """Cancel a loop whose writer has failed; its run looks why."""
    if writer.failure is not None:
        loop.cancel()
