"""What a call reports of its steps; these reports drop it, those of `told.py` make events of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..calls import CallMeta
from ..results import RunLink, ToolResult
from ..specs import ToolSpec
from ..waiting.frozen import FrozenCall

ProgressCallback = Callable[..., None]
"""Takes a piece of text, how far the work is, or an artifact that was stored."""


class CallReporter:
    """Takes the steps of calls, and drops them."""

    @property
    def is_idle(self) -> bool:
        """Whether nobody listens."""
        return True

    def progress_callback(self, spec: ToolSpec[Any, Any], meta: CallMeta) -> ProgressCallback | None:
        """Return what takes what one call tells on its way; None where nobody can listen."""
        return None

    def emit_tool_start(self, spec: ToolSpec[Any, Any], payload: Any, meta: CallMeta) -> None:
        """Take that the arguments are read; the payload has no injected values yet."""

    def emit_tool_end(self, result: ToolResult, meta: CallMeta) -> None:
        """Take the one result of a call."""

    def emit_agent_run_started(self, spec: ToolSpec[Any, Any], link: RunLink, meta: CallMeta) -> None:
        """Take that a call became the run of an agent."""

    def emit_answer_requested(self, frozen: FrozenCall) -> None:
        """Take that a person is asked."""

    def answered(self, frozen: FrozenCall, person: str) -> None:
        """Take that a call got what it waited for, other than an approval."""

    def emit_authorization(
        self,
        tool: str,
        meta: CallMeta,
        decision: Literal["approved", "denied"],
        by: Literal["policy", "person", "runtime"],
        reason: str = "",
        suspension_id: str = "",
        person: str = "",
    ) -> None:
        """Take that somebody decided whether a call may run."""

    def emit_toolset_dropped(self, toolset: str, reason: str, meta: CallMeta) -> None:
        """Take that a toolset is left out of a request."""

    def emit_state_conflicts(self, found: Sequence[Any], meta: CallMeta) -> None:
        """Take what calls of one step did to the same state."""
