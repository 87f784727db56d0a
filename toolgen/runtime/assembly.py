"""What the parts of one runtime share, and the protocol by which the agents join them.

The rooms above the calls are imported where a host gives what needs them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolgen.calls.errors import RegistrationError
from toolgen.calls.reports import SILENT, CallReports
from toolgen.calls.toolsets.registry import Registry
from toolgen.calls.toolsets.toolsets import Toolsets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolgen.calls.capability import Capability
    from toolgen.calls.provided import ArtifactKeeper
    from toolgen.calls.steps.frame import RuntimeServices
    from toolgen.calls.steps.registered_tool import RuntimeOptions
    from toolgen.calls.toolsets.snapshot import CallService
    from toolgen.contract.limits import Limits
    from toolgen.events.hub import Events
    from toolgen.observability.metrics import Metrics
    from toolgen.waiting.activities import DirectCallActivities
    from toolgen.waiting.call_runs import CallRuns
    from toolgen.waiting.resuming import WaitingTools
    from toolgen.waiting.wait_registry import WaitRegistry

    from .loop_owner import LoopOwner


class Assembly:
    """What the parts of one runtime share; each part is made of it when it is first used."""

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
        self.toolsets = Toolsets(options, services.reports)
        self.registry = Registry(options, self.toolsets)
        self.directory = self.registry.directory
        self.waits: WaitRegistry | None = None
        """What executes the runs; None where there are none."""
        self.loops: LoopOwner | None = None
        """The agents; None without any."""
        self.joined: Any = None
        """What hosts see of them."""

    @cached_property
    def tools(self) -> WaitingTools:
        """Finds the tools of calls that waited."""
        from toolgen.waiting.resuming import WaitingTools

        return WaitingTools(self.caller, self.directory, self.toolsets)

    @cached_property
    def calls(self) -> CallRuns:
        """The runs of single calls."""
        from toolgen.waiting.call_runs import CallRuns

        return CallRuns(self.services, self.tools, self.activities)

    @cached_property
    def activities(self) -> DirectCallActivities:
        """Executes the calls of these runs."""
        from toolgen.waiting.activities import DirectCallActivities

        return DirectCallActivities(self.services, self.tools, self.events)

    def execute_runs(self, waits: WaitRegistry) -> None:
        """Let the engine of these waits execute the runs of calls."""
        self.waits = waits
        self.activities.serve(waits)

    def join(self, joined: object, loops: LoopOwner, waits: WaitRegistry) -> None:
        """Let agents join, whose loops are executed by the engine of these waits.

        Raises:
            RegistrationError: others have joined already, or the engine executes runs already.
        """
        if self.loops is not None:
            raise RegistrationError(
                f"a {type(self.joined).__name__} stands on this runtime already",
                hint="make it once, before agents are registered",
            )
        waits.require_idle()
        self.joined, self.loops = joined, loops
        self.activities.agents = loops
        self.tools.of_run = loops.find_tool
        if self.waits is None:
            self.execute_runs(waits)


def reports_for(events: Events | None, limits: Limits, metrics: Metrics | None) -> CallReports:
    """Return what reports calls to a hub; without a hub it emits nothing, and counts for the metrics."""
    if metrics is not None:
        from toolgen.events.hub import Events
        from toolgen.observability.metrics import MeteredReporter

        return MeteredReporter(events or Events(), limits.result_bytes, metrics)
    if events is None:
        return SILENT
    from toolgen.events.event_reporter import EventReporter

    return EventReporter(events, limits.result_bytes)


def keeper_for(capabilities: Mapping[str, Capability]) -> ArtifactKeeper | None:
    """Return what keeps the artifacts of results; None where the host gave nothing that does."""
    if not capabilities:
        return None
    from toolgen.capabilities.artifacts import artifacts_of

    return artifacts_of(capabilities)
