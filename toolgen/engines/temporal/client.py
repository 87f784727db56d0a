"""The client side of an engine on Temporal: start, answer, cancel and erase runs."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from typing import Final

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import (
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from toolgen.contract.json_value import Json

from ..errors import (
    EngineError,
    PayloadGoneError,
    UnknownRunError,
    UnsettledAnswerError,
    unknown_run,
    wait_over,
)
from ..in_process.journal import encode
from ..statuses import Receipt
from .documents import (
    ANSWER,
    SIGNAL,
    VERSION,
    WORKFLOW,
    KeptAnswer,
    RunStart,
    SentAnswer,
    SentSignal,
    run_summary,
)
from .failures import of_server
from .history import RunView
from .listing import ENDED, RUNNING
from .run_reading import RunReading
from .settings import search_attributes

_PATIENCE_S: Final = 60.0
"""Seconds to wait for a deletion, which the server executes asynchronously."""
_PAUSE_S: Final = 0.02
_LOST_TASK_S: Final = 15.0
"""Seconds that an answer waits for the end of a workflow task; the server ends a lost task after 10."""
_NO_ROOM: Final = (RPCStatusCode.RESOURCE_EXHAUSTED, RPCStatusCode.UNAVAILABLE)
"""Statuses of an update that the server drops, or that has too many pending updates before it."""


class TemporalClient(RunReading):
    """Client operations of an engine on Temporal."""

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str) -> None:
        """Start a run unless its id is in use.

        Raises:
            EngineError: no loop has the name, the input is not JSON, or the server refuses.
        """
        copy = self._encoded(arg, f"the input of run {run_id}")
        if loop not in self._settings.loops:
            raise EngineError(f"no loop is registered as {loop!r}, for the run {run_id}")
        start: RunStart = {
            "version": VERSION,
            "run_id": run_id,
            "loop": loop,
            "session": session,
            "input": copy,
        }
        with of_server(), suppress(WorkflowAlreadyStartedError):
            await self.client.start_workflow(
                WORKFLOW,
                start,
                id=self._id(run_id),
                task_queue=self._settings.queue_of(copy),
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                search_attributes=search_attributes(start),
                static_summary=run_summary(loop, copy),
            )

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        """Send a signal; it is dropped if the run is over.

        Raises:
            UnknownRunError: no run has the id.
        """
        copy = self._encoded(payload, f"the payload of the signal {name} to run {run_id}")
        sent: SentSignal = {"id": signal_id, "name": name, "payload": copy}
        try:
            await self._handle(run_id).signal(SIGNAL, sent)
        except RPCError as error:
            await self._require_over(run_id, error)

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str) -> Receipt:
        """Answer a wait, and return the status of the answer.

        Raises:
            UnknownRunError: no run has the id.
            WaitOverError: the wait ended without an answer, or the run is over.
        """
        copy = self._encoded(payload, f"the answer to {op} of run {run_id}")
        sent: SentAnswer = {"op": op, "key": key, "payload": copy, "request_id": uuid.uuid4().hex}
        view = await self._view_of(run_id, op)
        if view.is_over(op) or view.answer(op) is not None:
            return _receipt(run_id, view, sent)
        try:
            reply: KeptAnswer = await self._handle(run_id).execute_update(
                ANSWER,
                sent,
                id=f"{ANSWER}:{op}",
                rpc_timeout=self._settings.reply,
            )
        except WorkflowUpdateRPCTimeoutOrCancelledError as error:
            if isinstance(error.__cause__, asyncio.CancelledError):
                raise asyncio.CancelledError from error  # the caller that waits for the answer was canceled
            return await self._answer_by_signal(run_id, sent)
        except (RPCError, WorkflowUpdateFailedError) as error:
            if isinstance(error, RPCError) and error.status in _NO_ROOM:
                return await self._answer_by_signal(run_id, sent)
            if isinstance(error, RPCError):
                await self._require_over(run_id, error)
            return _receipt(run_id, await self._view(run_id), sent)
        if reply["is_over"]:
            raise wait_over(run_id, op)
        if reply["request_id"] == sent["request_id"]:
            return "accepted"
        return "same" if reply["key"] == key else "conflict"

    async def _answer_by_signal(self, run_id: str, sent: SentAnswer) -> Receipt:
        """Send an answer as a signal for a worker to process, unless another one is stored.

        Raises:
            UnsettledAnswerError: it is unknown whether the answer counts.
        """
        if (await self._view(run_id)).answer(sent["op"]) is None:
            try:
                await self._handle(run_id).signal(ANSWER, sent)
            except RPCError as error:
                await self._require_over(run_id, error)
        await self._described_after_task(run_id, _LOST_TASK_S)
        view = await self._view(run_id)
        if view.answer(sent["op"]) is None and not view.is_over(sent["op"]):
            raise UnsettledAnswerError(
                f"run {run_id}: the server does not show yet whether this answer or an earlier one was "
                "accepted",
                hint="send the same answer again",
            )
        return _receipt(run_id, view, sent)

    async def cancel(self, run_id: str, reason: str) -> None:
        """Cancel a run, and wait briefly until it ends; a stalled run is terminated.

        Raises:
            UnknownRunError: no run has the id.
        """
        try:
            await self._request_cancel(run_id, reason)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.reply.total_seconds()):
                    await self._ended(run_id, reason)
        except PayloadGoneError:
            await self._terminate(run_id, reason)

    async def _request_cancel(self, run_id: str, reason: str) -> None:
        """Request the cancellation of a run, unless it is over, and terminate it if it is stalled.

        Raises:
            UnknownRunError: no run has the id.
            PayloadGoneError: the run cannot be read.
        """
        try:
            await self._handle(run_id).cancel(reason=reason)
            if (await self._view(run_id)).fault:
                await self._handle(run_id).terminate(reason=reason)
        except RPCError as error:
            await self._require_over(run_id, error)

    async def _terminate(self, run_id: str, reason: str) -> None:
        """Terminate a run that cannot be read; no effect on a run that is over."""
        with of_server(run_id):
            is_open = (await self._handle(run_id).describe()).close_time is None
        if is_open:
            with suppress(UnknownRunError), of_server(run_id):  # the run might end meanwhile
                await self._handle(run_id).terminate(reason=reason)

    async def _ended(self, run_id: str, reason: str) -> None:
        """Return when a canceled run and the runs that it has started are over; terminate unreadable ones.

        Raises:
            PayloadGoneError: the run itself cannot be read.
        """
        reader = self._reader(run_id)
        while reader.view.ending is None and await reader.grow():
            pass
        if reader.view.ending == "canceled":
            for below in (*reader.view.children, *reader.view.detached):
                with suppress(UnknownRunError):  # the child was about to start when this run ended
                    try:
                        await self._ended(below, reason)
                    except PayloadGoneError:
                        await self._terminate(below, reason)

    async def forget_session(self, session: str) -> int:
        """Delete the finished runs of a session; return their number once the server has deleted them.

        Large values are deleted first; after a failure, the next call deletes the rest.

        Raises:
            EngineError: the server cannot be reached, or has not deleted the runs in time.
        """
        deleted = 0
        going_on = tuple([f"{run_id}/" async for run_id in self._listed([RUNNING], session)])
        for run_id in [run_id async for run_id in self._listed([ENDED], session)]:
            if run_id.startswith(going_on):  # an unfinished run might read the results of its children again
                continue
            request = DeleteWorkflowExecutionRequest(
                namespace=self.client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=self._id(run_id)),
            )
            if self._settings.payloads is not None:
                await self._settings.payloads.forget(self._id(run_id))
            with suppress(UnknownRunError), of_server(run_id):
                await self.client.workflow_service.delete_workflow_execution(request)
                await self._deleted(run_id)
                deleted += 1
        return deleted

    async def _deleted(self, run_id: str) -> None:
        """Return when the server no longer has the history of a run."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while True:
                    with of_server(run_id):
                        await self._handle(run_id).fetch_history_events(page_size=1).fetch_next_page()
                    await asyncio.sleep(_PAUSE_S)
        except UnknownRunError:
            return
        except TimeoutError:
            raise EngineError(
                f"the server has not deleted run {run_id} within {_PATIENCE_S:g} seconds", hint="erase again"
            ) from None

    def _encoded(self, value: Json, what: str) -> Json:
        """Return a value as its receiver decodes it.

        Raises:
            EngineError: it is not JSON, or has more bytes than the engine accepts; the message names `what`.
        """
        _, copy = encode(value, what, self._settings.limits.max_payload_bytes)
        decoded: Json = copy
        return decoded

    async def _require_over(self, run_id: str, error: RPCError) -> None:
        """Return if the server found no open run because the run is over.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the server reported another error.
        """
        if error.status != RPCStatusCode.NOT_FOUND:
            with of_server(run_id):
                raise error
        if (await self._view(run_id)).ending is None:
            raise unknown_run(run_id) from error


def _receipt(run_id: str, view: RunView, sent: SentAnswer) -> Receipt:
    """Return the status of an answer according to the history.

    Raises:
        WaitOverError: the wait ended without an answer, or the run is over.
    """
    answer = view.answer(sent["op"])
    if answer is None or (view.ending is not None and sent["op"] not in view.waits):
        raise wait_over(run_id, sent["op"])
    if answer["request_id"] == sent["request_id"]:
        return "recorded"
    return "same" if answer["key"] == sent["key"] else "conflict"
