"""Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.conformance.adapters.wire import Frame, Said, pieces, sse


def whole(said: Said, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message."""
    content: list[dict[str, Any]] = []
    if said.thinking:
        content.append({"type": "thinking", "thinking": said.thinking, "signature": "signed"})
    if said.text:
        content.append({"type": "text", "text": said.text})
    for call in said.calls:
        # The API sends an object; arguments that are none can only come in pieces.
        given = json.loads(call.arguments or "{}")
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": _stop(said),
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def endless(document: dict[str, Any]) -> dict[str, Any]:
    """Return a message that does not say that it ended."""
    return {**document, "stop_reason": None}


def streamed(said: Said, body: Mapping[str, Any]) -> list[Frame]:
    """Return the events of a message."""
    empty = whole(Said(), body) | {"stop_reason": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
    frames = [Frame("start", sse({"type": "message_start", "message": empty}))]
    frames += _blocks(said)
    stop = {"stop_reason": _stop(said), "stop_sequence": None}
    ended = {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 7}}
    return [*frames, Frame("end", sse(ended)), Frame("last", sse({"type": "message_stop"}))]


def _blocks(said: Said) -> Iterator[Frame]:
    index = 0
    if said.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(said.thinking)]
        signed = {"type": "signature_delta", "signature": "signed"}
        yield Frame("start", _start(index, {"type": "thinking", "thinking": "", "signature": ""}))
        yield from (Frame("start", _delta(index, delta)) for delta in [*deltas, signed])
        yield Frame("start", _end(index))
        index += 1
    if said.text:
        yield Frame("start", _start(index, {"type": "text", "text": ""}))
        for piece in pieces(said.text):
            yield Frame("text", _delta(index, {"type": "text_delta", "text": piece}))
        yield Frame("text", _end(index))
        index += 1
    for number, call in enumerate(said.calls):
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield Frame("call", _start(index, block), number)
        for piece in pieces(call.arguments):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield Frame("arguments", _delta(index, delta), number)
        yield Frame("called", _end(index), number)
        index += 1


def _start(index: int, block: Mapping[str, Any]) -> str:
    return sse({"type": "content_block_start", "index": index, "content_block": block})


def _delta(index: int, delta: Mapping[str, Any]) -> str:
    return sse({"type": "content_block_delta", "index": index, "delta": delta})


def _end(index: int) -> str:
    return sse({"type": "content_block_stop", "index": index})


def _stop(said: Said) -> str:
    reasons = {"length": "max_tokens", "filter": "refusal", "": "tool_use" if said.calls else "end_turn"}
    return said.stop or reasons[said.ended]
