"""What one runtime has for all its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .execution import Execution
from .policy import Policy
from .reports import Reports

if TYPE_CHECKING:
    from .approvals import Suspensions
    from .capabilities import Capability
    from .telemetry import ToolSpans


@dataclass(slots=True, kw_only=True)
class Host:
    """Made by the `Runtime` of its arguments."""

    execution: Execution
    reports: Reports
    capabilities: Mapping[str, Capability]
    policy: Policy | None = None
    spans: ToolSpans | None = None
    suspensions: Suspensions | None = None
    is_interactive: bool = True
    """Whether there is somebody to ask."""
    max_result_bytes: int | None = None
    stage_timeout: float | None = None
    """Seconds for one step of the host's own code."""

    def limit_of(self, spec: Any) -> int | None:
        """Return the most bytes that the model gets of a result; None without a limit."""
        return self.max_result_bytes if spec.max_result_bytes is None else spec.max_result_bytes
