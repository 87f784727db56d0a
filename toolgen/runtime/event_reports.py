"""The steps of calls as events; nothing is built while nobody listens.

Events show a call in the model's own words. Injected values, tokens and the data of artifacts have no place
in them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from toolgen.contract.fields import Json

from .calls import NO_META, CallMeta
from .errors import causes_of
from .events import (
    AgentRunStarted,
    ArtifactRef,
    ArtifactSaved,
    AwaitConfirmation,
    AwaitInput,
    Event,
    StateConflict,
    ToolAuthorization,
    ToolEnd,
    ToolOutputDelta,
    ToolsetDropped,
    ToolStart,
    ToolUpdate,
)
from .hints import filled
from .reports import Report, Reports
from .results import RunLink, Suspended, ToolResult
from .specs import ToolSpec

if TYPE_CHECKING:
    from .capabilities import ArtifactInfo


class EventSink(Protocol):
    """Takes events: the hub of a runtime, or the log of a run."""

    @property
    def is_idle(self) -> bool:
        """Whether nobody listens."""
        ...

    def emit(self, event: Event, meta: CallMeta = NO_META) -> None: ...


class EventReports(Reports):
    """Turns the steps of calls into events."""

    def __init__(self, events: EventSink) -> None:
        self._events = events

    @property
    def is_idle(self) -> bool:
        return self._events.is_idle

    def of(self, spec: ToolSpec[Any, Any], meta: CallMeta) -> Report:
        """Return what takes what one call tells on its way."""

        def report(
            text: str | None = None,
            fraction: float | None = None,
            message: str = "",
            value: Any = None,
            stored: ArtifactInfo | None = None,
        ) -> None:
            if stored is not None:
                self._saved(stored, meta)
            elif text is not None:
                self._events.emit(ToolOutputDelta(tool=spec.id, text=text), meta)
            else:
                update = ToolUpdate(tool=spec.id, fraction=fraction, message=message, value=value)
                self._events.emit(update, meta)

        return report

    def started(self, spec: ToolSpec[Any, Any], payload: Any, meta: CallMeta) -> None:
        if self._events.is_idle:
            return
        arguments: dict[str, Json] = json.loads(spec.payload.encode(payload))
        event = ToolStart(
            tool=spec.id,
            name=spec.name,
            arguments=arguments,
            text=filled(spec.call_hint, arguments),
            parent_tool_call_id=meta.parent_tool_call_id,
        )
        self._events.emit(event, meta)

    def ended(self, result: ToolResult, meta: CallMeta) -> None:
        if self._events.is_idle:
            return
        error, hint = result.error, result.retry_hint
        event = ToolEnd(
            tool=result.tool,
            status=result.status,
            result=json.loads(result.json) if result.json else None,
            error=str(error) if error else "",
            causes=tuple(str(cause) for cause in causes_of(error)),
            correlation_id=(error.correlation_id or "") if error else "",
            issue_count=len(hint.issues) if hint else 0,
            bounds=result.bounds,
            artifacts=tuple(ArtifactRef(kind=artifact.kind) for artifact in result.artifacts),
            text=result.display,
            is_final=result.is_final,
            duration_s=result.telemetry.duration_s if result.telemetry else 0.0,
            suspension_id=result.suspension.id if result.suspension else "",
        )
        self._events.emit(event, meta)

    def delegated(self, spec: ToolSpec[Any, Any], link: RunLink, meta: CallMeta) -> None:
        if not self._events.is_idle:
            event = AgentRunStarted(tool=spec.id, agent=link.agent, child_run_id=link.run_id)
            self._events.emit(event, meta)

    def asked(self, suspended: Suspended, meta: CallMeta) -> None:
        if self._events.is_idle or suspended.kind == "pending":
            return
        if suspended.kind == "confirmation":
            confirmation = AwaitConfirmation(
                suspension_id=suspended.id,
                tool=suspended.tool,
                question=suspended.question,
                preview=suspended.preview,
                is_shortened=suspended.is_shortened,
                arguments=suspended.arguments,
                answer_schema=suspended.answer_schema,
                expires_at=suspended.expires_at,
            )
            self._events.emit(confirmation, meta)
            return
        awaited = AwaitInput(
            suspension_id=suspended.id,
            tool=suspended.tool,
            kind=suspended.kind,
            question=suspended.question,
            arguments=suspended.arguments,
            answer_schema=suspended.answer_schema,
            expires_at=suspended.expires_at,
        )
        self._events.emit(awaited, meta)

    def authorized(
        self,
        tool: str,
        meta: CallMeta,
        decision: Literal["approved", "denied"],
        by: Literal["policy", "person", "runtime"],
        reason: str = "",
        suspension_id: str = "",
    ) -> None:
        if self._events.is_idle:
            return
        event = ToolAuthorization(
            tool=tool, decision=decision, by=by, reason=reason, suspension_id=suspension_id
        )
        self._events.emit(event, meta)

    def dropped(self, toolset: str, reason: str, meta: CallMeta) -> None:
        if not self._events.is_idle:
            self._events.emit(ToolsetDropped(toolset=toolset, reason=reason), meta)

    def conflicts(self, found: Sequence[Any], meta: CallMeta) -> None:
        for conflict in found:
            event = StateConflict(
                scope=conflict.scope,
                key=conflict.key,
                tool_call_ids=conflict.tool_call_ids,
                kept=conflict.kept,
            )
            self._events.emit(event, meta)

    def _saved(self, stored: ArtifactInfo, meta: CallMeta) -> None:
        if self._events.is_idle:
            return
        event = ArtifactSaved(
            name=stored.name,
            version=stored.version,
            media_type=stored.media_type,
            size_bytes=stored.size,
        )
        self._events.emit(event, meta)
