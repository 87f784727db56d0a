"""How an answer of a model ended: as it should, stopped by a limit, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, Literal, Self

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import StreamedResponse

Ending = Literal["complete", "length", "filtered", "malformed", "broken"]
"""`length`: at the limit of its tokens. `filtered`: by a content filter, or the model refused. `malformed`:
for another reason. `broken`: the provider never said that the answer ended."""

_REASON: Final = "finish_reason"
"""Where pydantic-ai keeps the provider's own word, and nothing that it made up itself."""


class Closings:
    """What the events below pydantic-ai say of an answer: which calls were closed, and whether it ended.

    pydantic-ai hides it: a stream that just ends is a complete answer to it, with whatever a call has of its
    arguments. Only Anthropic and OpenAI's Responses have such events.
    """

    def __init__(self) -> None:
        self._open: set[object] = set()
        self._has_last: bool | None = None

    @property
    def is_open(self) -> bool:
        """Whether a part was not closed, or the last event did not come."""
        return self._has_last is False or bool(self._open)

    def take(self, event: Any) -> None:
        """Take one event of the provider's SDK."""
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
            case "message_stop" | "response.completed" | "response.incomplete" | "response.failed":
                self._has_last = True
            case _:
                pass


class _Watched:
    """A stream of events of an SDK, as pydantic-ai reads it; each is shown before it is read."""

    def __init__(self, events: Any, closings: Closings) -> None:
        self._events = events
        self._closings = closings

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> object:
        event: object = await anext(self._events)
        self._closings.take(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._events, name)


def watched(stream: StreamedResponse) -> Closings:
    """Return what the events of a stream, which nobody has read yet, will say of its end.

    Where pydantic-ai keeps the events is its own matter. A class that keeps them elsewhere is not watched:
    the reason that it gives decides alone, and the tests of calls that are never closed fail.
    """
    closings = Closings()
    events = getattr(stream, "_response", None)
    if isinstance(events, AsyncIterator):
        stream._response = _Watched(events, closings)  # type: ignore[attr-defined]  # of its subclasses
    return closings


def ending(
    answer: ModelResponse,
    closings: Closings | None = None,
    *,
    needs_reason: bool = True,
    needs_word: bool = False,
) -> Ending:
    """Return how an answer ended that is not to go on.

    With `needs_reason` a provider has to give one; models without a provider, for tests, have none. With
    `needs_word` it has to be in its own words: pydantic-ai makes reasons up for chat completions without one.
    """
    if answer.state != "complete" or (closings is not None and closings.is_open):
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
        case "stop" | "tool_call":
            return "complete" if word or is_free or not needs_word else "broken"
        case None if word:  # which pydantic-ai knows no meaning of
            return "malformed"
        case None:
            return "complete" if is_free else "broken"
