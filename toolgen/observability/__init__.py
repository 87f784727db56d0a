"""OpenTelemetry: spans and metrics of calls, waits and runs."""

from .metrics import Metrics
from .spans import ToolSpans

__all__ = [
    "Metrics",
    "ToolSpans",
]
