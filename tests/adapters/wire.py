"""What providers send: one answer in OpenAI's and in Anthropic's words, whole or in events (SSE)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_PIECE: Final = 7
"""Characters of a delta."""


@dataclass(frozen=True, slots=True)
class Called:
    """One call, as the model writes it."""

    name: str
    arguments: str = "{}"
    id: str = "call_a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer of the model."""

    text: str = ""
    calls: tuple[Called, ...] = ()
    thinking: str = ""
    """Only Anthropic has a place for it."""
    stop: str = ""
    """The provider's word for why it ended; the usual one by default."""


def openai(said: Said, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in said.calls
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": _openai_stop(said)}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def openai_events(said: Said, body: Mapping[str, Any]) -> list[str]:
    """Return the events of a chat completion."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(said.text)]
    for index, call in enumerate(said.calls):
        function: dict[str, Any] = {"name": call.name, "arguments": ""}
        deltas.append(
            {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
        )
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _pieces(call.arguments)
        ]
    frame = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": body["model"],
    }
    chunks: list[dict[str, Any]] = [
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": _openai_stop(said)}]})
    if body.get("stream_options", {}).get("include_usage"):
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        chunks.append({**frame, "choices": [], "usage": usage})
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]


def anthropic(said: Said, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message."""
    content: list[dict[str, Any]] = []
    if said.thinking:
        content.append({"type": "thinking", "thinking": said.thinking, "signature": "signed"})
    if said.text:
        content.append({"type": "text", "text": said.text})
    for call in said.calls:
        # The API sends an object; arguments that are none can only come in pieces.
        given = json.loads(call.arguments)
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": _anthropic_stop(said),
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def anthropic_events(said: Said, body: Mapping[str, Any]) -> list[str]:
    """Return the events of a message."""
    empty = anthropic(Said(), body) | {"stop_reason": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": empty}]
    for index, (start, deltas) in enumerate(_anthropic_blocks(said)):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": _anthropic_stop(said), "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 7}})
    events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def _anthropic_blocks(said: Said) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if said.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(said.thinking)]
        signed = {"type": "signature_delta", "signature": "signed"}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]
    if said.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(said.text)]
        yield {"type": "text", "text": ""}, deltas
    for call in said.calls:
        pieces = _pieces(call.arguments)
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas


def _openai_stop(said: Said) -> str:
    return said.stop or ("tool_calls" if said.calls else "stop")


def _anthropic_stop(said: Said) -> str:
    return said.stop or ("tool_use" if said.calls else "end_turn")


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
