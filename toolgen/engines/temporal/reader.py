"""Reads the histories of runs, once or as they grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes
from temporalio.client import Client, WorkflowHandle
from temporalio.converter import ActivitySerializationContext, WorkflowSerializationContext

from .documents import WORKFLOW
from .failures import of_server
from .history import RunView


class HistoryReader:
    """Reads the history of one run."""

    def __init__(self, client: Client, workflow_id: str, run_id: str) -> None:
        self._client = client
        self._run_id = run_id
        self._workflow_id = workflow_id
        self._converter = client.data_converter.with_context(
            WorkflowSerializationContext(namespace=client.namespace, workflow_id=workflow_id)
        )
        self._handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(workflow_id)
        self._pages = self._handle.fetch_history_events(wait_new_event=True)
        self._is_at_end = False
        self.view = RunView()

    async def now(self) -> RunView:
        """Return what the history says now.

        Raises:
            UnknownRunError: no run has the id.
            PayloadGoneError: a large value of it was erased or pruned.
            EngineError: the server cannot be reached.
        """
        view = RunView()
        with of_server(self._run_id):
            async for event in self._handle.fetch_history_events():
                await view.read(event, self._decode)
        return view

    async def grow(self) -> bool:
        """Wait for more of the history and add it to `view`; return whether more can come.

        Raises:
            UnknownRunError: no run has the id.
            PayloadGoneError: a large value of it was erased or pruned.
            EngineError: the server cannot be reached.
        """
        if self._is_at_end:
            return False
        with of_server(self._run_id):
            await self._pages.fetch_next_page()
        for event in self._pages.current_page or ():
            await self.view.read(event, self._decode)
        self._is_at_end = self._pages.next_page_token is None
        return True

    async def _decode(
        self, payloads: Sequence[Payload], activity: ActivityTaskScheduledEventAttributes | None = None, /
    ) -> list[Any]:
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
