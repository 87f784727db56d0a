"""The engine on a Temporal server: clients start and watch runs, any number of workers execute them."""

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

with extra("temporal"):  # the first import of the SDK by this package, whose other modules need it
    from temporalio.client import Client, TLSConfig
    from temporalio.converter import PayloadCodec
    from temporalio.service import RPCError
    from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from ..in_process.journal import Followers, encode
from .client import TemporalClient
from .payloads import OffloadingCodec, data_converter
from .reports import Reports
from .settings import EngineSettings, GivesSettings, TemporalLimits, add_search_attributes
from .workers import Workers
from .workflow import RunWorkflow

T = TypeVar("T")


class TemporalEngine:
    """Executes runs on a Temporal server.

    A run is a workflow of the type `toolgen.run`. Its state lives on the server, so that every process is a
    client, and a worker where it may work. The server forgets runs by the retention of its namespace. Ids of
    runs and operations, names of loops and tools, search attributes and the reasons of cancellations are
    readable to it, with a codec too.
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
        """Construct an engine; nothing is connected before it is used.

        Args:
            address: Host and port of the server's frontend.
            namespace: Where the runs are; it has to exist.
            queue: The task queue of runs whose agent has none of its own.
            queues: By id of an agent, the task queue of its runs; the same in all processes.
            worker: Whether `start` executes runs; without, this engine is a client.
            tls: As `temporalio.client.Client.connect` takes it, as is `api_key`.
            codec: Around every payload and failure, such as one that encrypts; the same in all processes.
            payloads: Keeps large values as the codec has made them, by workflow; the same in all processes.
            reports: Carries pieces of text and progress to followers in other processes; the same in all.
            prefix: Before the id of a run in the id of its workflow, where others use the namespace too.
            limits: Times and sizes.

        Raises:
            EngineError: a limit is more than the server takes.
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
        """The server of the store of large values; None where there is none."""
        return getattr(self._settings.payloads, "database", None)

    @property
    def is_worker(self) -> bool:
        return self._workers.are_working

    def secret(self, *, create: bool = True) -> bytes | None:
        """Return None: all processes need the same secret, and a server of others is no place for it."""
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
        """Register as `Engine.register`; `on_forget` is never called, for the server forgets by itself."""
        if self._is_registered:
            raise already_registered()
        self._is_registered = True
        self._settings = replace(
            self._settings, loops=loops, activities=activities, on_event=on_event, last_events=last_events
        )

    def assign(
        self, *, queues: Collection[str] = (), role: WorkerRole = "all", drain_s: float = DRAIN_S
    ) -> None:
        """Set which task queues the worker of this process serves, and what of them, before it starts.

        Raises:
            EngineError: the worker has started, or no queue of this engine has such a name.
        """
        self._workers.assign(queues, role, timedelta(seconds=drain_s))

    async def start(self, *, worker: bool = True, only: Collection[str] | None = None) -> None:
        """Start to execute; idempotent. With `only` this process is a client: workers have all runs.

        Raises:
            EngineError: the server cannot be reached, or lacks the search attributes and refuses them.
        """
        self._closed.clear()
        client = await self._connected()
        if worker and self._may_work and only is None:
            async with self._starting:
                if not self._workers.have_started:
                    await add_search_attributes(client.client)
                    self._workers.start(client.client, self._settings, self._followers, self._reports)

    async def close(self) -> None:
        """Stop executing; activities in flight that do not end are tried again by another worker.

        Those that wait for a run wait on until then, for they may be activities.
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

    async def kept_answer(self, run_id: str, op: str) -> Json:
        return await (await self._connected()).kept_answer(run_id, op)

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        return await (await self._connected()).wait_status(run_id, op)

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        return await (await self._connected()).open_waits(session=session, limit=limit)

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        await (await self._connected()).cancel(run_id, reason)

    async def forget_session(self, session: str) -> int:
        """Delete the runs of a session that are over from the server; return how many."""
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
        """Run the loop of a run again from its history, without activities, and return its output.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the run is not completed.
            NondeterminismError: the loop does something else than the first time.
        """
        client = await self._connected()
        status = await client.status(run_id)
        if status.state != "completed":
            raise EngineError(f"run {run_id} is not completed; only then it can be replayed")
        replayer = Replayer(
            workflows=[RunWorkflow],
            data_converter=self._converter,
            interceptors=[GivesSettings(self._settings)],
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
        """Return the client, connected where it was not.

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
        """Return the result of a wait.

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
    """Return the codec of an engine: around the given one, what keeps large values beside the server."""
    if settings.payloads is None:
        return codec
    most_bytes, prefix = settings.limits.offload_bytes, settings.prefix
    return OffloadingCodec(store=settings.payloads, codec=codec, larger_than=most_bytes, prefix=prefix)
