"""State that the parts of one runtime share, and the method by which the agents join them.

Packages above the calls are imported only if the host passes an object that needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolgen.calls.errors import RegistrationError
from toolgen.calls.reports import SILENT, CallReports
from toolgen.calls.toolsets.directory import Directory
from toolgen.calls.toolsets.dynamic import StaticToolset, ToolList, native_of
from toolgen.calls.toolsets.registration import ToolsetRegistration, registered_bound_tools, registered_tools
from toolgen.calls.toolsets.toolsets import Toolsets
from toolgen.contract.logs import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolgen.calls.capability import Capability
    from toolgen.calls.provided import ArtifactKeeper
    from toolgen.calls.specs import ToolSpec
    from toolgen.calls.steps.frame import RuntimeServices
    from toolgen.calls.steps.registered_tool import RegisteredTool, RuntimeOptions
    from toolgen.calls.toolsets.snapshot import CallService
    from toolgen.contract.limits import Limits
    from toolgen.events.hub import Events
    from toolgen.events.telemetry.metrics import Metrics
    from toolgen.waiting.activities import DirectCallActivities, LoopOwner
    from toolgen.waiting.call_runs import CallRuns
    from toolgen.waiting.resuming import WaitingTools
    from toolgen.waiting.wait_registry import WaitRegistry

Served: TypeAlias = ToolsetRegistration | StaticToolset
Prepared: TypeAlias = tuple[Served, ToolList]
"""A valid toolset and its tools."""
_NOBODY_TO_ASK: Final = (
    "%s: needs approval, but this runtime has no engine to store the question, so each call is "
    'denied; pass an engine: Runtime(engine=InProcessEngine("runs.db")), or declare that nobody can '
    "be asked: Runtime(waiting=WaitOptions(is_interactive=False))"
)
_NO_RESULT_LATER: Final = (
    "%s: is long-running, but this runtime has no engine to store the call, so each call is denied; "
    'pass an engine: Runtime(engine=InProcessEngine("runs.db"))'
)

log = logger("toolgen.runtime")


class Assembly:
    """State that the parts of one runtime share; each part is constructed from it at its first use."""

    def __init__(
        self,
        caller: CallService,
        options: RuntimeOptions,
        services: RuntimeServices,
        events: Events | None,
    ) -> None:
        self.caller = caller
        self.options = options
        self.services = services
        self.events = events
        self.toolsets = Toolsets(caller, options, services.reports)
        self.registry = Registry(options, self.toolsets)
        self.directory = self.registry.directory
        self.waits: WaitRegistry | None = None
        """Registry that executes the runs; None without an engine."""
        self.loops: LoopOwner | None = None
        """The agents; None without any."""
        self.joined: Any = None
        """Public view of the agents."""
        self._warned: set[str] = set()
        """Ids of the tools that the log has already named."""

    @cached_property
    def tools(self) -> WaitingTools:
        """Finds the tools of suspended calls."""
        from toolgen.waiting.resuming import WaitingTools

        return WaitingTools(self.directory, self.toolsets)

    @cached_property
    def calls(self) -> CallRuns:
        """Runs of single calls."""
        from toolgen.waiting.call_runs import CallRuns

        return CallRuns(self.services, self.tools, self.activities)

    @cached_property
    def activities(self) -> DirectCallActivities:
        """Executes the calls of single-call runs."""
        from toolgen.waiting.activities import DirectCallActivities

        return DirectCallActivities(self.services, self.tools, self.events)

    def warn_of_unasked(self, specs: Iterable[ToolSpec]) -> None:
        """Log once for each tool that needs an answer or returns a later result without an engine to store
        the call."""
        if self.services.suspender is not None:
            return
        unnamed = [spec for spec in specs if spec.id not in self._warned]
        asking = [spec for spec in unnamed if spec.confirm is not None and self.services.is_interactive]
        long_running = [spec for spec in unnamed if spec.long_running is not None]
        self._warned.update(spec.id for spec in (*asking, *long_running))
        for text, named in ((_NOBODY_TO_ASK, asking), (_NO_RESULT_LATER, long_running)):
            if named:
                log.warning(text, ", ".join(spec.name for spec in named))

    def lacks_engine_for(self, tool: str) -> bool:
        """Return whether a call cannot ask because no engine is set, and no warning has named its tool."""
        services = self.services
        return services.suspender is None and services.is_interactive and tool not in self._warned

    def execute_runs(self, waits: WaitRegistry) -> None:
        """Execute the runs of calls with the engine of this registry."""
        self.waits = waits
        self.activities.serve(waits)

    def join(self, joined: object, loops: LoopOwner, waits: WaitRegistry) -> None:
        """Add the agents, whose loops the engine of this registry executes.

        Raises:
            RegistrationError: agents have joined already, or the engine already executes runs.
        """
        if self.loops is not None:
            raise RegistrationError(
                f"this runtime already has {type(self.joined).__name__}",
                hint="get it with agents_of(runtime), or construct Agents(runtime, …) once before any "
                "agent is registered",
            )
        waits.require_idle()
        self.joined, self.loops = joined, loops
        self.activities.agents = loops
        self.tools.of_run = loops.find_tool
        if self.waits is None:
            self.execute_runs(waits)


def reports_for(events: Events | None, limits: Limits, metrics: Metrics | None) -> CallReports:
    """Return the reporter of calls for a hub; without a hub it emits nothing, but counts for the metrics."""
    if metrics is not None:
        from toolgen.events.hub import Events
        from toolgen.events.telemetry.metrics import MeteredReporter

        return MeteredReporter(events or Events(), limits.result_bytes, metrics)
    if events is None:
        return SILENT
    from toolgen.events.event_reporter import EventReporter

    return EventReporter(events, limits.result_bytes)


def keeper_for(capabilities: Mapping[str, Capability]) -> ArtifactKeeper | None:
    """Return the store of result artifacts; None if the host provides none."""
    if not capabilities:
        return None
    from toolgen.capabilities.artifacts import ArtifactsCapability

    keeper = capabilities.get(ArtifactsCapability.name)
    return keeper if isinstance(keeper, ArtifactsCapability) else None


class Registry:
    """Registers toolsets, and holds their executors."""

    def __init__(self, options: RuntimeOptions, toolsets: Toolsets) -> None:
        self.options = options
        self.managers = toolsets.managers
        self.directory = Directory()
        self._toolsets = toolsets
        self._served: dict[str, Served] = {}

    def register(self, registration: Served) -> None:
        """Register a toolset; as `Runtime.tools.register`."""
        _require_registration(registration)
        if registration.name in self._toolsets.names:
            raise RegistrationError(
                f"toolset {registration.name!r} is registered already",
                hint="remove one of the calls of `register`",
            )
        self.add_prepared([self._prepare(registration)])

    def registered(self, toolset: str) -> Served | None:
        """Return the registration of a toolset; None for a dynamic one."""
        return self._served.get(toolset)

    def prepare_new(self, registrations: Iterable[Served], agent: str) -> list[Prepared]:
        """Prepare the toolsets of an agent that are not registered yet.

        Raises:
            RegistrationError: a toolset does not fit, or has another executor than the registered one with
                its name.
        """
        prepared: dict[str, Prepared] = {}
        for registration in registrations:
            served = self._served.get(registration.name)
            if served is None and registration.name in prepared:
                served = prepared[registration.name][0]
            if served is None and registration.name in self._toolsets.names:
                raise RegistrationError(
                    f"toolset {registration.name!r} of agent {agent!r} has the name of a dynamic toolset"
                )
            if served is None:
                prepared[registration.name] = self._prepare(registration)
            elif not _has_same_executor(served, registration):
                raise RegistrationError(
                    f"agent {agent!r} has a different executor for toolset {registration.name!r}, "
                    "which is registered already",
                    hint="a toolset has one executor in a runtime; pass the same one",
                )
        return list(prepared.values())

    def directory_with(self, prepared: Sequence[Prepared]) -> Directory:
        """Return the directory as it would be with these toolsets.

        Raises:
            RegistrationError: an id is already used.
        """
        return Directory((*self.directory.by_id.values(), *_listed_tools(prepared)))

    def add_prepared(self, prepared: Sequence[Prepared]) -> None:
        """Register prepared toolsets, all or none.

        Raises:
            RegistrationError: an id is already used.
        """
        tools = _listed_tools(prepared)
        self.directory.add(tools)
        self.options.hook_tools.add(tool.spec.id for tool in tools)
        for registration, listed in prepared:
            self._toolsets.add_static(listed)
            self._served[registration.name] = registration

    def _prepare(self, registration: Served) -> Prepared:
        name = registration.name
        if isinstance(registration, StaticToolset):
            tools = registered_bound_tools(name, registration.bound, self.options)
        else:
            tools = registered_tools(registration, self.options)
        listed = ToolList(
            toolset=name,
            tools=tools,
            instructions=registration.instructions,
            native=native_of(registration),
        )
        return registration, listed


def check_policy(policy: object) -> None:
    """Check the policy of a host.

    Raises:
        RegistrationError: it is a class, or has no method `decide`.
    """
    if isinstance(policy, type):
        raise RegistrationError(
            f"the policy {policy.__name__} is a class, not an instance",
            hint=f"pass an instance: {policy.__name__}(…)",
        )
    if policy is not None and not callable(getattr(policy, "decide", None)):
        raise RegistrationError(
            f"the policy {type(policy).__name__} has no method decide",
            hint="add `async def decide(self, call, spec, preview)`, which returns Allow(), Ask() or Deny(…)",
        )


def _require_registration(registration: object) -> None:
    if not isinstance(registration, Served):
        name = getattr(registration, "__name__", type(registration).__name__)
        raise RegistrationError(
            f"{name} is not a toolset registration",
            hint="pass what the generated package returns: register(….registration(executor))",
        )


def _listed_tools(prepared: Sequence[Prepared]) -> list[RegisteredTool]:
    return [tool for _, listed in prepared for tool in listed.tools]


def _has_same_executor(served: Served, other: Served) -> bool:
    """Return whether one executor can serve both; of two default executors, the first one does."""
    are_default = all(isinstance(each, ToolsetRegistration) and each.is_default for each in (served, other))
    return are_default or _executor(served) == _executor(other)


def _executor(served: Served) -> object:
    return served.bound if isinstance(served, StaticToolset) else served.executor
