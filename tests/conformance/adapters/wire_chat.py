"""OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.conformance.adapters.wire import Frame, Said, pieces, sse

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def whole(said: Said, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in said.calls
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": _stop(said)}],
        "usage": USAGE,
    }


def endless(document: dict[str, Any]) -> dict[str, Any]:
    """Return a chat completion that does not say that it ended."""
    [choice] = document["choices"]
    return {**document, "choices": [{**choice, "finish_reason": None}]}


def streamed(said: Said, body: Mapping[str, Any]) -> list[Frame]:
    """Return the chunks of a chat completion."""
    frame = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": body["model"],
    }

    def chunk(delta: Mapping[str, Any], stop: str | None = None) -> str:
        return sse({**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})

    frames = [Frame("start", chunk({"role": "assistant", "content": ""}))]
    frames += [Frame("text", chunk({"content": piece})) for piece in pieces(said.text)]
    for index, call in enumerate(said.calls):
        function = {"name": call.name, "arguments": ""}
        begun = {"index": index, "id": call.id, "type": "function", "function": function}
        frames.append(Frame("call", chunk({"tool_calls": [begun]}), index))
        for piece in pieces(call.arguments):
            delta = {"index": index, "function": {"arguments": piece}}
            frames.append(Frame("arguments", chunk({"tool_calls": [delta]}), index))
    frames.append(Frame("end", chunk({}, _stop(said))))
    if body.get("stream_options", {}).get("include_usage"):
        frames.append(Frame("end", sse({**frame, "choices": [], "usage": USAGE})))
    return [*frames, Frame("last", "data: [DONE]\n\n")]


def _stop(said: Said) -> str:
    reasons = {"length": "length", "filter": "content_filter", "": "tool_calls" if said.calls else "stop"}
    return said.stop or reasons[said.ended]
