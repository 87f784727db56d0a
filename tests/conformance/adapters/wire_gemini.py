"""Gemini's `generateContent`, in which a call comes whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.conformance.adapters.wire import Called, Frame, Said, pieces, sse

_USAGE = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}


def whole(said: Said, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response."""
    parts: list[dict[str, Any]] = [{"text": said.text}] if said.text else []
    parts += [_part(call) for call in said.calls]
    return _response(parts, _stop(said)) | {"usageMetadata": _USAGE}


def endless(document: dict[str, Any]) -> dict[str, Any]:
    """Return a response that does not say that it ended."""
    [candidate] = document["candidates"]
    return {**document, "candidates": [{**candidate, "finishReason": None}]}


def streamed(said: Said, body: Mapping[str, Any]) -> list[Frame]:
    """Return the chunks of a response."""
    frames = [Frame("text", sse(_response([{"text": piece}]))) for piece in pieces(said.text)]
    for index, call in enumerate(said.calls):
        chunk = sse(_response([_part(call)]))
        written = json.dumps(_part(call)["functionCall"]["args"])
        start = chunk.index(written)
        middle, end = start + len(written) // 2, start + len(written)
        frames += [
            Frame("call", chunk[:start], index),
            Frame("arguments", chunk[start:middle], index),
            Frame("arguments", chunk[middle:end], index),
            Frame("called", chunk[end:], index),
        ]
    ended = _response([], _stop(said)) | {"usageMetadata": _USAGE}
    return [*frames, Frame("end", sse(ended))]


def _part(call: Called) -> dict[str, Any]:
    named = {"id": call.id} if call.id else {}
    return {"functionCall": {**named, "name": call.name, "args": json.loads(call.arguments or "{}")}}


def _response(parts: list[dict[str, Any]], stop: str = "") -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if stop:
        candidate["finishReason"] = stop
    return {"candidates": [candidate], "modelVersion": "gemini-test", "responseId": "r_1"}


def _stop(said: Said) -> str:
    return said.stop or {"length": "MAX_TOKENS", "filter": "SAFETY", "": "STOP"}[said.ended]
