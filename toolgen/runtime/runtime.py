"""The registry of tools and the entry point of calls.

`Runtime` is the only class that a host has to construct. It executes calls; everything else is in its parts,
such as `Runtime.tools`.
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
    from toolgen.waiting.suspensions import Suspensions
    from toolgen.waiting.wait_registry import WaitRegistry

    from .artifacts import RuntimeArtifacts
    from .runs import RuntimeRuns
    from .tools import RuntimeTools


class Runtime(SingleCalls):
    """Executes the calls of the toolsets that are registered with it.

    Args:
        interceptors: Fill injected fields that no `CallMeta` field fills, in this order.
        hooks: Run before and after calls, in this order.
        policy: Allows, denies or asks for approval of every call.
        capabilities: Objects for executors, such as `ctx.state`; each name once.
        events: Hub that receives the events. Without one, no events are emitted.
        spans: Creates an OpenTelemetry span for each call.
        metrics: Records OpenTelemetry metrics of calls, suspended calls and runs.
        disabled: Switches tools off and on while the runtime works. Without it, no tool can be disabled.
        engine: Stores and executes runs of agents and of suspended calls. Without one, calls that need an
            answer are denied, and agents run in memory.
        secret: Key of at least 16 random bytes that seals tokens, answers and stored calls, the same in all
            processes. In a sequence, the first key seals and all of them verify. By default the engine stores
            one, unless it has many workers.
        waiting: Options of suspended calls: expiry, limits and who can answer.
        limits: Maximum sizes of incoming and outgoing documents.
        scheduling: Limits of concurrency, threads, time and retries.

    Raises:
        RegistrationError: An argument has the wrong type, two capabilities have the same name, or an engine
            with many workers has no secret or gets a store that they cannot share.
    """

    engine: Engine | None
    """Engine that executes the runs; None if there is none, so that no call can be suspended."""
    events: Events | None
    """Hub of the events; None if no events are emitted."""

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
        """Construct a runtime without tools. The class documents the arguments."""
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
        """Internal: state that the parts share."""
        self._hook_tools, self._disabled = options.hook_tools, disabled
        self._toolsets, self._directory = self.assembly.toolsets, self.assembly.directory
        self._waits = None if engine is None else self._registry_of_waits(engine, waiting, secret)

    @cached_property
    def tools(self) -> RuntimeTools:
        """Registers, lists, disables and enables tools."""
        from .tools import RuntimeTools

        return RuntimeTools(self.assembly, self._disabled)

    @property
    def suspensions(self) -> Suspensions:
        """Lists, shows, answers and cancels suspended calls."""
        return self._suspensions_of_all  # pyright accepts no cached property for a property of a protocol

    @cached_property
    def _suspensions_of_all(self) -> Suspensions:
        from toolgen.waiting.suspensions import Suspensions

        return Suspensions(self._waits, self._services, self.assembly.tools, self._hook_tools)

    @cached_property
    def runs(self) -> RuntimeRuns:
        """Lists, cancels and resolves runs of agents and of calls."""
        from .runs import RuntimeRuns

        return RuntimeRuns(self.assembly, self._waits)

    @cached_property
    def artifacts(self) -> RuntimeArtifacts:
        """Loads stored artifacts by URI."""
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
        """Execute a call once under a name, and return its result.

        If the same call is made again, it returns the stored result or the open question, or waits for the
        call that is running. If the tool or the arguments differ, the result's `error` is a `CallNameError`;
        but if only the arguments differ and the earlier call still waits for its approval, a request for the
        new arguments replaces the old one. The engine stores calls that were suspended and calls that must
        not run twice, as long as it stores their runs. Without an engine nothing is stored.

        Args:
            name: Name of the call, which its caller repeats.
            tool: As in `call`.
            arguments: As in `call`.
            meta: As in `call`.
            within: As in `call`.

        Raises:
            RegistrationError: As in `call`.
            TypeError: As in `call`.
        """
        self._hook_tools.require_all_known()
        registered = (self._directory if within is None else within.directory).by_name.get(tool_name(tool))
        if registered is None:
            return await self.call(tool, arguments, meta, within=within)
        from toolgen.waiting.ledger import unrecorded_result  # only peers that repeat calls need it

        services = self._services
        batch = Batch(services.capabilities)
        frame = Frame(registered, call_arguments(registered.spec, arguments), meta, batch, services)
        if self._ledger is None or services.suspender is None or services.suspender.obstacle(registered):
            result = await unrecorded_result(name, frame, self.assembly.calls)
        else:
            result = await self._ledger.result(name, frame)
        return (await batch.settle((result,)))[0] if batch.touched else result

    async def call_all(
        self, calls: Iterable[ToolCall], *, values: Values | None = None, within: Snapshot | None = None
    ) -> tuple[ToolResult, ...]:
        """Execute calls concurrently, and return their results in the order of the calls.

        A failed call does not affect the others. Their changes of shared state are stored in the same order.

        Args:
            calls: Calls with their arguments and metadata.
            values: Values that the hooks and tools of the turn share.
            within: Snapshot in which to look up the tools; by default the registered tools.

        Raises:
            RegistrationError: As in `call`.
            EventLoopError: As in `call`.
        """
        self._hook_tools.require_all_known()
        directory = self._directory if within is None else within.directory
        batch = Batch(self._services.capabilities, values)
        from toolgen.calls.steps.parallel_calls import gather_results

        return await gather_results(calls, directory, batch, self._services, self._hand_to_run)

    async def aclose(self) -> None:
        """Stop runs and threads, and close the toolsets and the engine.

        Direct calls that are executed as runs have 10 seconds to end. Calls that are made meanwhile end with
        `RuntimeClosedError`. `async with runtime` opens the runtime again.

        Raises:
            Exception: A part could not be closed; all others are closed nevertheless.
        """
        self._services.scheduler.close()
        async with AsyncExitStack() as parts:  # the last one is closed first
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
        if self._toolsets.names:  # some register the served tools only after they are open
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
                await self._waits.start()  # resume the runs of an earlier process
            undo.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    async def check_stores(self) -> None:
        """Check that the database servers of all stores can be reached.

        Stores in memory and in files are not checked, and neither are event sinks. There is no time limit.

        Raises:
            StoreError: A server cannot be used; the subclass has the reason.
        """
        from toolgen.stores.transactions import servers_of

        from .many_workers import stores_of

        stores = stores_of(self._services.capabilities, self._disabled).values()
        joined = () if self.assembly.loops is None else self.assembly.loops.stores
        for server in servers_of((*stores, *joined, self.engine)):
            await server.check()

    @property
    def stuck_threads(self) -> Mapping[str, int]:
        """Number of threads by tool ID whose function still runs after the end of its call."""
        return self._services.execution.stuck_threads

    @cached_property
    def _ledger(self) -> Ledger | None:
        if self._waits is None:
            return None
        from toolgen.waiting.ledger import Ledger

        return Ledger(self._services.limits, self._waits, self.assembly.calls, self.suspensions)

    async def _hand_to_run(
        self, tool: RegisteredTool, arguments: Arguments, result: ToolResult, meta: CallMeta
    ) -> ToolResult:
        return await self.assembly.calls.hand_to_run(tool, arguments, result, meta)

    def _registry_of_waits(
        self, engine: Engine, options: WaitOptions | None, secret: bytes | Sequence[bytes] | None
    ) -> WaitRegistry:
        """Return the registry of suspended calls, and enable suspending.

        Raises:
            RegistrationError: it is not an engine, or its workers cannot share the stores or a secret.
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
