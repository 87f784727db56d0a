"""OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.conformance.adapters.wire import Frame, Said, pieces, sse

_REASONS = {"length": "max_output_tokens", "filter": "content_filter"}


def whole(said: Said, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response."""
    reason = said.stop or _REASONS.get(said.ended)
    items: list[dict[str, Any]] = []
    if said.text:
        items.append(_message(said.text))
    items += [
        {
            "type": "function_call",
            "id": f"fc_{index}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "incomplete" if reason else "completed",
        }
        for index, call in enumerate(said.calls)
    ]
    return {
        **_frame(body),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": items,
        "usage": {
            "input_tokens": 11,
            "output_tokens": 7,
            "total_tokens": 18,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def endless(document: dict[str, Any]) -> dict[str, Any]:
    """Return a response that does not say that it ended."""
    return {**document, "status": "in_progress"}


def streamed(said: Said, body: Mapping[str, Any]) -> list[Frame]:
    """Return the events of a response."""
    complete = whole(said, body)
    frames: list[Frame] = []

    def add(kind: Any, type_: str, call: int = 0, /, **fields: Any) -> None:
        document = {"type": type_, "sequence_number": len(frames), **fields}
        frames.append(Frame(kind, sse(document), call))

    begun = {**_frame(body), "status": "in_progress", "output": []}
    add("start", "response.created", response=begun)
    add("start", "response.in_progress", response=begun)
    for place, item in enumerate(complete["output"]):
        if item["type"] == "message":
            _add_text(add, place, item, said.text)
        else:
            _add_call(add, place, item)
    ending = "response.completed" if complete["status"] == "completed" else "response.incomplete"
    add("end", ending, response=complete)  # the stream has no other last event
    return frames


def _add_text(add: Any, place: int, item: dict[str, Any], text: str) -> None:
    at = {"output_index": place, "item_id": item["id"], "content_index": 0}
    part = item["content"][0]
    add("start", "response.output_item.added", output_index=place, item={**item, "content": []})
    add("start", "response.content_part.added", **at, part={**part, "text": ""})
    for piece in pieces(text):
        add("text", "response.output_text.delta", **at, delta=piece, logprobs=[])
    add("text", "response.output_text.done", **at, text=text, logprobs=[])
    add("text", "response.output_item.done", output_index=place, item=item)


def _add_call(add: Any, place: int, item: dict[str, Any]) -> None:
    call = int(item["id"].removeprefix("fc_"))
    at = {"output_index": place, "item_id": item["id"]}
    empty = {**item, "arguments": "", "status": "in_progress"}
    add("call", "response.output_item.added", call, output_index=place, item=empty)
    for piece in pieces(item["arguments"]):
        add("arguments", "response.function_call_arguments.delta", call, **at, delta=piece)
    add("called", "response.function_call_arguments.done", call, **at, arguments=item["arguments"])
    add("called", "response.output_item.done", call, output_index=place, item=item)


def _message(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
    }


def _frame(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": body["model"],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "metadata": {},
    }
