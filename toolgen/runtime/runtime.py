"""The registry of tools, and the door through which calls come in.

The file is longer than others: `Runtime` is the one class that a host sees, and its methods only hand on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from toolgen.contract.json_value import Json
from toolgen.contract.limits import DEFAULT_LIMITS, Limits

from .call.artifact_refs import load_artifact
from .call.batch import Batch
from .call.dispatch import dispatch
from .call.ending import unknown_tool_result
from .call.execution import Execution
from .call.failures import Arguments
from .call.frame import Frame
from .call.hooks import Hook
from .call.host_arguments import HostArguments, call_arguments, tool_name
from .call.parallel_calls import gather_results
from .call.policy import Policy
from .call.registered_tool import Interceptor, RegisteredTool
from .call.services import RuntimeServices, call_reporter_for
from .call.trace import Trace
from .calls import NO_META, CallMeta, ToolCall
from .disabling import DisabledTool, DisabledTools, require_disabled
from .errors import DeclaredError, UnknownToolError
from .extension import Extension, ExtensionPoint, ExtensionServices
from .many_workers import require_shared, stores_of
from .resolution import Resolution, ResolveError
from .results import Suspended, ToolResult
from .specs import ToolSpec
from .stores.servers import servers_of
from .toolsets.dynamic import DynamicToolset, OnError, ReadonlyContext, StaticToolset
from .toolsets.lookup import id_of_tool
from .toolsets.registration import ToolsetRegistration, runtime_options
from .toolsets.registry import Registry
from .toolsets.snapshot import Snapshot
from .toolsets.toolsets import Toolsets
from .values import Values
from .waiting.answers import cancel_answer
from .waiting.options import WAIT_OPTIONS, WaitOptions, refuse_store, require_engine
from .waiting.suspension_service import SuspensionService
from .waiting.tools import WaitingTools
from .waiting.wait_registry import WaitRegistry
from .waiting.waiting_runs import WaitingRuns

if TYPE_CHECKING:
    from .capabilities import Capability, StoredArtifact
    from .engine import Engine, RunStatus
    from .events.hub import Events
    from .metrics import Metrics
    from .telemetry import ToolSpans


class Runtime:
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
        suspensions: object = None,
        is_interactive: bool = True,
        tool_timeout: float | None = None,
        stage_timeout: float | None = 30.0,
        limits: Limits = DEFAULT_LIMITS,
        max_parallel: int = 16,
        max_threads: int = 8,
        max_stuck_threads: int = 32,
        max_retries: int = 2,
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
            suspensions: Refused: calls wait in the runs of the engine.
            is_interactive: Whether there is somebody to ask.
            tool_timeout: Seconds for a tool whose design says nothing; None for no limit.
            stage_timeout: Seconds for one step of a hook, an interceptor, a policy or a preview.
            limits: How large documents may be that come in and that go out.
            max_parallel: Calls of `call_all` that run at once.
            max_threads: Threads for executors that are not asynchronous.
            max_stuck_threads: Threads that are replaced when a call is over and its function runs on. While
                so many are stuck, the tools that hold them are not available.
            max_retries: Of a tool that is idempotent or only reads, after a failure that says it may work.

        Raises:
            RegistrationError: something is no interceptor, no hook or no engine, one stands where a list
                belongs, or two capabilities have one name; or the engine has many workers that cannot share
                a store of the capabilities, or there is no secret for them.
        """
        refuse_store(suspensions)
        require_engine(engine)
        options = runtime_options(
            interceptors,
            hooks,
            capabilities,
            has_policy=policy is not None,
            timeout=tool_timeout,
            disabled=disabled,
        )
        self._disabled = disabled
        if engine is not None:
            require_shared(engine, stores_of(options.capabilities, disabled), has_secret=secret is not None)
        self._hook_tools = options.hook_tools
        self._services = RuntimeServices(
            execution=Execution(
                max_parallel=max_parallel,
                max_threads=max_threads,
                max_stuck_threads=max_stuck_threads,
                max_retries=max_retries,
                timeout=tool_timeout,
                metrics=metrics,
            ),
            reports=call_reporter_for(events, limits, metrics),
            spans=spans,
            metrics=metrics,
            disabled=disabled,
            capabilities=options.capabilities,
            policy=policy,
            waits=None if engine is None else WaitRegistry(engine, waiting, secret),
            is_interactive=is_interactive,
            limits=limits,
            stage_timeout=stage_timeout,
        )
        self._toolsets = Toolsets(options, self._services.reports)
        self._registry = Registry(options, self._toolsets)
        self._directory = self._registry.directory
        self._extension = ExtensionPoint(self._services)
        self._engine, self._events = engine, events
        self._tools = WaitingTools(self, self._directory, self._toolsets, self._extension.find_tool)
        if engine is not None and engine.caps.has_many_workers:
            self._services.is_found_again = self._tools.can_list
        self._suspensions = SuspensionService(self._services, self._tools)
        self._direct = None
        if engine is not None:
            self._direct = WaitingRuns(self._services, self._tools, self._extension.run_delegated, events)

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
            TypeError: the tool or the arguments are of another type; the host gave them, not the model.
        """
        if not self._hook_tools.is_settled:
            self._hook_tools.require_all_known()
        batch = Batch(self._services.capabilities, values)
        directory = self._directory if within is None else within.directory
        name = tool_name(tool)
        found = directory.find(name)
        if found is None:
            result = unknown_tool_result(directory, name, meta, self._services)
        else:
            given = call_arguments(found.spec, arguments)
            services = self._services.for_direct_call(found)
            result = await dispatch(Frame(found, given, meta, batch, services, trace))
            if result.delegated is not None or result.frozen is not None:
                result = await self._later(found, given, result, meta)
        if trace is not None and result.error is not None:
            trace.fail(result.error)
        return (await batch.settle((result,), self._services.reports))[0] if batch.touched else result

    async def call_all(
        self, calls: Iterable[ToolCall], *, values: Values | None = None, within: Snapshot | None = None
    ) -> tuple[ToolResult, ...]:
        """Return the results of calls made at once, in the order of the calls.

        A failure of one leaves the others alone. What they did to shared state is settled in their order.

        Raises:
            RegistrationError: as `call`.
        """
        self._hook_tools.require_all_known()
        directory = self._directory if within is None else within.directory
        batch = Batch(self._services.capabilities, values)
        return await gather_results(calls, directory, batch, self._services, self._later)

    async def deliver(
        self,
        token: str,
        answer: Json | DeclaredError,
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
        within: Snapshot | None = None,
    ) -> ToolResult:
        """Answer a suspended call and return its result; the same answer again runs nothing.

        The process that executes the call returns its result for the first answer. For the same answer again,
        and in other processes, it is what the log of the run says: status, document, display and error of the
        same result, without the typed value and artifacts, `{"sensitive": true}` for each sensitive value.

        Where nobody has executed the call after `wait_s` seconds, the status is `pending`: the answer is
        kept, and the same answer asks again.

        Args:
            token: Of what waits.
            answer: As its `answer_schema` says. Of pending work that failed, `{"error": "why"}` or the
                `DeclaredError` that an executor would raise; its cause and its retry hint are not kept.
            session_id: Whose answer it is; without one it is not compared.
            by: Who answers, for the log and the rule of `WaitOptions`.
            wait_s: Seconds to wait for the result; None for as long as it takes.
            within: A snapshot that has the tool, for one of a dynamic toolset.

        Raises:
            SuspensionError: the token or the answer is not good; its class says why, and nothing ran.
            RegistrationError: as `call`.
        """
        self._hook_tools.require_all_known()
        return await self._suspensions.deliver(
            token, answer, session_id=session_id, by=by, wait_s=wait_s, within=within
        )

    async def cancel(
        self,
        token: str,
        reason: str = "",
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
    ) -> ToolResult:
        """Cancel a suspended call and return its result: denied, with the reason.

        The model sees the reason and the code `canceled`. Taking it back again gives the same, for whatever
        reason; a tool that has another contract now may still be taken back. `wait_s` is as in `deliver`.

        Raises:
            SuspensionError: as `deliver`; it was answered, or its time is over, or nothing waits.
        """
        return await self.deliver(token, cancel_answer(reason), session_id=session_id, by=by, wait_s=wait_s)

    async def result(
        self, token: str, *, session_id: str | None = None, wait_s: float | None = 30.0
    ) -> ToolResult:
        """Return the result of a suspended call once somebody else has answered it.

        Where it has none after `wait_s` seconds, the status is `pending`; None waits for as long as it takes.

        Raises:
            SuspensionError: nothing waits under the token, it belongs to another session, or nobody
                answered in time.
        """
        return await self._suspensions.result(token, session_id, wait_s)

    async def progress(
        self, token: str, fraction: float | None = None, message: str = "", value: Any = None
    ) -> None:
        """Report the progress of pending work, from 0 to 1; the value fits `LongRunning(progress=)`.

        The subscribers of this runtime hear of it, and no other process does.

        Raises:
            SuspensionError: nothing is pending under the token, or the tool is not here (`MissingToolError`).
            MalformedResultError: the fraction, the message or the value does not fit.
        """
        await self._suspensions.progress(token, fraction, message, value)

    async def suspension(self, token: str, *, session_id: str | None = None) -> Suspended:
        """Return the suspended call of a token, answered or not, to show a person all of it.

        Raises:
            SuspensionError: nothing waits under the token, or it belongs to another session.
        """
        return await self._suspensions.suspension(token, session_id)

    async def suspended(self, session_id: str | None = None) -> tuple[Suspended, ...]:
        """Return the suspended calls, oldest first; of one session where it is given.

        Raises:
            NoEngineError: no call of this runtime can wait.
        """
        return await self._suspensions.waiting(session_id)

    def arguments_mac(self, tool: str, payload_json: bytes, meta: CallMeta) -> str:
        """Return the `Suspended.arguments_mac` that a call of a tool with these encoded arguments would have.

        It is keyed by the secret of tokens, and counts for the session and the id of the call alone, so that
        sensitive values are compared without being shown.

        Raises:
            NoEngineError: no call of this runtime can wait.
        """
        return self._suspensions.arguments_mac(tool, payload_json, meta)

    async def artifact(self, uri: str, *, session_id: str | None = None) -> StoredArtifact:
        """Return the data of a URI: an artifact of a result, a file, or a result that was too large.

        `session_id` is whose it has to be, "" for runs of no session; without one it is not compared.

        Raises:
            UnknownArtifactError: there is nothing, or it belongs to another session.
            StoreError: the store cannot be used.
        """
        return await load_artifact(self._services, uri, session_id)

    def be_client(self) -> None:
        """Execute only the runs of calls that this runtime makes or answers, and those of `start_runs`.

        It is called before the runtime is opened. Where another process executes the runs of a file, that one
        executes these too. Without an engine it does nothing.
        """
        if self._services.waits is not None:
            self._services.waits.be_client()

    async def cancel_run(self, run_id: str, reason: str = "") -> None:
        """Cancel a run, with all that it has started and waits for; one that is over is left alone.

        Raises:
            UnknownRunError: no run has the id.
            NoEngineError: this runtime has no runs.
        """
        await self._extension.cancel_run(run_id, reason)

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of a run for its clients.

        For its engine the run of an agent that ended with a failure is `completed`: its loop has returned.
        For clients it is `failed`, and `error` says why.
        """
        return self._extension.status_of(status)

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Store the outcome of a call whose outcome was unknown, and return it.

        The turns after it see it in the place of the words that the call may have run, and who says so is
        kept beside it. It is also the run `<run>/resolved:<call>`, whose one `tool_end` names who says so in
        `resolved_by`. Nothing is executed.

        Args:
            run_id: Of the agent that made the call, or of the call itself: `call_…`.
            tool_call_id: Of the call; "" for that of a run of one call.
            resolution: What became of it; a result has to fit the tool.
            by: Who has found out.

        Raises:
            UnknownRunError: no run has the id.
            ResolveError: the outcome is known or may still come, there is no such call, the result does not
                fit, or nobody is named.
        """
        if not by:
            raise ResolveError("by is empty", hint="name the person who resolves the call")
        frozen = None if self._direct is None else await self._direct.waited(run_id)
        if self._direct is not None and frozen is not None:
            return await self._direct.resolve(run_id, frozen, tool_call_id, resolution, by)
        return await self._extension.resolve(run_id, tool_call_id, resolution, by=by)

    async def start_runs(self, run_id: str = "") -> None:
        """Start to execute the runs of the engine; after `be_client` only the one of this id.

        Raises:
            EngineError: another process executes the runs of the file, and this runtime is no client.
        """
        if self._services.waits is not None:
            await self._services.waits.start(run_id)

    @property
    def events(self) -> Events | None:
        """The hub of its events; None where this runtime was given none, and nothing is told."""
        return self._events

    @property
    def is_dynamic(self) -> bool:
        """Whether `snapshot` may return other tools for the next request."""
        return self._toolsets.may_change

    @property
    def engine(self) -> Engine | None:
        """The engine that executes the runs; None without one, and then no call can wait."""
        return self._engine

    async def aclose(self) -> None:
        """Stop the runs of agents, end the threads, and close what the runtime owns."""
        await self._extension.close()
        if self._engine is not None:
            await self._engine.close()
        await self._toolsets.close()
        self._services.execution.close()

    async def __aenter__(self) -> Self:
        if self._toolsets.names:  # some register what they serve once it is open
            self._hook_tools.require_all_known()
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
        return ExtensionServices(
            services=self._services,
            registry=self._registry,
            events=self._events,
            tool_of=self._tools.of_answered,
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

    async def disable_tool(self, tool: str, reason: str = "", *, by: str = "") -> str:
        """Disable a tool in all processes that share the store, within seconds, and return its id.

        Models are not offered it any more, and its calls end as errors without their executor, those too that
        wait for an answer now. Calls that are executed go on.

        Args:
            tool: An id, or a wire name that one tool has.
            reason: What models and people read.
            by: Who disables it.

        Raises:
            UnknownToolError: no tool, or more than one, has the name.
            RegistrationError: this runtime has no `disabled`, or a toolset cannot list its tools.
            StoreError: the store cannot be used.
        """
        disabled = require_disabled(self._disabled)
        id_ = await self._id_of(tool)
        await disabled.disable(id_, reason, by=by)
        return id_

    async def enable_tool(self, tool: str) -> str:
        """Enable a tool again, and return its id; of a tool that is gone by its id.

        Raises:
            UnknownToolError, RegistrationError, StoreError: as `disable_tool`.
        """
        disabled = require_disabled(self._disabled)
        is_known = any(one.tool == tool for one in await disabled.all())
        id_ = tool if is_known else await self._id_of(tool)
        await disabled.enable(id_)
        return id_

    async def disabled_tools(self) -> tuple[DisabledTool, ...]:
        """Return the tools that are disabled now, by id.

        Raises:
            RegistrationError, StoreError: as `disable_tool`.
        """
        return await require_disabled(self._disabled).all()

    @property
    def disabled(self) -> DisabledTools | None:
        """The tools that are disabled; None where none can be."""
        return self._disabled

    async def _id_of(self, tool: str) -> str:
        return await id_of_tool(tool, self._directory, [self.snapshot, *self._extension.listings])

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
        found = self._directory.find(tool)
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

    async def _later(
        self, tool: RegisteredTool, arguments: Arguments, result: ToolResult, meta: CallMeta
    ) -> ToolResult:
        """Return the result of a call that an agent answers, or that is suspended now."""
        if result.delegated is not None:
            return await self._extension.run_delegated(tool, arguments, result.delegated, meta)
        assert self._direct is not None, "only with an engine a call can wait"
        return await self._direct.begin(result, tool)
