"""The engine on a Temporal server: clients start and watch runs, any number of workers execute them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeVar

from temporalio.client import Client, TLSConfig
from temporalio.converter import PayloadCodec
from temporalio.service import RPCError
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import (
    DRAIN_S,
    Activity,
    EngineCaps,
    EngineError,
    LastEvents,
    Loop,
    NondeterminismError,
    OnEvent,
    OnForget,
    PayloadStore,
    Receipt,
    RunState,
    RunStatus,
    RunWait,
    WaitStatus,
    WorkerRole,
)

from ..client import closed_error, registered_error
from ..journal import Followers, encode
from .activities import ActivityWorker
from .client import TemporalClient
from .offloading import offloading
from .payloads import data_converter
from .settings import GivesSettings, WorkflowSettings, require_search_attributes
from .workers import Workers
from .workflow import RunWorkflow

_SERVER_TAKES: Final = 2_000_000
"""Bytes of a value that has no place beside the server, which takes 2 MiB with all that is around it."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Registered:
    loops: Mapping[str, Loop]
    activities: Mapping[str, Activity]
    on_event: OnEvent | None
    last_events: LastEvents | None


class TemporalEngine:
    """Executes runs on a Temporal server.

    A run is a workflow of the type `toolgen.run`. Its state lives on the server, so that every process is a
    client, and a worker where it may work. The server forgets runs by the retention of its namespace.
    """

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
        offload_bytes: int = 64_000,
        prefix: str = "",
        heartbeat_s: float = 30.0,
        reply_s: float = 2.0,
        max_payload_bytes: int = 1_000_000,
        max_cached_runs: int = 1_000,
        max_activities: int = 100,
    ) -> None:
        """Construct an engine; nothing is connected before it is used.

        Args:
            address: Host and port of the server's frontend.
            namespace: Where the runs are; it has to exist.
            queue: The task queue of runs whose agent has none of its own.
            queues: By id of an agent, the task queue of its runs; the same in all processes.
            worker: Whether `start` executes runs; without, this engine is a client.
            tls: As `temporalio.client.Client.connect` takes it.
            api_key: As `temporalio.client.Client.connect` takes it.
            codec: Around every payload and failure, such as one that encrypts; the same in all processes. Ids
                of runs and operations, names of loops and tools, search attributes and the reasons of
                cancellations stay readable to the server.
            payloads: Where large values are, with references to them in histories; the same in all
                processes. It keeps what the codec has made of them, by the id of their workflow.
            offload_bytes: The most bytes of one payload, as the codec has made it, that go to the server.
            prefix: Before the id of a run in the id of its workflow, where others use the namespace too.
            heartbeat_s: The seconds after which a worker without heartbeat counts as lost. A call that holds
                the event loop of its worker for longer is taken for lost, too.
            reply_s: The seconds for which an answer and a cancellation wait for a worker.
            max_payload_bytes: The most bytes of JSON of one argument, result or signal; without `payloads`
                at most 2,000,000, since the server takes payloads of 2 MiB.
            max_cached_runs: The most runs that a worker keeps in memory; others are read again.
            max_activities: The most activities that a worker executes at once.

        Raises:
            EngineError: `max_payload_bytes` or `offload_bytes` is more than the server takes.
        """
        _require_fitting(max_payload_bytes, offload_bytes, has_store=payloads is not None)
        self._address = address
        self._namespace = namespace
        self._queue = queue
        self._queues = dict(queues or {})
        self._may_work = worker
        self._tls = tls
        self._api_key = api_key
        self._payloads = payloads
        self._offload_bytes = None if payloads is None else offload_bytes
        self._codec = offloading(codec, payloads, larger_than=offload_bytes, prefix=prefix)
        self._prefix = prefix
        self._heartbeat = timedelta(seconds=heartbeat_s)
        self._reply = timedelta(seconds=reply_s)
        self._max_payload_bytes = max_payload_bytes
        self._workers = Workers(
            (queue, *self._queues.values()), max_cached_runs=max_cached_runs, max_activities=max_activities
        )
        self._followers = Followers()
        self._registered: _Registered | None = None
        self._client: TemporalClient | None = None
        self._connecting = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = asyncio.Event()

    @property
    def name(self) -> str:
        return "temporal"

    @property
    def id(self) -> str:
        return f"temporal:{self._namespace}:{self._prefix}"

    @property
    def caps(self) -> EngineCaps:
        return EngineCaps(is_durable=True, has_many_workers=True, max_payload_bytes=self._max_payload_bytes)

    @property
    def database(self) -> object:
        """The server of the store of large values; None where there is none."""
        return getattr(self._payloads, "database", None)

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
        if self._registered is not None:
            raise registered_error()
        self._registered = _Registered(loops, activities, on_event, last_events)

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
                    await require_search_attributes(client.client)
                    settings = self._settings(self._require_registered())
                    self._workers.start(client.client, settings, self._activities(client.client))

    async def close(self) -> None:
        """Stop executing; activities in flight that do not end are tried again by another worker.

        Those that wait for a run wait on until then, for they may be activities.
        """
        try:
            await self._workers.close()
        finally:
            self._closed.set()
            self._client = None

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        """Start a run; a worker executes it.

        Raises:
            EngineError: no loop has the name, the input is not JSON, or the server refuses.
        """
        _, copy = encode(arg, f"the input of run {run_id}", self._max_payload_bytes)
        if loop not in self._require_registered().loops:
            raise EngineError(f"no loop is registered as {loop!r}, for the run {run_id}")
        await (await self._connected()).start_run(loop, copy, run_id=run_id, session=session)

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        what = f"the payload of the signal {name} to run {run_id}"
        _, copy = encode(payload, what, self._max_payload_bytes)
        await (await self._connected()).signal(run_id, name, copy, signal_id=signal_id)

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str) -> Receipt:
        _, copy = encode(payload, f"the answer to {op} of run {run_id}", self._max_payload_bytes)
        return await (await self._connected()).answer(run_id, op, copy, key=key)

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
        events = (await self._connected()).events(run_id, after=max(0, after), follow=follow)
        while True:
            try:
                event = await self._unless_closed(anext(events))
            except StopAsyncIteration:
                return
            yield event

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, limit: int = 100
    ) -> tuple[RunStatus, ...]:
        return await (await self._connected()).list_runs(state=state, session=session, limit=limit)

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
            data_converter=data_converter(self._codec),
            interceptors=[GivesSettings(self._settings(self._require_registered()))],
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
        said = await replayer.replay_workflow(await client.history(run_id), raise_on_replay_failure=False)
        if said.replay_failure is not None:
            raise NondeterminismError(
                f"run {run_id} does something else: {said.replay_failure}"
            ) from said.replay_failure
        return status.output

    # Connections and workers.

    def _require_registered(self) -> _Registered:
        if self._registered is None:
            raise EngineError("the engine has no loops yet", hint="give it to a runtime: Runtime(engine=…)")
        return self._registered

    async def _connected(self) -> TemporalClient:
        """Return the client, connected where it was not.

        Raises:
            EngineError: the server cannot be reached, or another event loop has the engine.
        """
        here = asyncio.get_running_loop()
        if self._loop not in (None, here) and self._client is not None:
            raise EngineError("another event loop has the engine", hint="use one engine for each")
        async with self._connecting:
            if self._client is None:
                self._loop = here
                self._client = await self._connect()
            return self._client

    async def _connect(self) -> TemporalClient:
        registered = self._require_registered()
        try:
            client = await Client.connect(
                self._address,
                namespace=self._namespace,
                tls=self._tls,
                api_key=self._api_key,
                data_converter=data_converter(self._codec),
            )
        except (RuntimeError, RPCError) as error:
            raise EngineError(
                f"no Temporal server answers at {self._address}: {error}",
                hint="start one (temporal server start-dev), or give its address: TemporalEngine(address)",
            ) from error
        return TemporalClient(
            client,
            self._settings(registered),
            self._followers,
            reply=self._reply,
            last_events=registered.last_events,
            payloads=self._payloads,
        )

    def _settings(self, registered: _Registered) -> WorkflowSettings:
        return WorkflowSettings(
            loops=registered.loops,
            last_events=registered.last_events,
            prefix=self._prefix,
            queue=self._queue,
            queues=self._queues,
            max_payload_bytes=self._max_payload_bytes,
            offload_bytes=self._offload_bytes,
            heartbeat=self._heartbeat,
        )

    def _activities(self, client: Client) -> ActivityWorker:
        registered = self._require_registered()
        return ActivityWorker(
            client,
            registered.activities,
            registered.on_event,
            self._followers,
            heartbeat=self._heartbeat,
            max_payload_bytes=self._max_payload_bytes,
            prefix=self._prefix,
        )

    async def _unless_closed(self, work: Awaitable[T]) -> T:
        """Return the result of a wait.

        Raises:
            EngineError: the engine was closed meanwhile.
        """
        waiting, closing = asyncio.ensure_future(work), asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait((waiting, closing), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise closed_error()
            return waiting.result()
        finally:
            waiting.cancel()
            closing.cancel()


def _require_fitting(max_payload_bytes: int, offload_bytes: int, *, has_store: bool) -> None:
    """Raise where the server would refuse what the engine sends.

    Raises:
        EngineError: as said.
    """
    if max_payload_bytes > _SERVER_TAKES and not has_store:
        raise EngineError(
            f"max_payload_bytes is {max_payload_bytes}, and a Temporal server takes {_SERVER_TAKES}",
            hint="keep large values beside it: TemporalEngine(payloads=PostgresPayloads(database))",
        )
    if not 1_000 <= offload_bytes <= _SERVER_TAKES:
        raise EngineError(f"offload_bytes is {offload_bytes}; give 1000 to {_SERVER_TAKES}")
