"""The workers of one process: the task queues that they serve, until they are closed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Final

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from toolgen.contract.logs import logger

from ..engine import WorkerRole
from ..errors import EngineError
from ..in_process.journal import Followers
from .activities import ActivityWorker
from .reports import Reports
from .settings import EngineSettings, SettingsInterceptor
from .workflow import RunWorkflow

_STICKY: Final = timedelta(seconds=1)
"""Time that a workflow task waits for the worker that has the run in memory."""
_END_S: Final = 60
"""Seconds that a worker has to end after the drain time of its activities."""
_SERVED: Final[Mapping[WorkerRole, str]] = {
    "all": "runs and activities",
    "runs": "runs",
    "activities": "activities",
}

log = logger("toolgen.engines")


class Workers:
    """One SDK worker for each task queue; none before `start`."""

    def __init__(self, queues: Collection[str]) -> None:
        """Construct without workers; they serve all these queues, unless `assign` selects others."""
        self._queues = tuple(sorted(set(queues)))
        self._served: tuple[str, ...] = ()
        self._role: WorkerRole = "all"
        self._drain = timedelta(0)
        self._running: list[tuple[Worker, asyncio.Task[None]]] = []

    @property
    def have_started(self) -> bool:
        """Whether the workers were started, and not closed since; a worker might have stopped on its own."""
        return bool(self._running)

    @property
    def are_working(self) -> bool:
        """Whether the workers were started, and all of them are running."""
        return self.have_started and not any(task.done() for _, task in self._running)

    def assign(self, queues: Collection[str], role: WorkerRole, drain: timedelta) -> None:
        """Set the queues, the role and the drain time; as `QueueEngine.assign`.

        Raises:
            EngineError: the workers have started, or the engine has no queue with one of these names.
        """
        if self.have_started:
            raise EngineError("the worker of this process has started already")
        if unknown := sorted(set(queues) - set(self._queues)):
            raise EngineError(
                f"the engine has no queue {unknown[0]!r}", hint=f"it has {', '.join(self._queues)}"
            )
        self._served, self._role, self._drain = tuple(queues), role, drain

    def start(self, client: Client, settings: EngineSettings, followers: Followers, reports: Reports) -> None:
        """Start a worker for each queue."""
        activities, limits = ActivityWorker(client, settings, followers, reports), settings.limits
        queues = self._served or self._queues
        place = f"{client.service_client.config.target_host}, namespace {client.namespace}"
        log.info("serves %s of %s: task queues %s", _SERVED[self._role], place, ", ".join(queues))
        for queue in queues:
            worker = Worker(
                client,
                task_queue=queue,
                workflows=[] if self._role == "activities" else [RunWorkflow],
                activities=[] if self._role == "runs" else activities.definitions(),
                interceptors=[SettingsInterceptor(settings)],
                workflow_runner=UnsandboxedWorkflowRunner(),
                max_cached_workflows=limits.max_cached_runs,
                max_concurrent_activities=limits.max_activities,
                sticky_queue_schedule_to_start_timeout=_STICKY,
                max_heartbeat_throttle_interval=settings.beat,
                default_heartbeat_throttle_interval=settings.beat,
                graceful_shutdown_timeout=self._drain,
            )
            task = asyncio.create_task(worker.run(), name=f"worker of {queue}")
            task.add_done_callback(_log_end)
            self._running.append((worker, task))

    async def close(self) -> None:
        """Stop all workers concurrently; activities in flight have the drain time of `assign` to end.

        An SDK worker that has not ended `_END_S` seconds after that is abandoned and logged.
        """
        running, self._running = self._running, []
        ending = [asyncio.ensure_future(worker.shutdown()) for worker, task in running if not task.done()]
        parts = [*ending, *(task for _, task in running)]
        if not parts:
            return
        ended = asyncio.gather(*parts, return_exceptions=True)
        await asyncio.wait([ended], timeout=self._drain.total_seconds() + _END_S)
        for _, task in running:
            if not task.done():
                log.error(
                    "the %s did not end within %d s after it was closed; toolgen no longer waits for it",
                    task.get_name(),
                    _END_S,
                )
        for part in parts:
            part.cancel()


def _log_end(task: asyncio.Task[None]) -> None:
    """Log a worker that stopped on its own with an error."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the %s ended", task.get_name(), exc_info=error)
