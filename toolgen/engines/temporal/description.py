"""What the server says of a run now, without its history."""

from __future__ import annotations

import json
from typing import Any

from temporalio.api.enums.v1 import ParentClosePolicy, PendingWorkflowTaskState
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionResponse
from temporalio.client import WorkflowExecutionStatus

from .documents import CHANGES, MEMO, PROJECTED


class Description:
    """One answer of the server; all of it is of the same moment."""

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
    def memo(self) -> dict[str, Any]:
        """The payloads of its memo that are ours."""
        fields = self._response.workflow_execution_info.memo.fields
        return {key: payload for key, payload in fields.items() if key.startswith(MEMO)}

    @property
    def is_projected(self) -> bool:
        """Whether the memo has what is open."""
        patches = self._response.workflow_execution_info.search_attributes.indexed_fields.get(CHANGES)
        return patches is not None and PROJECTED in json.loads(patches.data)

    @property
    def length(self) -> int:
        """Events of its history."""
        return self._response.workflow_execution_info.history_length

    @property
    def has_task(self) -> bool:
        """Whether something came of which the loop has not heard yet, or its newest workflow task failed."""
        return self._response.HasField("pending_workflow_task")

    @property
    def is_in_task(self) -> bool:
        """Whether a worker executes the loop now; what came meanwhile is not in the history yet."""
        state = self._response.pending_workflow_task.state
        return self.has_task and state == PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED

    @property
    def has_failed_task(self) -> bool:
        """Whether the workflow task is done again, for which there are several reasons."""
        return self._response.pending_workflow_task.attempt > 1

    @property
    def is_idle(self) -> bool:
        """Whether nothing of the run itself goes on; its children and its timers apart."""
        return not self.is_over and not self.has_task and not self._response.pending_activities

    @property
    def open_children(self) -> list[str]:
        """Its children that go on; those that outlive it are left out."""
        abandoned = ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON
        children = self._response.pending_children
        open_ = [child.workflow_id for child in children if child.parent_close_policy != abandoned]
        return [id_.removeprefix(self._prefix) for id_ in open_]
