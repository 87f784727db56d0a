"""The single workflow type of all runs: it executes a loop and stores signals and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger

from ..context import EndedRun
from ..errors import NondeterminismError
from ..in_process.context import execute_loop
from ..in_process.journal import encode
from ..in_process.operations import ending_events, failure_text, ignore_exception
from .context import WorkflowContext
from .documents import (
    ANSWER,
    BEGUN_RECORD,
    SIGNAL,
    VERSION,
    WORKFLOW,
    KeptAnswer,
    RunStart,
    SentAnswer,
    received_answer,
    received_begun,
    received_signal,
    received_start,
)
from .failures import cancel_reason
from .inbox import Inbox
from .settings import SETTINGS

Ending = Literal["completed", "failed", "canceled"]

_PROJECTED: Final = "projected"
"""Patch that each run of `VERSION` has from its beginning."""
_ALL_BEGUN: Final = "all-begun"
"""Patch: before its last events, a run that does not complete takes one more workflow task, which receives
the records of activities that began before the server knew about their cancellation."""
_NEXT_TASK_S: Final = 0.001

log = logger("toolgen.engines")


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """A run. It stalls if its loop makes other operations than its history has."""

    def __init__(self) -> None:
        self._inbox = Inbox()
        self._context: WorkflowContext | None = None

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

    @workflow.signal(name=BEGUN_RECORD)
    def activity_begun(self, *args: Any) -> None:
        sent = received_begun(args)
        if sent is None or self._context is None or not self._context.activities.is_open(sent["op"]):
            _log_dropped("a begun record that is malformed, or of no activity in flight")
        else:
            self._context.publish_begun(sent)

    @workflow.update(name=ANSWER)
    async def answer(self, *args: Any) -> KeptAnswer:
        """Store an answer, and return the one that counts, after a waiting loop has consumed it.

        Raises:
            ApplicationError: it is malformed.
        """
        sent = _require_answer(args)
        op = sent["op"]
        self._inbox.add_answer(sent)
        if self._inbox.is_open(op):
            await workflow.wait_condition(lambda: op in self._inbox.over or self._inbox.is_closed)
        counted = self._inbox.answers.get(op)
        if counted is None or (self._inbox.is_closed and op not in self._inbox.taken):
            return {"is_over": True, "key": "", "request_id": ""}
        return {"is_over": False, "key": counted["key"], "request_id": counted["request_id"]}

    @answer.validator
    def _check_answer(self, *args: Any) -> None:
        _require_answer(args)

    @workflow.run
    async def run(self, argument: Any = None) -> Any:
        start = _require_start([argument])
        context = self._context = WorkflowContext(start, SETTINGS.get(), self._inbox)
        writing = asyncio.ensure_future(context.log.run())
        projecting = asyncio.ensure_future(context.projection.run())
        loop = asyncio.ensure_future(_execute(context, start["loop"]))
        loop.add_done_callback(ignore_exception)
        writing.add_done_callback(partial(_cancel_without_log, context, loop))
        output, problem = None, None
        try:
            output = await asyncio.shield(loop)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - author code; its failure is the end of the run
            _require_living()
            problem = error
        _require_log(context)
        problem = context.fault or problem
        if isinstance(problem, NondeterminismError):
            log.error("run %s is stalled: %s", context.run_id, problem, exc_info=problem)
            raise RuntimeError(problem.message) from problem  # the workflow task fails, not the workflow
        ending, message = _ending(context.run_id, problem)
        end = asyncio.ensure_future(self._end(context, loop, ending, message))
        while not end.done():
            try:
                await asyncio.shield(end)
            except asyncio.CancelledError:  # a run that is over cannot be canceled
                _require_living()
        end.result()
        _require_log(context)
        writing.cancel()
        projecting.cancel()
        if ending == "canceled":
            raise asyncio.CancelledError
        if ending == "failed":
            raise ApplicationError(message, type="failed", non_retryable=True)
        return output

    async def _end(
        self, context: WorkflowContext, loop: asyncio.Future[Any], ending: Ending, error: str
    ) -> None:
        """Cancel the remaining work, and close the log."""
        self._inbox.is_closed = True
        loop.cancel()
        is_cut = context.activities.cancel()
        context.log.requeue_carried()
        if is_cut and ending != "completed" and workflow.patched(_ALL_BEGUN):
            await asyncio.sleep(_NEXT_TASK_S)
        for child in context.children:
            child.cancel(error if ending == "canceled" else f"run {context.run_id} is over")
        if ending == "canceled":
            await _cancel_detached(context, error)
        last: list[Mapping[str, Json]] = [{"type": "run_stream_end"}]
        if ending != "completed":
            ended = partial(
                EndedRun,
                input=context.input,
                ending=ending,
                reason=error,
                at=context.now(),
                log=context.log.events,
                begun=context.begun_ops,
                waits=self._inbox.open,
            )
            last = ending_events(context.run_id, ending, error, context.settings.last_events, ended)
        for event in last:
            context.log.publish(None, event)
        await context.log.flush()
        await workflow.wait_condition(workflow.all_handlers_finished)


def _ending(run_id: str, problem: BaseException | None) -> tuple[Ending, str]:
    """Return how a run ends whose loop has returned or raised, and the message for its status."""
    if problem is None:
        return "completed", ""
    reason = workflow.cancellation_reason()
    if reason is not None and isinstance(problem, asyncio.CancelledError):
        return "canceled", cancel_reason(reason)
    return "failed", failure_text(run_id, problem, workflow.uuid4().hex[:12])  # the same id in a replay


def _log_dropped(what: str) -> None:
    if not workflow.unsafe.is_replaying():
        log.warning("the workflow %s drops %s", workflow.info().workflow_id, what)


def _require_answer(args: Sequence[object]) -> SentAnswer:
    """Return an answer.

    Raises:
        ApplicationError: it is malformed.
    """
    sent = received_answer(args)
    if sent is None:
        raise ApplicationError("a malformed answer", type="malformed", non_retryable=True)
    return sent


def _require_start(args: Sequence[object]) -> RunStart:
    """Return the start of a run.

    Raises:
        ApplicationError: it is malformed.
        RuntimeError: the run has another version; the workflow task fails, not the workflow.
    """
    start = received_start(args)
    if start is None:
        log.warning("the workflow %s is not the one of a run", workflow.info().workflow_id)
        raise ApplicationError("a malformed start of a run", type="malformed", non_retryable=True)
    is_projected = workflow.patched(_PROJECTED)
    if start["version"] != VERSION or not is_projected:
        lacks = "" if is_projected else f" without the patch {_PROJECTED!r}"
        message = (
            f"it has version {start['version']} of a run{lacks}; this toolgen executes version {VERSION}"
        )
        log.error("run %s is stalled: %s", start["run_id"], message)
        raise RuntimeError(message)
    return start


def _require_log(context: WorkflowContext) -> None:
    """Raise if the log of a run cannot be written: the workflow task fails, not the workflow.

    Raises:
        RuntimeError: the log cannot be written.
    """
    if (failure := context.log.failure) is not None:
        message = "its log cannot be written"
        log.error("run %s is stalled: %s", context.run_id, message, exc_info=failure)
        raise RuntimeError(message) from failure


def _require_living() -> None:
    """Raise, as the SDK does, if the worker evicts the run from memory: the workflow must stop then."""
    workflow.random()


async def _execute(context: WorkflowContext, name: str) -> Json:
    value = await execute_loop(context.settings.loops, name, context, context.input)
    _, copy = encode(value, f"the output of run {context.run_id}", context.settings.limits.max_payload_bytes)
    output: Json = copy
    return output


async def _cancel_detached(context: WorkflowContext, reason: str) -> None:
    """Cancel the runs that outlive this one, unless they are over."""
    for run_id in context.detached:
        handle = workflow.get_external_workflow_handle(f"{context.settings.prefix}{run_id}")
        try:
            await handle.cancel(reason=reason)
        except ApplicationError as error:
            log.info("run %s: %s was not canceled: %s", context.run_id, run_id, error.message)


def _cancel_without_log(
    context: WorkflowContext, loop: asyncio.Future[Any], writing: asyncio.Future[None]
) -> None:
    """Cancel a loop whose log can no longer be written; its run then raises the reason."""
    if context.log.failure is not None:
        loop.cancel()
