"""What four providers say of an answer, read by their official SDKs, reaches its run, events and HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic_ai.models import Model

from tests.conformance.adapters.plan_inputs import given
from tests.conformance.adapters.provider import Provider, Raw
from tests.conformance.adapters.wire import Said, sse
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AssistantMessage,
    Citation,
    FinalResponse,
    LLMPlanner,
    ProviderFacts,
    agents_of,
)
from toolgen.engines import InProcessEngine
from toolgen.events import AssistantReply
from toolgen.runtime import Runtime

TEXT = "⛵ It sails (sea.org). Füße stay dry."
"""Its first character is one code point, two units of UTF-16 and three bytes of UTF-8."""
URL, FILE = "https://sea.org/boats", "boats.pdf"
SAILS, MARKER = (2, 10), (11, 20)
PAGE = {"url": URL, "title": "Boats", "start_index": MARKER[0], "end_index": MARKER[1]}
USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}


def responses() -> list[Any]:
    """Return a response of OpenAI with a link and a file."""
    at = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
    cited = [
        {"type": "url_citation", **PAGE},
        {"type": "file_citation", "file_id": "file_1", "filename": FILE, "index": 5},
    ]
    part = {"type": "output_text", "text": TEXT, "annotations": cited, "logprobs": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    frame: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-4o",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {**frame, "status": "completed", "output": [item], "usage": {**USAGE, **details}}
    begun = {**frame, "status": "in_progress", "output": []}
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": begun}),
        ("response.output_item.added", {"output_index": 0, "item": {**item, "content": []}}),
        ("response.content_part.added", {**at, "part": {**part, "text": "", "annotations": []}}),
        ("response.output_text.delta", {**at, "delta": TEXT, "logprobs": []}),
        *(
            ("response.output_text.annotation.added", {**at, "annotation_index": n, "annotation": each})
            for n, each in enumerate(cited)
        ),
        ("response.output_text.done", {**at, "text": TEXT, "logprobs": []}),
        ("response.content_part.done", {**at, "part": part}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    return [{"type": type_, "sequence_number": n, **fields} for n, (type_, fields) in enumerate(events)]


def chat() -> list[Any]:
    """Return the chunks of a chat completion with a link."""
    cited = [{"type": "url_citation", "url_citation": PAGE}]
    frame = {"id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    deltas: list[tuple[Mapping[str, Any], str | None]] = [
        ({"role": "assistant", "content": TEXT}, None),
        ({"annotations": cited}, None),
        ({}, "stop"),
    ]
    chunks: list[Any] = [
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    return [*chunks, "[DONE]"]


def anthropic() -> list[Any]:
    """Return the events of a message of Anthropic in two blocks, the second of which is cited."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 1},
    }
    page = {
        "type": "web_search_result_location",
        "url": URL,
        "title": "Boats",
        "encrypted_index": "x",
        "cited_text": "Boats sail.",
    }
    file = {
        "type": "char_location",
        "document_index": 0,
        "document_title": FILE,
        "file_id": "file_1",
        "start_char_index": 0,
        "end_char_index": 11,
        "cited_text": "Boats sail.",
    }
    return [
        {"type": "message_start", "message": message},
        *_block(0, TEXT[: SAILS[0]]),
        *_block(1, TEXT[SAILS[0] : SAILS[1]], page, file),
        *_block(2, TEXT[SAILS[1] :]),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]


def _block(index: int, text: str, *citations: dict[str, Any]) -> list[dict[str, Any]]:
    deltas = [
        {"type": "text_delta", "text": text},
        *({"type": "citations_delta", "citation": each} for each in citations),
    ]
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def gemini() -> list[Any]:
    """Return the chunks of a response of Gemini with grounding, and with a source that it quotes."""
    before = len(TEXT[: SAILS[0]].encode())
    end = len(TEXT[: SAILS[1]].encode())
    segment = {"startIndex": before, "endIndex": end, "text": TEXT[SAILS[0] : SAILS[1]]}
    grounding = {
        "webSearchQueries": ["boats"],
        "groundingChunks": [{"web": {"uri": URL, "title": "Boats"}}],
        "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0], "confidenceScores": [0.9]}],
    }
    quoted = {
        "citationSources": [{"startIndex": 4, "endIndex": len(TEXT.encode()), "uri": "https://quoted.org"}]
    }
    frame = {"modelVersion": "gemini-test", "responseId": "r_1"}
    content = {"role": "model", "parts": [{"text": TEXT}]}
    first = {"content": content, "index": 0, "citationMetadata": quoted}
    empty = {"role": "model", "parts": []}
    last = {"content": empty, "index": 0, "finishReason": "STOP", "groundingMetadata": grounding}
    spent = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    return [{**frame, "candidates": [first]}, {**frame, "candidates": [last], "usageMetadata": spent}]


SENT = {"responses": responses, "openai": chat, "anthropic": anthropic, "gemini": gemini}
MARKED = Citation(url=URL, title="Boats", start=MARKER[0], end=MARKER[1], is_marker=True)
SUPPORTED = Citation(url=URL, title="Boats", start=SAILS[0], end=SAILS[1])
SAID: dict[str, tuple[str, tuple[Citation, ...]]] = {
    "responses": ("completed", (MARKED, Citation(document="file_1", title=FILE))),
    "openai": ("stop", (MARKED,)),
    "anthropic": (
        "end_turn",
        (SUPPORTED, Citation(document="file_1", title=FILE, start=SAILS[0], end=SAILS[1])),
    ),
    "gemini": ("STOP", (SUPPORTED, Citation(url="https://quoted.org", start=2, end=len(TEXT)))),
}


def body(wire: str) -> Raw:
    """Return the stream of a provider."""
    chunks = SENT[wire]()
    lines = [f"data: {each}\n\n" if isinstance(each, str) else sse(each) for each in chunks]
    return Raw("".join(lines), "text/event-stream")


@pytest.fixture(params=SENT)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(request: pytest.FixtureRequest, wire: str) -> Model:
    found: Model = request.getfixturevalue(f"{wire}_model")
    return found


async def test_what_a_provider_says_is_in_the_reply_its_events_and_the_conversation(
    wire: str, model: Model, provider: Provider
) -> None:
    provider.answers(body(wire))
    registration = AgentRegistration(
        spec=AgentSpec(id="x.keeper", description="Knows boats."), planner=LLMPlanner(model)
    )
    async with Runtime(engine=InProcessEngine()) as runtime:
        agents_of(runtime).register(registration)
        handle = await agents_of(runtime).client("x.keeper").start("Boats?", session_id="s")
        events = [event async for event in handle.events()]
        output = await handle.result()
        (turn,) = await agents_of(runtime).sessions.transcript("s")
    word, citations = SAID[wire]
    facts = ProviderFacts(finish_reason="stop", provider_finish_reason=word, citations=citations)
    assert (output.text, output.provider) == (TEXT, facts)
    replies = [event for event in events if isinstance(event, AssistantReply) and not event.is_partial]
    (document,) = [reply.provider for reply in replies]
    assert document is not None
    assert document.get("provider_finish_reason") == word
    assert [each.get("url") for each in document.get("citations", ())] == [
        each.url or None for each in citations
    ]
    message = turn.messages[-1]
    assert isinstance(message, AssistantMessage)
    assert message.provider is not None
    assert message.provider.citations == citations
    assert isinstance(message.provider.grounding, list | tuple)
    assert len(message.provider.grounding) == len(citations)
    assert URL in json.dumps(message.provider.grounding)


async def test_what_a_provider_does_not_say_is_absent(any_model: Model, provider: Provider) -> None:
    provider.answers(Said(text="Fine."))
    plan = await LLMPlanner(any_model).plan_start(given())
    assert isinstance(plan, FinalResponse)
    assert plan.provider is not None
    assert plan.provider.finish_reason == "stop"
    assert (plan.provider.citations, plan.provider.grounding) == ((), None)
