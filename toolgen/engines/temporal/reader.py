"""Reads runs from the server: their current description, and their histories, once or as they grow."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import ParentClosePolicy, PendingWorkflowTaskState
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes, HistoryEvent
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionResponse
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle, WorkflowHistoryEventFilterType
from temporalio.converter import ActivitySerializationContext, WorkflowSerializationContext
from temporalio.service import RPCError, RPCStatusCode

from ..errors import unknown_run
from .documents import MEMO, WORKFLOW
from .failures import of_server
from .history import RunView
from .projection import marks_of

_SHORT: Final = 100
"""Maximum number of events in a history that is as fast to read completely as in part."""


class Description:
    """One response of the server; all its values are from the same moment."""

    def __init__(self, response: DescribeWorkflowExecutionResponse, prefix: str) -> None:
        self._response = response
        self._prefix = prefix
        self._status = WorkflowExecutionStatus(response.workflow_execution_info.status)

    @property
    def is_over(self) -> bool:
        return self._status != WorkflowExecutionStatus.RUNNING

    @property
    def is_completed(self) -> bool:
        return self._status == WorkflowExecutionStatus.COMPLETED

    @property
    def started_at(self) -> datetime:
        return self._response.workflow_execution_info.start_time.ToDatetime(UTC)

    @property
    def memo(self) -> dict[str, Any]:
        """Payloads of its memo entries that toolgen wrote."""
        fields = self._response.workflow_execution_info.memo.fields
        return {key: payload for key, payload in fields.items() if key.startswith(MEMO)}

    @property
    def length(self) -> int:
        """Number of events in the history."""
        return self._response.workflow_execution_info.history_length

    @property
    def has_task(self) -> bool:
        """Whether the loop has not processed an event yet, or the newest workflow task failed."""
        return self._response.HasField("pending_workflow_task")

    @property
    def is_in_task(self) -> bool:
        """Whether a worker is executing the loop; events that arrive meanwhile are not in the history yet."""
        state = self._response.pending_workflow_task.state
        return self.has_task and state == PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED

    @property
    def has_failed_task(self) -> bool:
        """Whether the workflow task is being retried, which can have several reasons."""
        return self._response.pending_workflow_task.attempt > 1

    @property
    def is_idle(self) -> bool:
        """Whether the run itself is executing nothing; its children and timers are ignored."""
        return not self.is_over and not self.has_task and not self._response.pending_activities

    @property
    def open_children(self) -> list[str]:
        """Unfinished child runs; runs that outlive this one are left out."""
        abandoned = ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON
        children = self._response.pending_children
        open_ = [child.workflow_id for child in children if child.parent_close_policy != abandoned]
        return [id_.removeprefix(self._prefix) for id_ in open_]


class HistoryReader:
    """Reads the history of one run: the existing events, or, with `waits`, until the run is over."""

    def __init__(self, client: Client, prefix: str, run_id: str, *, waits: bool = True) -> None:
        """Construct the reader of a run; nothing is read yet.

        Raises:
            UnknownRunError: the id is "".
        """
        if not run_id:
            raise unknown_run(run_id)
        self._client = client
        self._run_id = run_id
        self._prefix = prefix
        self._workflow_id = workflow_id = f"{prefix}{run_id}"
        self._converter = client.data_converter.with_context(
            WorkflowSerializationContext(namespace=client.namespace, workflow_id=workflow_id)
        )
        self._handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(workflow_id)
        self._waits = waits
        self._pages = self._handle.fetch_history_events(wait_new_event=waits)
        self._is_at_end = False
        self.view = RunView(prefix)

    async def described(self) -> Description:
        """Return the description of the run, which the server provides without the history.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the server cannot be reached.
        """
        with of_server(self._run_id):
            return Description((await self._handle.describe()).raw_description, self._prefix)

    async def brief(self, described: Description) -> RunView | None:
        """Return the view of a run without events and answers; None if its history must be read.

        Raises:
            UnknownRunError: no run has the id.
            PayloadGoneError: a large value of it was erased or pruned.
            EngineError: the server cannot be reached.
        """
        if described.length < _SHORT or described.has_task:
            return None
        if described.is_over and not described.is_completed:
            return None
        view, memo = RunView(self._prefix), described.memo
        reading = [self._event(page_size=1)]
        if described.is_over:
            reading.append(self._event(event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT))
        for event in await asyncio.gather(*reading):
            await view.read(event, self._decode)
        marks = marks_of(dict(zip(memo, await self._decode([*memo.values()], None), strict=True)))
        if view.start is None or marks is None:
            return None
        for mark in marks:
            view.add_mark(mark, self._run_id)
        return view

    async def _event(self, **which: Any) -> HistoryEvent:
        """Return the first event of a part of the history.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the server cannot be reached.
        """
        page = self._handle.fetch_history_events(**which)
        with of_server(self._run_id):
            await page.fetch_next_page()
        assert page.current_page, "every run has a first event, and one that is over has its end"
        return page.current_page[0]

    async def to_end(self) -> RunView:
        """Read all existing events and return the view; only for a reader that does not wait.

        Raises:
            UnknownRunError: no run has the id.
            PayloadGoneError: a large value of it was erased or pruned.
            EngineError: the server cannot be reached.
        """
        while await self.grow():
            pass
        return self.view

    async def grow(self) -> bool:
        """Read the next page into `view`, once there is one; return whether more can come.

        Raises:
            UnknownRunError: no run has the id.
            PayloadGoneError: a large value of it was erased or pruned.
            EngineError: the server cannot be reached.
        """
        if self._is_at_end:
            return False
        with of_server(self._run_id):
            await self._next_page()
        for event in self._pages.current_page or ():
            if event.event_id > self.view.length:
                await self.view.read(event, self._decode)
        if self.view.start is None:
            raise unknown_run(self._run_id)
        self._is_at_end = self._pages.next_page_token is None
        return True

    async def _next_page(self) -> None:
        """Fetch the next page, or the first one again if the server no longer knows the token.

        A token counts the changes of the run, and a server that loads the run again starts a new count: it
        refuses earlier tokens with `CurrentBranchChangedFailure`. Events keep their ids.
        """
        try:
            await self._pages.fetch_next_page()
        except RPCError as error:
            if self._pages.next_page_token is None or error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            self._pages = self._handle.fetch_history_events(wait_new_event=self._waits)
            await self._pages.fetch_next_page()

    async def _decode(
        self, payloads: Sequence[Payload], activity: ActivityTaskScheduledEventAttributes | None
    ) -> list[object]:
        if activity is None:
            return await self._converter.decode(payloads)
        context = ActivitySerializationContext(
            namespace=self._client.namespace,
            workflow_id=self._workflow_id,
            workflow_type=WORKFLOW,
            activity_type=activity.activity_type.name,
            activity_id=activity.activity_id,
            activity_task_queue=activity.task_queue.name,
            is_local=False,
        )
        return await self._client.data_converter.with_context(context).decode(payloads)
