"""The engine on a Temporal server: clients start and watch runs, and any number of workers execute them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json

from ..context import Activity, LastEvents, Loop
from ..engine import DRAIN_S, EngineCaps, OnEvent, OnForget, PayloadStore, ReportChannel, WorkerRole
from ..errors import EngineError, NondeterminismError, already_registered, engine_closed
from ..statuses import Receipt, RunState, RunStatus, RunWait, WaitStatus

with extra("temporal"):  # first import of the SDK by this package, whose other modules need it
    from temporalio.client import Client, TLSConfig
    from temporalio.converter import PayloadCodec
    from temporalio.service import RPCError
    from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from ..in_process.journal import Followers, encode
from .client import TemporalClient
from .payloads import OffloadingCodec, data_converter
from .reports import Reports
from .settings import EngineSettings, SettingsInterceptor, TemporalLimits, add_search_attributes
from .workers import Workers
from .workflow import RunWorkflow

T = TypeVar("T")


class TemporalEngine:
    """Executes runs on a Temporal server.

    A run is a workflow of the type `toolgen.run`. Its state is on the server, so every process is a client,
    and a worker if it is allowed to work. The server deletes runs after the retention of its namespace. The
    server can read ids of runs and operations, names of loops and tools, search attributes and cancellation
    reasons, even with a codec.
    """

    name = "temporal"

    def __init__(
        self,
        address: str = "localhost:7233",
        *,
        namespace: str = "default",
        queue: str = "toolgen",
        queues: Mapping[str, str] | None = None,
        worker: bool = True,
        tls: bool | TLSConfig = False,
        api_key: str | None = None,
        codec: PayloadCodec | None = None,
        payloads: PayloadStore | None = None,
        reports: ReportChannel | None = None,
        prefix: str = "",
        limits: TemporalLimits = TemporalLimits(),  # noqa: B008
    ) -> None:
        """Construct an engine; it connects at the first use.

        Args:
            address: Host and port of the server's frontend.
            namespace: Namespace of the runs; it must exist.
            queue: Task queue of runs whose agent has no queue of its own.
            queues: Task queue of the runs of each agent, by agent id; the same in all processes.
            worker: Whether `start` executes runs; if False, this engine is a client.
            tls: Passed to `temporalio.client.Client.connect`, as is `api_key`.
            codec: Encodes every payload and failure, for example by encryption; the same in all processes.
            payloads: Stores large values, encoded by the codec, by workflow; the same in all processes.
            reports: Carries text and progress to followers in other processes; the same in all processes.
            prefix: Prefix of workflow ids before the run id, for a namespace with other applications.
            limits: Timeouts and maximum sizes.

        Raises:
            EngineError: a limit is higher than the server accepts.
        """
        limits.require_fitting(has_store=payloads is not None)
        self._address, self._namespace, self._may_work = address, namespace, worker
        self._settings = EngineSettings(
            prefix=prefix, queue=queue, queues=dict(queues or {}), limits=limits, payloads=payloads
        )
        self._converter = converter = data_converter(_offloading(codec, self._settings))
        self._connect = partial(
            Client.connect, address, namespace=namespace, tls=tls, api_key=api_key, data_converter=converter
        )
        self._workers = Workers((queue, *self._settings.queues.values()))
        self._followers = Followers()
        self._reports = Reports(self._followers, engine_id=self.id, channel=reports, codec=codec)
        self._is_registered = False
        self._client: TemporalClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connecting, self._starting, self._closed = asyncio.Lock(), asyncio.Lock(), asyncio.Event()

    @property
    def id(self) -> str:
        return f"temporal:{self._namespace}:{self._settings.prefix}"

    @property
    def caps(self) -> EngineCaps:
        return EngineCaps(
            is_durable=True, has_many_workers=True, max_payload_bytes=self._settings.limits.max_payload_bytes
        )

    @property
    def database(self) -> object:
        """Server of the large-value store; None without one."""
        return getattr(self._settings.payloads, "database", None)

    @property
    def is_worker(self) -> bool:
        return self._workers.are_working

    def secret(self, *, create: bool = True) -> bytes | None:
        """Return None: all processes need the same secret, and the server must not store it."""
        return None

    def register(
        self,
        *,
        loops: Mapping[str, Loop],
        activities: Mapping[str, Activity],
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        on_forget: OnForget | None = None,
    ) -> None:
        """Register as `Engine.register` does; `on_forget` is never called, as the server deletes runs."""
        if self._is_registered:
            raise already_registered()
        self._is_registered = True
        self._settings = replace(
            self._settings, loops=loops, activities=activities, on_event=on_event, last_events=last_events
        )

    def assign(
        self, *, queues: Collection[str] = (), role: WorkerRole = "all", drain_s: float = DRAIN_S
    ) -> None:
        """Set the task queues and the role of the worker in this process, before it starts.

        Raises:
            EngineError: the worker has started, or this engine has no queue with one of these names.
        """
        self._workers.assign(queues, role, timedelta(seconds=drain_s))

    async def start(self, *, worker: bool = True, only: Collection[str] | None = None) -> None:
        """Start executing runs; idempotent. With `only`, this process is a client: workers execute all runs.

        Raises:
            EngineError: the server cannot be reached, or it refuses to add missing search attributes.
        """
        self._closed.clear()
        client = await self._connected()
        if worker and self._may_work and only is None:
            async with self._starting:
                if not self._workers.have_started:
                    await add_search_attributes(client.client)
                    self._workers.start(client.client, self._settings, self._followers, self._reports)

    async def close(self) -> None:
        """Stop executing; another worker retries activities in flight that do not end.

        Tasks that wait for a run keep waiting until the workers have stopped, because an activity can wait
        for a run.
        """
        try:
            await self._workers.close()
        finally:
            self._reports.close()
            self._closed.set()
            self._client = None

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        """Start a run; a worker executes it.

        Raises:
            EngineError: no loop has the name, the input or an id is not JSON, or the server refuses.
        """
        encode([run_id, session], "the id of a run, with its session,")
        await (await self._connected()).start_run(loop, arg, run_id=run_id, session=session)

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        await (await self._connected()).signal(run_id, name, payload, signal_id=signal_id)

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str, session: str = "") -> Receipt:
        return await (await self._connected()).answer(run_id, op, payload, key=key)

    async def accepted_answer(self, run_id: str, op: str) -> Json:
        return await (await self._connected()).accepted_answer(run_id, op)

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        return await (await self._connected()).wait_status(run_id, op)

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        return await (await self._connected()).open_waits(session=session, limit=limit)

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        await (await self._connected()).cancel(run_id, reason)

    async def forget_session(self, session: str) -> int:
        """Delete the finished runs of a session from the server, and return their number."""
        return await (await self._connected()).forget_session(session)

    async def status(self, run_id: str) -> RunStatus:
        return await (await self._connected()).status(run_id)

    async def settled(self, run_id: str) -> RunStatus:
        return await self._unless_closed((await self._connected()).settled(run_id))

    async def result(self, run_id: str) -> RunStatus:
        return await self._unless_closed((await self._connected()).result(run_id))

    async def events(
        self, run_id: str, *, after: int = 0, follow: bool = True
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        client = await self._connected()
        async with self._reports.listening(run_id) if follow else nullcontext():
            events = client.events(run_id, after=max(0, after), follow=follow)
            with suppress(StopAsyncIteration):
                while True:
                    yield await self._unless_closed(anext(events))

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, after: str = "", limit: int = 100
    ) -> tuple[RunStatus, ...]:
        client = await self._connected()
        return await client.list_runs(state=state, session=session, after=after, limit=limit)

    async def replay(self, run_id: str) -> Json:
        """Replay the loop of a run from its history, without activities, and return its output.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the run is not completed.
            NondeterminismError: the loop makes other operations than the first time.
        """
        client = await self._connected()
        status = await client.status(run_id)
        if status.state != "completed":
            raise EngineError(f"run {run_id} is not completed; only then it can be replayed")
        replayer = Replayer(
            workflows=[RunWorkflow],
            data_converter=self._converter,
            interceptors=[SettingsInterceptor(self._settings)],
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
        result = await replayer.replay_workflow(await client.history(run_id), raise_on_replay_failure=False)
        if result.replay_failure is not None:
            raise NondeterminismError(
                f"run {run_id} does something else: {result.replay_failure}"
            ) from result.replay_failure
        return status.output

    # Connections and workers.

    def _require_registered(self) -> EngineSettings:
        if not self._is_registered:
            raise EngineError(
                "the engine does not belong to a runtime yet", hint="pass it to a runtime: Runtime(engine=…)"
            )
        return self._settings

    async def _connected(self) -> TemporalClient:
        """Return the client, and connect it at the first use.

        Raises:
            EngineError: the server cannot be reached, or another event loop uses the engine.
        """
        here = asyncio.get_running_loop()
        if self._loop not in (None, here) and self._client is not None:
            raise EngineError(
                "another event loop uses the engine", hint="create an engine for each event loop"
            )
        async with self._connecting:
            if self._client is None:
                settings = self._require_registered()
                self._loop = here
                self._client = TemporalClient(await self._connect_client(), settings, self._followers)
            return self._client

    async def _connect_client(self) -> Client:
        try:
            return await self._connect()
        except (RuntimeError, RPCError) as error:
            raise EngineError(
                f"no Temporal server answers at {self._address}: {error}",
                hint="start one (temporal server start-dev), or pass its address: TemporalEngine(address)",
            ) from error

    async def _unless_closed(self, work: Awaitable[T]) -> T:
        """Return the result of an awaitable.

        Raises:
            EngineError: the engine was closed meanwhile.
        """
        waiting, closing = asyncio.ensure_future(work), asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait((waiting, closing), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise engine_closed()
            return waiting.result()
        finally:
            waiting.cancel()
            closing.cancel()


def _offloading(codec: PayloadCodec | None, settings: EngineSettings) -> PayloadCodec | None:
    """Return the codec of an engine: with `payloads`, it stores large values outside the server."""
    if settings.payloads is None:
        return codec
    most_bytes, prefix = settings.limits.offload_bytes, settings.prefix
    return OffloadingCodec(store=settings.payloads, codec=codec, larger_than=most_bytes, prefix=prefix)
