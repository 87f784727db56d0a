"""The finish reason of a model's answer: complete, stopped by a limit or filter, or cut off."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

if TYPE_CHECKING:
    from google.genai.types import Citation as GeminiCitation

FinishReason = Literal["complete", "length", "filtered", "malformed", "broken"]
"""Why an answer ended.

`length`: the token limit was reached. `filtered`: a content filter stopped it, or the model refused.
`malformed`: another reason. `broken`: the provider never reported that the answer ended.
"""

_REASON: Final = "finish_reason"
"""Key under which pydantic-ai stores the provider's own finish reason, unchanged."""
_UNFINISHED: Final = frozenset({"in_progress", "incomplete"})
"""Statuses of an item of OpenAI's Responses that was closed without being complete."""
_STOPPED: Final = frozenset({"length", "content_filter"})
"""Finish reasons of chat completions that a later reason may hide."""
_GEMINI_ENDS: Final = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
"""Gemini's finish reasons for an answer that ended normally."""


class StreamMonitor:
    """Monitors provider events below pydantic-ai: which calls were closed, and whether the stream ended.

    pydantic-ai hides this: it treats a stream that just ends as a complete answer, even if the arguments of a
    call are incomplete. Only Anthropic and OpenAI's Responses send events for it. For other providers, the
    monitor watches what pydantic-ai drops: a reason hidden by a later one, and pieces of Gemini's calls.
    """

    def __init__(self) -> None:
        self._open: set[object] = set()
        self._has_last: bool | None = None
        self.was_stopped = False
        """Whether a limit or a filter stopped a part of the answer, no matter which reason followed."""
        self.recited: list[GeminiCitation] = []
        """Sources that Gemini reports as quoted by the answer."""

    @property
    def is_open(self) -> bool:
        """Whether the answer is incomplete: a part was not closed, or the last event is missing."""
        return self._has_last is False or bool(self._open)

    def add_event(self, event: Any) -> None:
        """Add one event of the provider's SDK."""
        match getattr(event, "type", None):
            case "message_start" | "response.created":
                self._has_last = False
            case "content_block_start":
                self._open.add(event.index)
            case "content_block_stop":
                self._open.discard(event.index)
            case "response.output_item.added":
                self._open.add(event.output_index)
            case "response.output_item.done":
                self._open.discard(event.output_index)
                self.was_stopped |= getattr(event.item, "status", None) in _UNFINISHED
            case "message_stop" | "response.completed" | "response.incomplete" | "response.failed":
                self._has_last = True
            case None:
                self._add_chunk(event)
            case _:
                pass

    def _add_chunk(self, chunk: Any) -> None:
        """Add a chunk of a chat completion or of Gemini; only its first choice is read."""
        for choice in (getattr(chunk, "choices", None) or ())[:1]:
            self.was_stopped |= getattr(choice, "finish_reason", None) in _STOPPED
        for candidate in (getattr(chunk, "candidates", None) or ())[:1]:
            self.recited += getattr(getattr(candidate, "citation_metadata", None), "citations", None) or ()
            reason = getattr(candidate, "finish_reason", None)
            self.was_stopped |= reason is not None and reason.name not in _GEMINI_ENDS
            for part in getattr(candidate.content, "parts", None) or ():
                call = part.function_call
                if call is not None and (call.will_continue or call.partial_args):
                    self._open.add("a call in pieces")


class _MonitoredStream:
    """A stream of SDK events for pydantic-ai; each event is passed to the monitor first."""

    def __init__(self, events: Any, monitor: StreamMonitor) -> None:
        self._events = events
        self.monitor = monitor

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> object:
        event: object = await anext(self._events)
        self.monitor.add_event(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._events, name)


def monitor_stream(stream: StreamedResponse) -> StreamMonitor:
    """Monitor the events of an unread stream and return the monitor.

    The monitor relies on a private attribute of pydantic-ai. A class that stores its events elsewhere is not
    monitored: only its finish reason counts, and the tests of calls that are never closed fail.
    """
    monitor = StreamMonitor()
    events = getattr(stream, "_response", None)
    if isinstance(events, _MonitoredStream):
        return events.monitor
    if isinstance(events, AsyncIterator):
        stream._response = _MonitoredStream(events, monitor)  # type: ignore[attr-defined]  # in subclasses
    return monitor


class MonitoredModel(WrapperModel):
    """A model whose streams are monitored from their first event."""

    @asynccontextmanager
    async def request_stream(self, *args: Any, **more: Any) -> AsyncGenerator[StreamedResponse]:
        async with self.wrapped.request_stream(*args, **more) as stream:
            monitor_stream(stream)
            yield stream


def finish_reason_of(
    answer: ModelResponse,
    monitor: StreamMonitor | None = None,
    *,
    needs_reason: bool = True,
    needs_word: bool = False,
) -> FinishReason:
    """Return the finish reason of a complete answer; if several apply, the worst.

    With `needs_reason`, a provider has to report a reason; test models without a provider have none. With
    `needs_word`, it has to report the reason in its own words, because pydantic-ai invents reasons for chat
    completions without one.
    """
    if answer.state != "complete" or (monitor is not None and monitor.is_open):
        return "broken"
    word = (answer.provider_details or {}).get(_REASON)
    is_free = not needs_reason or not answer.provider_url
    match answer.finish_reason:
        case "length":
            return "length"
        case "content_filter":
            return "filtered"
        case "error":
            return "malformed"
        case "stop" | "tool_call" if monitor is not None and monitor.was_stopped:
            return "malformed"
        case "stop" | "tool_call":
            return "complete" if word or is_free or not needs_word else "broken"
        case None if word:  # a reason that pydantic-ai does not know
            return "malformed"
        case None:
            return "complete" if is_free else "broken"
