"""What OpenTelemetry's own SDK has collected of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader, NumberDataPoint

from toolgen.events.telemetry.metrics import Metrics

Point: TypeAlias = tuple[dict[str, Any], float]
"""Attributes and value; of a histogram the number of measurements."""


class Collected:
    """Metrics with a provider of their own, and what it has collected."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self.metrics = Metrics(MeterProvider([self._reader]))

    def points(self) -> Mapping[str, list[Point]]:
        """Return the points of each metric, by its name."""
        return {name: [(one, count) for one, count, _ in found] for name, found in self._all().items()}

    def sums(self, name: str) -> list[float]:
        """Return the sum of each point of a histogram."""
        return [total for _, _, total in self._all().get(name, ())]

    def bounds(self, name: str) -> tuple[float, ...]:
        """Return the bounds of the buckets of a histogram that has measurements."""
        data = self._reader.get_metrics_data()
        assert data is not None
        metrics = [
            one for all_ in data.resource_metrics for scope in all_.scope_metrics for one in scope.metrics
        ]
        (found,) = [one for one in metrics if one.name == name]
        point = next(iter(found.data.data_points))
        assert isinstance(point, HistogramDataPoint)
        return tuple(point.explicit_bounds)

    def _all(self) -> dict[str, list[tuple[dict[str, Any], float, float]]]:
        data = self._reader.get_metrics_data()
        found: dict[str, list[tuple[dict[str, Any], float, float]]] = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                assert scope.scope.name == "toolgen.runtime"
                for metric in scope.metrics:
                    for point in metric.data.data_points:
                        attributes = dict(point.attributes or {})
                        if isinstance(point, HistogramDataPoint):
                            found.setdefault(metric.name, []).append((attributes, point.count, point.sum))
                        elif isinstance(point, NumberDataPoint):
                            value = float(point.value)
                            found.setdefault(metric.name, []).append((attributes, value, value))
        return found
