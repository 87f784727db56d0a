"""What the workflows of one worker need of their engine."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from toolgen.runtime.engine import EngineError, LastEvents, Loop

from .documents import AGENT, SESSION, RunStart, agent_of, attribute
from .failures import ADD_SEARCH_ATTRIBUTES, of_server

SESSION_KEY: Final = SearchAttributeKey.for_keyword(SESSION)
AGENT_KEY: Final = SearchAttributeKey.for_keyword(AGENT)
LARGEST: Final = 1_500_000
"""Bytes of JSON of one entry of a log without a store of large values. The server takes payloads of 2 MiB,
and messages of 4 MiB with all that one workflow task schedules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSettings:
    """The settings of an engine that its workflows read; the same for all its workers."""

    loops: Mapping[str, Loop]
    last_events: LastEvents | None
    prefix: str
    queue: str
    queues: Mapping[str, str]
    """By agent, the task queue of its runs."""
    max_payload_bytes: int
    offload_bytes: int | None
    """What has more goes to a store beside the server; None where there is none."""
    heartbeat: timedelta

    def queue_of(self, given: Any) -> str:
        """Return the task queue of a run, by the input of its loop."""
        return self.queues.get(agent_of(given), self.queue)

    @property
    def largest_entry(self) -> int:
        """The most bytes of JSON of one entry of a log."""
        return LARGEST if self.offload_bytes is None else max(LARGEST, self.max_payload_bytes)

    def sent(self, size: int) -> int:
        """Return the most bytes that go to the server of a value of so many bytes of JSON."""
        return size if self.offload_bytes is None else min(size, self.offload_bytes)


SETTINGS: Final[ContextVar[WorkflowSettings]] = ContextVar("toolgen.engines.temporal")
"""Of the worker that executes a workflow."""


class GivesSettings(Interceptor):
    """Sets the settings before a workflow is executed: its class is one for all engines."""

    def __init__(self, settings: WorkflowSettings) -> None:
        self._settings = settings

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor] | None:
        settings = self._settings

        class Inbound(WorkflowInboundInterceptor):
            async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
                SETTINGS.set(settings)
                return await super().execute_workflow(input)

        return Inbound


def search_attributes(given: RunStart) -> TypedSearchAttributes:
    """Return what the runs of a session and of an agent are found by."""
    pairs = []
    if given["session"]:
        pairs.append(SearchAttributePair(SESSION_KEY, attribute(given["session"])))
    if agent := agent_of(given["input"]):
        pairs.append(SearchAttributePair(AGENT_KEY, attribute(agent)))
    return TypedSearchAttributes(pairs)


async def require_search_attributes(client: Client) -> None:
    """Add the search attributes of runs to the namespace where they are missing.

    Raises:
        EngineError: the server does not say which there are, or they are missing and it refuses them.
    """
    with of_server():
        there = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
    missing = {SESSION, AGENT} - set(there.custom_attributes)
    if not missing:
        return
    added = dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=added)
        )
    except RPCError as error:
        if error.status == RPCStatusCode.ALREADY_EXISTS:
            return
        raise EngineError(
            f"the namespace {client.namespace!r} lacks search attributes: {error.message}",
            hint=ADD_SEARCH_ATTRIBUTES,
        ) from error
