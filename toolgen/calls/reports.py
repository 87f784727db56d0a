"""What is reported of calls while they go on, for subscribers and logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from .call import CallMeta
    from .results import RunLink, SuspendedCall, ToolResult
    from .specs import ToolSpec

ProgressCallback: TypeAlias = Callable[..., None]
"""Takes a piece of text, how far the work is, an artifact that was stored, or a key that was changed."""


class CallReports:
    """Takes the steps of calls, and drops them: there is no subscriber. `EventReporter` emits them."""

    __slots__ = ()

    @property
    def is_idle(self) -> bool:
        """Whether there is no subscriber."""
        return True

    def progress_callback(self, spec: ToolSpec[Any, Any], meta: CallMeta) -> ProgressCallback | None:
        """Return the callback for progress of one call; None where nobody listens."""
        return None

    def emit_tool_start(
        self, spec: ToolSpec[Any, Any], payload: Any, meta: CallMeta, *, runs_once: bool
    ) -> None:
        """Emit that a call has decoded arguments; the payload has no injected values yet."""

    def emit_tool_end(
        self, result: ToolResult, meta: CallMeta, spec: ToolSpec[Any, Any] | None = None
    ) -> None:
        """Emit the result of a call; `spec` is None where its tool is not registered."""

    def emit_agent_run_started(self, spec: ToolSpec[Any, Any], link: RunLink, meta: CallMeta) -> None:
        """Emit that the call was handed to an agent run."""

    def emit_answer_requested(self, call: SuspendedCall) -> None:
        """Emit that a call waits for the answer of a person."""

    def answered(self, call: SuspendedCall, person: str) -> None:
        """Emit that a suspended call was answered, other than by an approval."""

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
        """Emit that a call was approved or denied, and by whom."""

    def emit_toolset_dropped(self, toolset: str, reason: str, meta: CallMeta) -> None:
        """Emit that a toolset is left out of a request."""

    def emit_state_conflicts(self, conflicts: Sequence[Any], meta: CallMeta) -> None:
        """Emit the state changes of parallel calls that conflict."""


SILENT: Final = CallReports()
"""Takes what nobody listens to."""
