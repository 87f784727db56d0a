"""Converts a conversation into messages of pydantic-ai: requests, tool results and answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from toolgen.catalog.providers import Projection
from toolgen.contract.json_value import Json

from ..planner.messages import AssistantMessage, Message, PlannedCall, ToolMessage, UserMessage
from ..planner.portable import portable_text
from .blocks import accepted_media_types, blocks_content
from .sanitizing import sanitize_response, sanitize_tool_name

_WRITER: Final = "pydantic-ai"
_MARKS_ERRORS: Final = frozenset({"anthropic"})
"""Systems for which pydantic-ai marks a failed result and keeps its text; for others it wraps the text."""
_TAKEN: Final = "Taken."
_EMPTY: Final = "[empty message]"
"""Placeholder for a blank message, for providers that require text."""
_NOT_TAKEN: Final = (
    "Discarded, because other tools were called in the same answer. Call it alone, after their results."
)


def reminder(text: str) -> str:
    """Return a text of the runtime, marked so that no model attributes it to a person or a tool."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def native_json(answer: ModelResponse, calls: Sequence[str]) -> Json:
    """Return an answer as JSON, with the IDs of the calls that the run creates from it."""
    document: list[Json] = ModelMessagesTypeAdapter.dump_python([sanitize_response(answer)], mode="json")
    return {"writer": _WRITER, "answer": document[0], "calls": list(calls)}


def transcript(
    messages: Iterable[Message], model: Model, projections: Mapping[str, Projection] | None = None
) -> list[ModelMessage]:
    """Return the messages in the form of pydantic-ai; equal messages give equal text.

    Calls from another planner are written as the model would write them, with the projections.
    """
    by_tool = {projection.tool: projection for projection in (projections or {}).values()}
    converted = _Transcript(model.system, accepted_media_types(model), by_tool)
    for message in messages:
        match message:
            case UserMessage():
                converted.add_user_message(message)
            case AssistantMessage():
                converted.add_assistant_message(message)
            case ToolMessage():
                converted.add_tool_results(message)
    return converted.end()


class _Transcript:
    """Collects messages; all messages between two answers of the model form one request."""

    def __init__(self, system: str, media_types: Set[str], projections: Mapping[str, Projection]) -> None:
        self._system = system
        self._projections = projections
        self._media_types = media_types
        self._marks_errors = system in _MARKS_ERRORS
        self._messages: list[ModelMessage] = []
        self._results: list[ModelRequestPart] = []
        self._words: list[ModelRequestPart] = []
        self._open: dict[str, tuple[str, str]] = {}
        """Calls without a result by ID: the tool name, and the text to use if no result follows."""

    def add_user_message(self, message: UserMessage) -> None:
        words = []
        if message.text.strip():
            text = portable_text(message.text)
            words.append(reminder(text) if message.source == "runtime" else text)
        if message.content:
            content = [*words, *blocks_content(message.content, self._media_types)]
            self._words.append(UserPromptPart(content=content))
        elif words:
            self._words.append(UserPromptPart(content=words[0]))

    def add_assistant_message(self, message: AssistantMessage) -> None:
        answer = sanitize_response(_native(message) or _rebuilt(message, self._projections))
        answer = replace(
            answer, parts=[self._named(part) for part in answer.parts if self._has_content(part)]
        )
        if not answer.parts:
            return
        self._end_request()
        self._messages.append(answer)
        otherwise = _NOT_TAKEN if message.calls else _TAKEN
        self._open = {
            part.tool_call_id: (part.tool_name, otherwise)
            for part in answer.parts
            if isinstance(part, ToolCallPart)
        }

    def add_tool_results(self, message: ToolMessage) -> None:
        for answer in message.answers:
            self._open.pop(answer.id, None)
            failed = answer.status == "error" and self._marks_errors
            self._results.append(
                ToolReturnPart(
                    tool_name=self._name(answer.name),
                    content=portable_text(answer.text),
                    tool_call_id=answer.id,
                    outcome="failed" if failed else "success",
                )
            )
            if answer.content:
                content = blocks_content(answer.content, self._media_types)
                frame = portable_text(f'<tool-content tool="{answer.name}" call="{answer.id}">')
                self._words.append(UserPromptPart(content=[frame, *content, "</tool-content>"]))
        for answer in message.answers:
            if answer.reminder:
                about = f"{answer.name}: " if len(message.answers) > 1 else ""
                self._words.append(UserPromptPart(content=reminder(portable_text(about + answer.reminder))))

    def end(self) -> list[ModelMessage]:
        self._end_request()
        return self._messages

    def _has_content(self, part: ModelResponsePart) -> bool:
        """Return whether a part has content; a blank text may carry data that its own provider requires."""
        if not isinstance(part, TextPart | ThinkingPart) or part.content.strip():
            return True
        is_signed = bool(part.provider_details) or bool(getattr(part, "signature", None))
        return is_signed and part.provider_name == self._system

    def _named(self, part: ModelResponsePart) -> ModelResponsePart:
        if not isinstance(part, ToolCallPart):
            return part
        name = self._name(part.tool_name)
        if name == part.tool_name:
            return part
        return replace(part, tool_name=name)  # type: ignore[arg-type]  # one fixed name is always valid

    def _name(self, name: str) -> str:
        """Return a tool's name as declared to the provider, or made acceptable for it."""
        projection = self._projections.get(name)
        return projection.name if projection else sanitize_tool_name(name, self._system)

    def _end_request(self) -> None:
        closed = [
            ToolReturnPart(tool_name=name, content=text, tool_call_id=id_)
            for id_, (name, text) in self._open.items()
        ]
        self._open = {}
        parts = [*self._results, *closed, *self._words]
        if not parts and (not self._messages or isinstance(self._messages[-1], ModelResponse)):
            parts = [UserPromptPart(content=_EMPTY)]  # requests come first, last and between answers
        if parts:
            self._messages.append(ModelRequest(parts=parts))
        self._results, self._words = [], []


def _native(message: AssistantMessage) -> ModelResponse | None:
    """Return the model's original answer; None if another planner wrote the message."""
    document: Any = message.native
    if not isinstance(document, Mapping) or document.get("writer") != _WRITER:
        return None
    try:
        [answer] = ModelMessagesTypeAdapter.validate_python([document["answer"]])
        names = dict(zip(document["calls"], [call.id for call in message.calls], strict=True))
    except (KeyError, TypeError, ValueError, ValidationError):
        return None
    if not isinstance(answer, ModelResponse):
        return None
    return replace(answer, parts=[_renamed(part, names) for part in answer.parts])


def _renamed(part: ModelResponsePart, names: Mapping[str, str]) -> ModelResponsePart:
    """Return a call with the ID that the run assigned to it."""
    if isinstance(part, ToolCallPart) and (name := names.get(part.tool_call_id, "")):
        return part if name == part.tool_call_id else replace(part, tool_call_id=name)
    return part


def _rebuilt(message: AssistantMessage, projections: Mapping[str, Projection]) -> ModelResponse:
    parts: list[ModelResponsePart] = [TextPart(content=message.text)] if message.text else []
    for call in message.calls:
        projection = projections.get(call.name)
        name = projection.name if projection else call.name
        parts.append(ToolCallPart(tool_name=name, args=_as_sent(call, projection), tool_call_id=call.id))
    return ModelResponse(parts=parts)


def _as_sent(call: PlannedCall, projection: Projection | None) -> str:
    """Return a call's arguments as the model would send them; unchanged if they cannot be encoded."""
    try:
        return projection.encode(call.arguments).decode() if projection else call.arguments
    except (ValueError, RecursionError):
        return call.arguments
