"""Normalizes a model's answer so that every provider accepts it in later requests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_core import to_json

from toolgen.contract.json_value import Json

from ..planner.portable import portable_arguments, portable_json, portable_text

_NO_JSON: Final = "[arguments that cannot be written as JSON]"
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Tool names that OpenAI and Anthropic accept."""
_GEMINI_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")


def arguments_text(arguments: str | Mapping[str, Json] | None) -> str:
    """Return the arguments of a call as the JSON text that the model wrote, even if it is invalid."""
    if isinstance(arguments, str):
        return arguments or "{}"
    try:
        return to_json(arguments or {}).decode()
    except ValueError:  # for example a lone surrogate: JSON can escape it, UTF-8 cannot encode it
        pass
    try:
        return json.dumps(arguments)
    except (ValueError, RecursionError):
        return _NO_JSON


def sanitize_response(answer: ModelResponse) -> ModelResponse:
    """Return an answer without values that are not JSON (RFC 8259); arguments of its calls are objects."""
    return replace(
        answer,
        parts=[_part(part) for part in answer.parts],
        provider_details=portable_json(answer.provider_details),
        metadata=portable_json(answer.metadata),
    )


def sanitize_tool_name(name: str, system: str) -> str:
    """Return the name of a tool as providers accept it; a model may call tools that do not exist."""
    pattern = _GEMINI_NAME if system.startswith("google") else _NAME
    if pattern.fullmatch(name):
        return name
    safe = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:63] or "unnamed"
    return safe if pattern.fullmatch(safe) else f"_{safe}"


def _part(part: ModelResponsePart) -> ModelResponsePart:
    details = portable_json(part.provider_details) if hasattr(part, "provider_details") else None
    match part:
        case TextPart() | ThinkingPart():
            return replace(part, content=portable_text(part.content), provider_details=details)
        case NativeToolCallPart():
            return replace(part, args=portable_json(part.args), provider_details=details)
        case ToolCallPart():
            return replace(
                part,
                tool_name=portable_text(part.tool_name),  # type: ignore[arg-type]  # some have one fixed name
                args=_arguments(part.args),  # type: ignore[arg-type]  # some are typed; JSON all the same
                provider_details=details,
            )
        case NativeToolReturnPart():
            return replace(part, content=portable_json(part.content), provider_details=details)
        case _:
            return part


def _arguments(arguments: str | Mapping[str, Json] | None) -> str | dict[str, Json]:
    """Return arguments in their own form, text or object, if it is portable; otherwise as text."""
    text = arguments_text(arguments)
    portable = portable_arguments(text)
    return dict(arguments) if isinstance(arguments, Mapping) and portable == text else portable
