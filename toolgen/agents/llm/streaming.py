"""Reports the parts of a streamed answer to the subscribers of the run, and assigns IDs to its calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from ..planner.planner import PlanReports
from .sanitizing import arguments_text

_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,40}")
"""IDs that every provider accepts: Anthropic's characters, OpenAI's length."""


class StreamedCallIds:
    """Assigns IDs to the calls of an answer, unique in the conversation; keeps a model's unique IDs."""

    def __init__(self, taken: Iterable[str], step: int) -> None:
        self._taken = set(taken)
        self._step = step
        self._assigned: dict[tuple[int, str], str] = {}

    def assign_id(self, index: int, own: str) -> str:
        """Return the ID of the call at this index of the answer; `own` is the ID that the model gave it."""
        if (index, own) not in self._assigned:
            self._assigned[index, own] = self._new(index, own)
        return self._assigned[index, own]

    def _new(self, index: int, own: str) -> str:
        id_, number = own, 0
        while id_ in self._taken or not _ID.fullmatch(id_):
            id_ = f"call_{self._step}_{index}" + (f"_{number}" if number else "")
            number += 1
        self._taken.add(id_)
        return id_


class StreamReporter:
    """Reports the stream of one answer to the subscribers of the run."""

    def __init__(self, reports: PlanReports, ids: StreamedCallIds, hidden: Set[str]) -> None:
        self._reports = reports
        self._ids = ids
        self._hidden = hidden
        self._calls: dict[int, tuple[str, str]] = {}
        self.offset = 0
        """Number of parts in earlier segments of the answer."""

    def report_event(self, event: ModelResponseStreamEvent) -> None:
        """Report one event of a stream."""
        match event:
            case PartStartEvent(index=index, part=TextPart(content=content)):
                self._report_text(content)
            case PartStartEvent(index=index, part=ThinkingPart(content=content)):
                self._report_thought(content)
            case PartStartEvent(index=index, part=ToolCallPart() as call):
                index += self.offset
                self._calls[index] = (self._ids.assign_id(index, call.tool_call_id), call.tool_name)
                self._report_arguments(index, call.args)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=content)):
                self._report_text(content)
            case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=thought)):
                self._report_thought(thought or "")
            case PartDeltaEvent(index=index, delta=ToolCallPartDelta() as delta):
                self._report_arguments(index + self.offset, delta.args_delta)
            case _:
                pass

    def _report_text(self, content: str) -> None:
        if content:
            self._reports.text(content)

    def _report_thought(self, content: str) -> None:
        if content:
            self._reports.thought(content)

    def _report_arguments(self, index: int, arguments: str | Mapping[str, Any] | None) -> None:
        id_, name = self._calls.get(index, ("", ""))
        if arguments and name and name not in self._hidden:
            self._reports.arguments(id_, name, arguments_text(arguments))
