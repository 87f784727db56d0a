"""The registry of tools, and the door through which calls come in.

`Runtime` is the one class that a host sees. What it does for calls that wait, for runs and for disabled tools
stands in its base classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from toolgen.contract.limits import DEFAULT_LIMITS, Limits

from .call.artifact_refs import load_artifact
from .call.dispatch import dispatch, unknown_tool_result
from .call.execution import Execution
from .call.frame import Batch, Frame, RuntimeServices, event_reporter_for
from .call.hooks import Hook
from .call.host_arguments import HostArguments, call_arguments, tool_name
from .call.parallel_calls import gather_results
from .call.policy import Policy
from .call.registered_tool import Interceptor, RuntimeOptions
from .call.scheduler import Scheduler
from .call.scheduling import DEFAULT_SCHEDULING, Scheduling
from .call.trace import Trace
from .calls import NO_META, CallMeta, ToolCall
from .codec import Arguments
from .disabling import DisabledTools
from .errors import UnknownToolError
from .extension import Extension, ExtensionPoint, ExtensionServices
from .many_workers import require_shared, stores_of
from .results import ToolResult
from .run_control import RunControl
from .specs import ToolSpec
from .stores.servers import servers_of
from .tool_switches import ToolSwitches
from .toolsets.dynamic import DynamicToolset, OnError, ReadonlyContext, StaticToolset
from .toolsets.lookup import id_of_tool
from .toolsets.registration import ToolsetRegistration, runtime_options
from .toolsets.registry import Registry
from .toolsets.snapshot import Snapshot
from .toolsets.toolsets import Toolsets
from .values import Values
from .waiting.call_runs import CallRuns
from .waiting.closing import let_calls_end
from .waiting.ledger import Ledger
from .waiting.named_calls import NamedCalls
from .waiting.options import WAIT_OPTIONS, WaitOptions, require_engine
from .waiting.resuming import WaitingTools
from .waiting.wait_registry import WaitRegistry
from .waiting.waiting_calls import WaitingCalls

if TYPE_CHECKING:
    from .capabilities import Capability, StoredArtifact
    from .engine import Engine
    from .events.hub import Events
    from .metrics import Metrics
    from .telemetry import ToolSpans


class Runtime(NamedCalls, WaitingCalls, RunControl, ToolSwitches):
    """Executes the calls of the toolsets that are registered with it."""

    def __init__(
        self,
        *,
        interceptors: Iterable[Interceptor] = (),
        hooks: Iterable[Hook] = (),
        policy: Policy | None = None,
        capabilities: Iterable[Capability] = (),
        events: Events | None = None,
        spans: ToolSpans | None = None,
        metrics: Metrics | None = None,
        disabled: DisabledTools | None = None,
        engine: Engine | None = None,
        secret: bytes | Sequence[bytes] | None = None,
        waiting: WaitOptions = WAIT_OPTIONS,
        is_interactive: bool = True,
        tool_timeout: float | None = None,
        stage_timeout: float | None = 30.0,
        limits: Limits = DEFAULT_LIMITS,
        scheduling: Scheduling = DEFAULT_SCHEDULING,
    ) -> None:
        """Construct a runtime without tools; interceptors and hooks run in the order given.

        Args:
            interceptors: Fill injected fields that no call fact fills.
            hooks: Stand before and after tools.
            policy: Decides over every call.
            capabilities: What executors find at their context, by name.
            events: The hub for events; without it none are emitted.
            spans: OpenTelemetry's, one a call.
            metrics: OpenTelemetry's, of calls, waits and runs.
            disabled: The tools that are disabled while the runtime works; without it none can be.
            engine: Executes the runs of agents, and those of calls that wait for an answer; without it nobody
                can be asked, and agents run in this process, in memory.
            secret: Seals the tokens of calls that wait, and their answers: at least 16 random bytes, the same
                in all processes; of several the first seals. By default the engine keeps one, unless it has
                many workers.
            waiting: For how long calls wait, how many, and who may answer.
            is_interactive: Whether there is somebody to ask.
            tool_timeout: Seconds for a tool whose design says nothing; None for no limit.
            stage_timeout: Seconds for one step of a hook, an interceptor, a policy or a preview.
            limits: How large documents may be that come in and that go out.
            scheduling: How many calls run at once, by process, run, session and tool, how many wait, how many
                threads synchronous tools have, and how often a call is retried.

        Raises:
            RegistrationError: something is no interceptor, no hook or no engine, one stands where a list
                belongs, or two capabilities have one name; or the engine has many workers that cannot share
                a store of the capabilities, or there is no secret for them.
        """
        require_engine(engine)
        options = runtime_options(
            interceptors,
            hooks,
            capabilities,
            has_policy=policy is not None,
            timeout=tool_timeout,
            disabled=disabled,
            limits=limits,
        )
        self._disabled = disabled
        if engine is not None:
            require_shared(engine, stores_of(options.capabilities, disabled), has_secret=secret is not None)
        self._hook_tools = options.hook_tools
        scheduler = Scheduler(scheduling)
        self._services = RuntimeServices(
            execution=Execution(scheduler, scheduling, timeout=tool_timeout, metrics=metrics),
            scheduler=scheduler,
            reports=event_reporter_for(events, limits, metrics),
            spans=spans,
            metrics=metrics,
            disabled=disabled,
            capabilities=options.capabilities,
            policy=policy,
            waits=None if engine is None else WaitRegistry(engine, waiting, secret, scheduler),
            is_interactive=is_interactive,
            limits=limits,
            stage_timeout=stage_timeout,
        )
        self._events, self._engine = events, engine
        self._assemble(options)

    def register(self, registration: ToolsetRegistration | StaticToolset) -> None:
        """Add a toolset; all of it or, when something does not fit, nothing.

        Raises:
            FormatError: it was generated in another format.
            RegistrationError: it is registered already, a method or a capability is missing, or nobody
                fills an injected field.
        """
        self._registry.register(registration)

    def add_toolset(
        self,
        toolset: DynamicToolset | ToolsetRegistration,
        *,
        on_error: OnError = "fail",
        timeout: float = 30.0,
    ) -> None:
        """Add a toolset that lists its tools for each request; `snapshot` calls it.

        An asynchronous context manager is opened with the runtime and closed with it. `timeout` are the
        seconds that opening it, or one list, may take.

        Raises:
            RegistrationError: it is no toolset, or another one has its name.
        """
        self._toolsets.add(toolset, on_error, timeout)

    async def snapshot(
        self, context: ReadonlyContext | None = None, *, previous: Snapshot | None = None
    ) -> Snapshot:
        """Return the tools of one model request; its calls go through the snapshot.

        A wire name that tools of several registered toolsets have gets the name of the toolset before it.
        `previous` is the snapshot of the request before it, in the same run.

        Raises:
            SnapshotError: a toolset cannot list its tools, or two tools have one name, or a hook names a
                tool that its toolset does not list.
            RegistrationError: as `call`.
        """
        self._hook_tools.require_all_known()
        return await self._toolsets.snapshot(self, context or ReadonlyContext(), previous)

    async def call(
        self,
        tool: str | ToolSpec[Any, Any],
        arguments: HostArguments,
        meta: CallMeta = NO_META,
        *,
        trace: Trace | None = None,
        values: Values | None = None,
        within: Snapshot | None = None,
    ) -> ToolResult:
        """Return the one result of a call, whatever happens in it.

        `tool` is an id, a wire name that one registered tool has, or a spec, which stands for its id.
        `arguments` are those of the model: JSON text, a mapping of JSON values, or a payload of the tool,
        which is encoded without its injected fields. A fresh `trace` gets the steps of the call. `values` are
        those that the turn shares. `within` is the snapshot that advertised the tool.

        Raises:
            RegistrationError: a hook names a tool that is not there; no call is served then.
            EventLoopError: the runtime belongs to another event loop, which has not ended.
            TypeError: the tool or the arguments are of another type; the host gave them, not the model.
            ValueError: the trace is that of another call.
        """
        if not self._hook_tools.is_settled:
            self._hook_tools.require_all_known()
        services = self._services
        batch = Batch(services.capabilities, values)
        directory = self._directory if within is None else within.directory
        # By class, not by `type()`: a call each for every call of a tool.
        name: str = tool if tool.__class__ is str else tool_name(tool)  # pyright: ignore[reportAssignmentType]
        found = directory.by_name.get(name)
        if found is None:
            if trace is not None:
                trace.require_unused()
            result = unknown_tool_result(directory, name, meta, services)
        else:
            given: Arguments = (
                arguments  # pyright: ignore[reportAssignmentType]
                if arguments.__class__ is bytes
                else call_arguments(found.spec, arguments)
            )
            if services.is_found_again is not None:
                services = services.for_direct_call(found)
            result = await dispatch(Frame(found, given, meta, batch, services, trace))
            if result.status != "ok" and (result.delegated is not None or result.frozen is not None):
                result = await self._calls.later(found, given, result, meta)
        if batch.touched:
            (result,) = await batch.settle((result,), self._services.reports)
        if trace is not None and result.error is not None:
            trace.fail(result.error)
        return result

    async def call_all(
        self, calls: Iterable[ToolCall], *, values: Values | None = None, within: Snapshot | None = None
    ) -> tuple[ToolResult, ...]:
        """Return the results of calls made at once, in the order of the calls.

        A failure of one leaves the others alone. What they did to shared state is settled in their order.

        Raises:
            RegistrationError, EventLoopError: as `call`.
        """
        self._hook_tools.require_all_known()
        directory = self._directory if within is None else within.directory
        batch = Batch(self._services.capabilities, values)
        return await gather_results(calls, directory, batch, self._services, self._calls.later)

    async def artifact(self, uri: str, *, session_id: str | None = None) -> StoredArtifact:
        """Return the data of a URI: an artifact of a result, a file, or a result that was too large.

        `session_id` is whose it has to be, "" for runs of no session; without one it is not compared.

        Raises:
            UnknownArtifactError: there is nothing, or it belongs to another session.
            StoreError: the store cannot be used.
        """
        return await load_artifact(self._services, uri, session_id)

    @property
    def events(self) -> Events | None:
        """The hub of its events; None where this runtime was given none, and nothing is told."""
        return self._events

    @property
    def is_dynamic(self) -> bool:
        """Whether `snapshot` may return other tools for the next request."""
        return self._toolsets.may_change

    async def aclose(self) -> None:
        """Stop the runs of agents, end the threads, and close what the runtime owns.

        Direct calls that are executed as runs, since they were approved or have a name, may end before, for
        at most `CLOSING_S` seconds.
        """
        try:
            if self._services.waits is not None:
                await let_calls_end(self._services.waits)
        finally:
            await self._services.late_ends.close()
            await self._extension.close()
            if self._engine is not None:
                await self._engine.close()
            await self._toolsets.close()
            self._services.execution.close()

    async def __aenter__(self) -> Self:
        if self._toolsets.names:  # some register what they serve once it is open
            self._hook_tools.require_all_known()
        self._services.late_ends.open()
        await self._toolsets.open()
        await self._extension.open()
        if self._services.waits is not None and self._services.waits.engine.caps.is_durable:
            await self._services.waits.start()  # to go on with what an earlier process began
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    def extend(self, extension: Extension) -> ExtensionServices:
        """Attach an extension, which the runtime opens, asks and closes; return the services for it.

        Raises:
            RegistrationError: something stands on it already.
        """
        self._extension.take(extension)
        self._tools.of_run = extension.find_tool
        return ExtensionServices(
            services=self._services,
            registry=self._registry,
            events=self._events,
            tool_of=self._tools.of_answered,
            serve_calls=self._calls.serve,
        )

    @property
    def extension(self) -> Extension | None:
        """The extension of this runtime; None without one."""
        return self._extension.extension

    async def check_stores(self) -> None:
        """Return where the servers of all stores can be used now: of capabilities, sessions, large values.

        Stores in memory and in files are not checked, nor those of sinks. It has no time limit of its own.

        Raises:
            StoreError: one of them cannot be used; the class says why.
        """
        stores = stores_of(self._services.capabilities, self._disabled).values()
        for server in servers_of((*stores, *self._extension.stores, self._engine)):
            await server.check()

    @property
    def stuck_threads(self) -> Mapping[str, int]:
        """Number of stuck threads by tool id: their calls are over, their executors still run."""
        return self._services.execution.stuck_threads

    def list_toolsets(self) -> tuple[str, ...]:
        """Return the names of the registered toolsets, `service.toolset`, in the order of registration."""
        return self._toolsets.names

    def list_tools(self) -> tuple[ToolSpec[Any, Any], ...]:
        """Return the specs of all registered tools, in the order of registration."""
        return self._directory.specs

    def tool_spec(self, tool: str) -> ToolSpec[Any, Any]:
        """Return the spec of a tool by id or wire name.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
        """
        found = self._directory.by_name.get(tool)
        if found is None:
            raise UnknownToolError(self._directory.unknown_tool_message(tool))
        return found.spec

    def tool_schema(self, tool: str) -> dict[str, dict[str, Any]]:
        """Return the JSON Schemas of a tool under `payload` and `result`.

        Raises:
            UnknownToolError: as `tool_spec`.
        """
        spec = self.tool_spec(tool)
        return {"payload": spec.payload.schema, "result": spec.result.schema}

    def _assemble(self, options: RuntimeOptions) -> None:
        """Make what stands on the services: the toolsets, the extension, and the calls that wait."""
        self._toolsets = Toolsets(options, self._services.reports)
        self._registry = Registry(options, self._toolsets)
        self._directory = self._registry.directory
        self._extension = ExtensionPoint(self._services)
        self._tools = WaitingTools(self, self._directory, self._toolsets)
        self._calls = CallRuns(self._services, self._tools, self._extension, self._events)
        self._ledger = None
        if (waits := self._services.waits) is not None:
            if waits.engine.caps.has_many_workers:
                self._services.is_found_again = self._tools.can_list
            self._calls.serve(waits)
            self._ledger = Ledger(self._services.limits, waits, self._calls, self)

    async def _id_of(self, tool: str) -> str:
        return await id_of_tool(tool, self._directory, [self.snapshot, *self._extension.listings])
