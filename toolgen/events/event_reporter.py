"""Emits the steps of calls as events; builds no event without a subscriber.

Events contain the model's own arguments. They never contain injected values, tokens, or the data of large
artifacts. They go to a sink: the hub of a runtime, or `CallEvents`, from which the loop of a run publishes
each event once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Final, Literal, Protocol

from pydantic_core import from_json, to_json

from toolgen.calls.call import NO_META, CallMeta, FrozenCall
from toolgen.calls.documents.results import parsed, result_facts
from toolgen.calls.reports import CallReports, ProgressCallback
from toolgen.calls.results import ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.result_encoding import truncation_marker
from toolgen.contract.json_value import Json
from toolgen.contract.limits import render_template, truncate_text
from toolgen.contract.secrets import current
from toolgen.engines import ActivityInfo

from .document import Encoded, as_json, ids_of
from .records import (
    AnswerAccepted,
    ApprovalRequested,
    Event,
    InputRequested,
    StateChanged,
    ToolAuthorization,
    ToolEnd,
    ToolOutputDelta,
    ToolsetDropped,
    ToolStart,
    ToolUpdate,
)
from .redaction import is_public, public_facts, without_secrets

_PROGRESS: Final = frozenset({"tool_update", "tool_output_delta"})
"""Types of events that are useless later; they are sent immediately, best effort."""
_OF_THE_LOOP: Final = frozenset({"tool_start"})
"""Types of events that the loop of an agent publishes itself."""


class EventReceiver(Protocol):
    """Receives events: the hub of a runtime, or the log of a run."""

    @property
    def is_idle(self) -> bool:
        """Whether there is no subscriber."""
        ...

    def emit(self, event: Event, meta: CallMeta = NO_META) -> None: ...


class CallEvents:
    """Collects the events of one call in an activity."""

    is_idle = False

    def __init__(self, info: ActivityInfo, clock: Callable[[], float], *, emits_start: bool = False) -> None:
        """Construct without subscribers; `emits_start` if no loop publishes the start of the call."""
        self._info = info
        self._dropped = frozenset() if emits_start else _OF_THE_LOOP
        self._clock = clock
        self.recorded: list[dict[str, Json]] = []

    def emit(self, event: Event, meta: CallMeta = NO_META) -> None:
        """Collect an event of the call, or emit it immediately if it is best effort."""
        if event.type in self._dropped:
            return
        document = as_json(event)
        document |= {"time": self._clock(), **ids_of(meta)}
        if event.type in _PROGRESS:
            self._info.emit(document)
        else:
            self.recorded.append(document)

    async def begun(self) -> None:
        """Store that the executor begins now, with the events of the call so far, and return then.

        The approver of a call is in the log before the call runs, even if its process ends during the call.
        """
        events = tuple(self.recorded)
        await self._info.begun(events)
        del self.recorded[: len(events)]


class EventReporter(CallReports):
    """Emits the steps of calls as events."""

    __slots__ = ("_limit", "events")

    def __init__(self, events: EventReceiver, limit: int) -> None:
        """Construct the reporter for a sink; each text and value has at most `limit` bytes."""
        self.events = events
        self._limit = limit

    @property
    def is_idle(self) -> bool:
        return self.events.is_idle

    def progress_callback(self, spec: ToolSpec, meta: CallMeta) -> ProgressCallback:
        """Return the progress callback of one call."""

        def report(
            text: str | None = None,
            fraction: float | None = None,
            message: str = "",
            value: Any = None,
            event: Event | None = None,
        ) -> None:
            if self.events.is_idle:
                return
            if isinstance(event, StateChanged):
                self._emit(replace(event, key=self._truncate_text(event.key)), meta)
            elif event is not None:
                self._emit(event, meta)
            elif text is not None:
                self._emit(ToolOutputDelta(tool=spec.id, text=self._truncate_text(text)), meta)
            else:
                shown, text_shown = self._truncate_value(_progress(spec, value)), self._truncate_text(message)
                update = ToolUpdate(tool=spec.id, fraction=fraction, message=text_shown, value=shown)
                self._emit(update, meta)

        return report

    def emit_tool_start(self, spec: ToolSpec, payload: object, meta: CallMeta, *, runs_once: bool) -> None:
        """Emit that a call has decoded arguments; the payload does not have the injected values yet."""
        if self.events.is_idle:
            return
        document = spec.payload.encode(payload)
        is_shown = spec.call_hint or spec.payload.sensitive
        event = tool_start(
            spec,
            spec.name,
            parsed(document) if is_shown else Encoded(document),
            document,
            parent_tool_call_id=meta.parent_tool_call_id,
            runs_once=runs_once,
            limit=self._limit,
        )
        self._emit(event, meta)

    def emit_tool_end(self, result: ToolResult, meta: CallMeta, spec: ToolSpec | None = None) -> None:
        """Emit the result of a call; `spec` is None if its tool is not registered."""
        if self.events.is_idle:
            return
        facts: dict[str, Any]
        if spec is not None and spec.is_sensitive:
            facts = public_facts(result, spec, self._limit)
        else:
            facts = result_facts(result, self._limit)
            if result.json:
                facts["result"] = Encoded(result.json)
        if result.frozen is not None:
            facts["suspension_id"] = result.frozen.id
        self._emit(ToolEnd(**facts), meta)

    def emit_answer_requested(self, call: FrozenCall) -> None:
        """Emit that a call was suspended for the answer of a person."""
        if self.events.is_idle or call.kind == "pending":
            return
        shown = call.shown()
        # A person decides on the arguments, so they are complete; the limits for incoming documents bound
        # them.
        texts = {name: self._truncate_text(shown[name]) for name in ("question", "preview")}
        is_whole = texts.items() <= shown.items()
        shown |= {**texts, "is_shortened": call.is_shortened or not is_whole, "suspension_id": call.id}
        kind = ApprovalRequested if call.kind == "confirmation" else InputRequested
        event = kind(**{field.name: shown[field.name] for field in fields(kind) if field.name in shown})
        self._emit(event, call.meta)

    def answered(self, call: FrozenCall, person: str) -> None:
        """Emit that a suspended call was answered, other than by an approval."""
        if self.events.is_idle or call.kind == "confirmation":
            return
        event = AnswerAccepted(suspension_id=call.id, kind=call.kind, tool=call.tool, answered_by=person)
        self._emit(event, call.meta)

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
        if self.events.is_idle:
            return
        event = ToolAuthorization(
            tool=tool,
            decision=decision,
            decided_by=by,
            reason=self._truncate_text(reason),
            suspension_id=suspension_id,
            answered_by=person,
        )
        self._emit(event, meta)

    def emit_granted(self, tool: str, meta: CallMeta, grant_id: str, person: str, reason: str) -> None:
        """Emit that a call was approved by a grant of a person."""
        if not self.events.is_idle:
            event = ToolAuthorization(
                tool=tool,
                decision="approved",
                decided_by="person",
                reason=self._truncate_text(reason),
                answered_by=person,
                grant_id=grant_id,
            )
            self._emit(event, meta)

    def emit_toolset_dropped(self, toolset: str, reason: str, meta: CallMeta) -> None:
        """Emit that a toolset is left out of a request."""
        if not self.events.is_idle:
            self._emit(ToolsetDropped(toolset=toolset, reason=reason), meta)

    def _emit(self, event: Event, meta: CallMeta) -> None:
        """Emit an event, without the sensitive values of the running call."""
        self.events.emit(event if current() is None else without_secrets(event), meta)

    def _truncate_text(self, text: str) -> str:
        return truncate_text(text, self._limit)

    def _truncate_value(self, value: Json) -> Json:
        """Return a value; if it is too long, a marker instead."""
        if isinstance(value, str | dict | list):
            document = to_json(value, inf_nan_mode="constants")
            if len(document) > self._limit:
                return parsed(truncation_marker(document, self._limit))
        return value


def _progress(spec: ToolSpec, value: Json) -> Json:
    """Return the progress event of a report, without sensitive values."""
    codec = spec.long_running.progress if spec.long_running else None
    shown: Json = value if codec is None else codec.public(value)
    return shown


def tool_start(
    spec: ToolSpec | None,
    name: str,
    arguments: Json | Encoded,
    document: bytes,
    *,
    parent_tool_call_id: str,
    runs_once: bool,
    limit: int,
) -> ToolStart:
    """Return the event for the start of a call, which is executed here or requested by a planner.

    It has no values from the sensitive places of its tool.

    `arguments` is the value of `document`, or None if that is not JSON. It can be `Encoded` if the tool has
    no call hint and no sensitive values. Each text and value has at most `limit` bytes. Without a spec, the
    tool is unknown.
    """
    text = ""
    if spec and isinstance(arguments, dict):
        text = render_template(spec.call_hint, spec.payload.for_people(arguments))
    if spec and spec.payload.sensitive:
        arguments = spec.payload.public(arguments)
        document = to_json(arguments)
    if arguments is not None and len(document) > limit:
        arguments = from_json(truncation_marker(document, limit))
    return ToolStart(
        tool=spec.id if spec else truncate_text(name, limit),
        name=truncate_text(name, limit),
        arguments=arguments,
        text=truncate_text(text, limit),
        parent_tool_call_id=parent_tool_call_id,
        runs_once=runs_once,
    )


def planned_start(
    spec: ToolSpec | None,
    name: str,
    arguments: str,
    *,
    parent_tool_call_id: str,
    runs_once: bool,
    limit: int,
) -> ToolStart:
    """Return the event for a call that a planner requests; as `tool_start`.

    If the arguments do not fit a tool with sensitive arguments, the event has no arguments.
    """
    document = arguments.encode(errors="replace")
    shown = _json(arguments) if spec is None or is_public(document, spec.payload) else None
    start = tool_start(
        spec,
        name,
        shown,
        document,
        parent_tool_call_id=parent_tool_call_id,
        runs_once=runs_once,
        limit=limit,
    )
    return without_secrets(start) if spec is not None and spec.payload.sensitive else start


def _json(arguments: str) -> Any:
    """Return the arguments for an event; None if they are not JSON or have a number outside of JSON."""
    try:
        shown = from_json(arguments, allow_inf_nan=False)
        return shown if from_json(to_json(shown, inf_nan_mode="null")) == shown else None
    except ValueError:
        return None
