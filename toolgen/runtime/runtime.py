"""The registry of tools, and the door through which calls come in.

`Runtime` is the one class that a host constructs. It executes calls; all else stands in its parts, such as
`Runtime.tools`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolgen.calls.call import NO_META, CallMeta, ToolCall
from toolgen.calls.context import Batch
from toolgen.calls.steps.execution import Execution
from toolgen.calls.steps.frame import Frame, HostArguments, RuntimeServices, call_arguments, tool_name
from toolgen.calls.steps.scheduler import Scheduler
from toolgen.calls.steps.scheduling import DEFAULT_SCHEDULING, Scheduling
from toolgen.calls.steps.single_call import SingleCalls
from toolgen.calls.toolsets.registration import runtime_options
from toolgen.contract.limits import DEFAULT_LIMITS, Limits

from .assembly import Assembly, check_policy, keeper_for, reports_for

if TYPE_CHECKING:
    from toolgen.calls.call import Arguments, CallName
    from toolgen.calls.context import Values
    from toolgen.calls.results import ToolResult
    from toolgen.calls.specs import ToolSpec
    from toolgen.calls.steps.hooks import Hook
    from toolgen.calls.steps.policy import Policy
    from toolgen.calls.steps.registered_tool import Interceptor, RegisteredTool
    from toolgen.calls.toolsets.snapshot import Snapshot
    from toolgen.capabilities import Capability, DisabledTools
    from toolgen.engines import Engine
    from toolgen.events.hub import Events
    from toolgen.events.telemetry.metrics import Metrics
    from toolgen.events.telemetry.spans import ToolSpans
    from toolgen.waiting.ledger import Ledger
    from toolgen.waiting.options import WaitOptions
    from toolgen.waiting.wait_registry import WaitRegistry
    from toolgen.waiting.waits import Waits

    from .artifacts import RuntimeArtifacts
    from .runs import RuntimeRuns
    from .tools import RuntimeTools


class Runtime(SingleCalls):
    """Executes the calls of the toolsets that are registered with it.

    Args:
        interceptors: Fill injected fields that no call fact fills; they run in the order given.
        hooks: Stand before and after tools, in the order given.
        policy: Decides over every call.
        capabilities: What executors find at their context, by name.
        events: The hub for events; without it none are emitted.
        spans: OpenTelemetry's, one a call.
        metrics: OpenTelemetry's, of calls, waits and runs.
        disabled: The tools that are disabled while the runtime works; without it none can be.
        engine: Executes the runs of agents, and those of calls that wait for an answer; without it nobody can
            be asked, and agents run in this process, in memory.
        secret: Seals the tokens of calls that wait, and their answers: at least 16 random bytes, the same in
            all processes; of several the first seals. By default the engine keeps one, unless it has many
            workers.
        waiting: Whether somebody can be asked, for how long calls wait, how many, and who may answer.
        limits: How large documents may be that come in and that go out.
        scheduling: How many calls run at once, by process, run, session and tool, how many wait, how many
            threads synchronous tools have, how long a call may take, and how often it is retried.

    Raises:
        RegistrationError: something is no interceptor, hook, policy or engine, one stands where a list
            belongs, or two capabilities have one name; or the engine has many workers that cannot share a
            store of the capabilities, or there is no secret for them.
    """

    engine: Engine | None
    """The engine that executes the runs; None without one, and then no call can wait."""
    events: Events | None
    """The hub of its events; None where this runtime was given none, and nothing is told."""

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
        waiting: WaitOptions | None = None,
        limits: Limits = DEFAULT_LIMITS,
        scheduling: Scheduling = DEFAULT_SCHEDULING,
    ) -> None:
        """Construct a runtime without tools; its class says what each argument is."""
        check_policy(policy)
        options = runtime_options(
            interceptors,
            hooks,
            capabilities,
            policy=policy,
            timeout=scheduling.tool_timeout_s,
            list_disabled=None if disabled is None else disabled.now,
            limits=limits,
        )
        scheduler = Scheduler(scheduling)
        self._services = RuntimeServices(
            execution=Execution(scheduler, scheduling, metrics),
            scheduler=scheduler,
            reports=reports_for(events, limits, metrics),
            spans=spans,
            metrics=metrics,
            why_disabled=None if disabled is None else disabled.reason,
            capabilities=options.capabilities,
            artifacts=keeper_for(options.capabilities),
            policy=policy,
            is_interactive=waiting is None or waiting.is_interactive,
            limits=limits,
            unknown_tool_hooks=options.unknown_tool_hooks,
            stage_timeout=scheduling.stage_timeout_s,
        )
        self.events, self.engine = events, engine
        self.assembly = Assembly(self, options, self._services, events)
        """What its parts share; agents join it."""
        self._hook_tools, self._disabled = options.hook_tools, disabled
        self._toolsets, self._directory = self.assembly.toolsets, self.assembly.directory
        self._waits = None if engine is None else self._registry_of_waits(engine, waiting, secret)

    @cached_property
    def tools(self) -> RuntimeTools:
        """Its tools: registered, listed, disabled while it works."""
        from .tools import RuntimeTools

        return RuntimeTools(self.assembly, self._disabled)

    @property
    def waits(self) -> Waits:
        """Its calls that wait: listed, shown, answered and cancelled."""
        return self._waits_of_all  # pyright takes no cached property for the one of a protocol

    @cached_property
    def _waits_of_all(self) -> Waits:
        from toolgen.waiting.waits import Waits

        return Waits(self._waits, self._services, self.assembly.tools, self._hook_tools)

    @cached_property
    def runs(self) -> RuntimeRuns:
        """Its runs, of agents and of calls: executed, listed, cancelled and resolved."""
        from .runs import RuntimeRuns

        return RuntimeRuns(self.assembly, self._waits)

    @cached_property
    def artifacts(self) -> RuntimeArtifacts:
        """What its results refer to by a URI."""
        from .artifacts import RuntimeArtifacts

        return RuntimeArtifacts(self._services)

    async def call_once(
        self,
        name: CallName,
        tool: str | ToolSpec,
        arguments: HostArguments,
        meta: CallMeta = NO_META,
        *,
        within: Snapshot | None = None,
    ) -> ToolResult:
        """Return the one result of a call, as `call`; under this name it is executed once.

        Made again it has the result that it had, or its open question; one that runs is waited for. One of
        another tool or with other arguments is a `CallNameError` and executes nothing, unless the first one
        still waits for its approval: then that question is taken back, and the new arguments are asked about.
        Kept are, for as long as the engine keeps runs, the calls that asked somebody or may not run twice;
        without an engine none are.

        Raises:
            RegistrationError: as `call`.
            TypeError: as `call`.
        """
        self._hook_tools.require_all_known()
        registered = (self._directory if within is None else within.directory).by_name.get(tool_name(tool))
        if registered is None:
            return await self.call(tool, arguments, meta, within=within)
        from toolgen.waiting.ledger import unkept_result  # only peers that repeat calls need it

        services = self._services
        batch = Batch(services.capabilities)
        frame = Frame(registered, call_arguments(registered.spec, arguments), meta, batch, services)
        if self._ledger is None or services.suspender is None or services.suspender.obstacle(registered):
            result = await unkept_result(name, frame, self.assembly.calls)
        else:
            result = await self._ledger.result(name, frame)
        return (await batch.settle((result,)))[0] if batch.touched else result

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
        from toolgen.calls.steps.parallel_calls import gather_results

        return await gather_results(calls, directory, batch, self._services, self._hand_to_run)

    async def aclose(self) -> None:
        """Stop the runs of agents, end the threads, and close what the runtime owns.

        Direct calls that are executed as runs, since they were approved or have a name, may end before, for
        at most `CLOSING_S` seconds. Calls that a host makes meanwhile end as `RuntimeClosedError`, and those
        that need the engine do until it is opened again.

        Raises:
            Exception: what a part raises that cannot be closed; all others are closed.
        """
        self._services.scheduler.close()
        async with AsyncExitStack() as parts:  # the last one goes first
            parts.callback(self._services.scheduler.close, is_over=True)
            parts.callback(self._services.execution.close)
            parts.push_async_callback(self._toolsets.close)
            if self.engine is not None:
                parts.push_async_callback(self.engine.close)
            if self.assembly.loops is not None:
                parts.push_async_callback(self.assembly.loops.close)
            if self.assembly.waits is not None:
                parts.push_async_callback(self.assembly.waits.late_ends.close)
            if self._waits is not None:
                self._waits.is_closed = True
                from toolgen.waiting.call_runs import let_calls_end

                parts.push_async_callback(let_calls_end, self._waits)

    async def __aenter__(self) -> Self:
        if self._toolsets.names:  # some register what they serve once it is open
            self._hook_tools.require_all_known()
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.aclose)  # there is no `__aexit__` if this raises
            if self.assembly.waits is not None:
                self.assembly.waits.late_ends.open()
            if self._waits is not None:
                self._waits.is_closed = False
            await self._toolsets.open()
            if self.assembly.loops is not None:
                await self.assembly.loops.open()
            if self._waits is not None and self._waits.engine.caps.is_durable:
                await self._waits.start()  # to go on with what an earlier process began
            undo.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    async def check_stores(self) -> None:
        """Return where the servers of all stores can be used now: of capabilities, sessions, large values.

        Stores in memory and in files of their own are not checked, nor those of sinks. It has no time limit
        of its own.

        Raises:
            StoreError: one of them cannot be used; the class says why.
        """
        from toolgen.stores.transactions import servers_of

        from .many_workers import stores_of

        stores = stores_of(self._services.capabilities, self._disabled).values()
        joined = () if self.assembly.loops is None else self.assembly.loops.stores
        for server in servers_of((*stores, *joined, self.engine)):
            await server.check()

    @property
    def stuck_threads(self) -> Mapping[str, int]:
        """Number of stuck threads by tool id: their calls are over, their executors still run."""
        return self._services.execution.stuck_threads

    @cached_property
    def _ledger(self) -> Ledger | None:
        if self._waits is None:
            return None
        from toolgen.waiting.ledger import Ledger

        return Ledger(self._services.limits, self._waits, self.assembly.calls, self.waits)

    async def _hand_to_run(
        self, tool: RegisteredTool, arguments: Arguments, result: ToolResult, meta: CallMeta
    ) -> ToolResult:
        return await self.assembly.calls.hand_to_run(tool, arguments, result, meta)

    def _registry_of_waits(
        self, engine: Engine, options: WaitOptions | None, secret: bytes | Sequence[bytes] | None
    ) -> WaitRegistry:
        """Return what keeps the calls that wait, and let calls be suspended.

        Raises:
            RegistrationError: what is given is no engine, or the engine cannot have its stores or its secret.
        """
        from toolgen.waiting.options import WAIT_OPTIONS
        from toolgen.waiting.suspending import CallSuspender
        from toolgen.waiting.wait_registry import WaitRegistry

        from .many_workers import require_engine, stores_of

        stores = stores_of(self._services.capabilities, self._disabled)
        require_engine(engine, stores, has_secret=secret is not None)
        waits = WaitRegistry(engine, options or WAIT_OPTIONS, secret, self._services.scheduler)
        finds = self.assembly.tools.can_list if engine.caps.has_many_workers else None
        self._services.suspender = CallSuspender(waits=waits, is_found_again=finds)
        self.assembly.execute_runs(waits)
        return waits
