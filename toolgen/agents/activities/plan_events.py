"""Reports of a planner: pieces of text become best-effort events, usage and the rest go to the loop."""

from __future__ import annotations

from collections.abc import Callable

from toolgen.calls.call import CallMeta
from toolgen.calls.steps.result_encoding import truncate_text
from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.events.document import as_json
from toolgen.events.records import AssistantReply, Event, PlannerThought, PlanRetry, ToolArgsDelta
from toolgen.runs import ActivityInfo

from ..loop.documents import Dropped, ModelUsage
from ..planner.portable import portable_text
from .planned_calls import CallIds


class PlanEvents:
    """The `PlanReports` of one attempt at a planning."""

    def __init__(
        self,
        info: ActivityInfo,
        meta: CallMeta,
        clock: Callable[[], float],
        ids: CallIds,
        limit: int,
        attempt: int = 1,
    ) -> None:
        """Construct the reports of one attempt; a text is truncated to `limit` bytes."""
        self._limit = limit
        self._emit = info.emit
        self._attempt = attempt
        self._meta = meta
        self._clock = clock
        self.ids = ids
        self.spent: list[ModelUsage] = []
        """The reports to `usage`; the loop publishes each once."""
        self._has_sensitive = False
        self._shown_tools: frozenset[str] = frozenset()
        self.without: list[Dropped] = []
        """The toolsets reported to `dropped`; the loop publishes each once."""

    def text(self, delta: str) -> None:
        self._tell(AssistantReply(text=self._truncate(delta), is_partial=True))

    def thought(self, text: str) -> None:
        self._tell(PlannerThought(text=self._truncate(text)))

    def arguments(self, call_id: str, name: str, delta: str) -> None:
        if self._has_sensitive and name not in self._shown_tools:
            return
        self._tell(
            ToolArgsDelta(name=self._truncate(name), delta=self._truncate(delta)), self.ids.assign_id(call_id)
        )

    def usage(self, model: str, input_tokens: int, output_tokens: int) -> None:
        self.spent.append({"model": model, "input_tokens": input_tokens, "output_tokens": output_tokens})

    def restarted(self, reason: str) -> None:
        self._tell(PlanRetry(attempt=self._attempt, reason=self._truncate(reason)))

    def dropped(self, snapshot: Snapshot) -> None:
        """Record the tools of the request, and the toolsets that are missing in it.

        Arguments of a tool with sensitive ones are not streamed, nor those of an unknown tool.
        """
        shown = [spec for spec in snapshot.directory.specs if not spec.payload.sensitive]
        self._has_sensitive = len(shown) < len(snapshot.directory.specs)
        self._shown_tools = frozenset(spec.name for spec in shown)
        self.without = [{"toolset": name, "reason": snapshot.drop_reasons[name]} for name in snapshot.dropped]

    def _truncate(self, text: str) -> str:
        return truncate_text(portable_text(text), self._limit)

    def _tell(self, event: Event, tool_call_id: str = "") -> None:
        meta = self._meta
        document = as_json(event)
        document |= {
            "time": self._clock(),
            "run_id": meta.run_id,
            "session_id": meta.session_id,
            "turn_id": meta.turn_id,
            "tool_call_id": tool_call_id,
        }
        self._emit(document)
