"""The services that the calls of a runtime share, made of what its host gives.

The rooms above the calls are imported where a host gives what needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolgen.calls.reports import SILENT, CallReports

if TYPE_CHECKING:
    from toolgen.calls.capability import Capability
    from toolgen.calls.provided import ArtifactKeeper
    from toolgen.contract.limits import Limits
    from toolgen.events.hub import Events
    from toolgen.observability.metrics import Metrics


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
