"""Settings of an engine: options of the host, and settings that the namespace needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import field
from datetime import timedelta
from typing import Any, Final

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

from toolgen.contract.record import frozen_record

from ..context import Activity, LastEvents, Loop
from ..engine import OnEvent, PayloadStore
from ..errors import EngineError
from .documents import AGENT, NOTHING, SESSION, TURN, WAITS, RunStart, agent_of, attribute, turn_of
from .failures import ADD_SEARCH_ATTRIBUTES, of_server

SESSION_KEY: Final = SearchAttributeKey.for_keyword(SESSION)
AGENT_KEY: Final = SearchAttributeKey.for_keyword(AGENT)
TURN_KEY: Final = SearchAttributeKey.for_keyword(TURN)
WAITS_KEY: Final = SearchAttributeKey.for_keyword_list(WAITS)
_KEYS: Final = (SESSION_KEY, AGENT_KEY, TURN_KEY, WAITS_KEY)
LARGEST: Final = 1_500_000
"""Maximum size of the JSON of one log entry in bytes, without a large-value store. The server accepts
payloads of 2 MiB, and messages of 4 MiB with everything that one workflow task schedules."""
_SERVER_TAKES: Final = 2_000_000
"""Maximum size of a value on the server, in bytes; the server accepts 2 MiB including overhead."""
_BEATS: Final = 6
"""Number of heartbeats within the time after which a worker counts as lost."""


@frozen_record
class TemporalLimits:
    """Timeouts and maximum sizes of an engine on Temporal."""

    heartbeat_s: float = 30.0
    """Seconds without a heartbeat after which a worker counts as lost. A call that blocks the event loop of
    its worker for longer also makes the worker count as lost."""
    reply_s: float = 2.0
    """Seconds that an answer or a cancellation waits for a worker."""
    max_payload_bytes: int = 1_000_000
    """Maximum size of the JSON of one argument, result or signal, in bytes; without `payloads` at most
    2,000,000, because the server accepts payloads of 2 MiB."""
    offload_bytes: int = 64_000
    """Maximum size of an encoded payload that goes to the server, in bytes, if the engine has `payloads`."""
    max_cached_runs: int = 1_000
    """Maximum number of runs that a worker caches in memory; other runs are read again."""
    max_activities: int = 100
    """Maximum number of concurrent activities of a worker."""

    def require_fitting(self, *, has_store: bool) -> None:
        """Raise if the server would refuse payloads of the engine.

        Raises:
            EngineError: a limit is too high or too low.
        """
        if self.max_payload_bytes > _SERVER_TAKES and not has_store:
            raise EngineError(
                f"max_payload_bytes is {self.max_payload_bytes}, but a Temporal server accepts at most "
                f"{_SERVER_TAKES}",
                hint="store large values outside it: TemporalEngine(payloads=PostgresPayloads(database))",
            )
        if not 1_000 <= self.offload_bytes <= _SERVER_TAKES:
            raise EngineError(f"offload_bytes is {self.offload_bytes}; it must be 1000 to {_SERVER_TAKES}")


@frozen_record
class EngineSettings:
    """Settings that the clients, the workers and the workflows of an engine read."""

    prefix: str
    queue: str
    queues: Mapping[str, str]
    """Task queue of the runs of each agent, by agent id."""
    limits: TemporalLimits
    payloads: PayloadStore | None
    """Store of values larger than `offload_bytes`; None if all values go to the server."""
    loops: Mapping[str, Loop] = field(default_factory=dict)
    activities: Mapping[str, Activity] = field(default_factory=dict)
    on_event: OnEvent | None = None
    last_events: LastEvents | None = None

    def queue_of(self, input_: object) -> str:
        """Return the task queue of a run, from the input of its loop."""
        return self.queues.get(agent_of(input_), self.queue)

    @property
    def heartbeat(self) -> timedelta:
        """Time without a heartbeat after which a worker counts as lost."""
        return timedelta(seconds=self.limits.heartbeat_s)

    @property
    def reply(self) -> timedelta:
        """Time that an answer or a cancellation waits for a worker."""
        return timedelta(seconds=self.limits.reply_s)

    @property
    def beat(self) -> timedelta:
        """Time between two heartbeats."""
        return self.heartbeat / _BEATS

    @property
    def largest_entry(self) -> int:
        """Maximum size of the JSON of one log entry, in bytes."""
        return LARGEST if self.payloads is None else max(LARGEST, self.limits.max_payload_bytes)

    def sent(self, size: int) -> int:
        """Return the maximum number of bytes that the server receives for a value with this JSON size."""
        return size if self.payloads is None else min(size, self.limits.offload_bytes)


SETTINGS: Final[ContextVar[EngineSettings]] = ContextVar("toolgen.engines.temporal")
"""Settings of the worker that executes a workflow."""


class SettingsInterceptor(Interceptor):
    """Sets the settings before a workflow is executed, because all engines share one workflow class."""

    def __init__(self, settings: EngineSettings) -> None:
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


def search_attributes(start: RunStart) -> TypedSearchAttributes:
    """Return the search attributes of a new run, which has no open waits."""
    input_ = start["input"]
    values = {SESSION_KEY: start["session"], AGENT_KEY: agent_of(input_), TURN_KEY: turn_of(input_)}
    pairs: list[Any] = [SearchAttributePair(key, attribute(value)) for key, value in values.items() if value]
    return TypedSearchAttributes([*pairs, SearchAttributePair(WAITS_KEY, (NOTHING,))])


async def add_search_attributes(client: Client) -> None:
    """Add the search attributes of runs to the namespace if they are missing.

    Raises:
        EngineError: the server cannot list its attributes, or refuses to add them.
    """
    with of_server():
        listed = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
    missing: Any = {
        key.name: int(key.indexed_value_type) for key in _KEYS if key.name not in listed.custom_attributes
    }
    if not missing:
        return
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
        )
    except RPCError as error:
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            raise EngineError(
                f"the namespace {client.namespace!r} lacks search attributes: {error.message}",
                hint=ADD_SEARCH_ATTRIBUTES,
            ) from error
