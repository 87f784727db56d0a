"""Spans of requests by the wires of the providers, as a receiver of OTLP gets them."""

from __future__ import annotations

from typing import Final

import pytest
from pydantic_ai.models import Model

from tests.conformance.adapters.plan_inputs import given
from tests.conformance.adapters.provider import Provider, Refused
from tests.conformance.adapters.test_llm_runs import AGENT, runtime
from tests.conformance.adapters.wire import Called, Said
from tests.conventions import violations
from tests.otlp import Receiver
from tests.runtime.tools import Listing
from toolgen.agents import LLMPlanner, agents_of
from toolgen.agents.planner.chats import Chats
from toolgen.events.telemetry.spans import ToolSpans

NAMES: Final = {"gpt-4o": "openai", "claude-haiku-4-5": "anthropic", "gemini-2.5-flash": "gcp.gemini"}
"""Providers by the conventions, by the models of these tests."""


async def test_each_request_is_a_chat_with_model_provider_and_tokens(
    any_model: Model, provider: Provider
) -> None:
    provider.answers(
        Refused(status=503),
        Said(calls=(Called("list_devices", '{"site_id": "s1"}', "call_1"),)),
        Said(text="There are none."),
    )
    with Receiver() as receiver:
        async with runtime(any_model, Listing(), spans=ToolSpans(receiver.provider())) as host:
            output = await agents_of(host).client(AGENT).run("Which devices are at s1?", session_id="s")
        spans = receiver.spans()
    assert [wrong for span in spans for wrong in violations(span)] == []
    refused, *answered = chats = [span for span in spans if span.operation == "chat"]
    assert {span.name for span in chats} == {f"chat {any_model.model_name}"}
    assert {span.attributes["gen_ai.provider.name"] for span in chats} == {NAMES[any_model.model_name]}
    assert {span.attributes["server.address"] for span in chats} == {"127.0.0.1"}
    assert refused.is_error
    assert "gen_ai.usage.input_tokens" not in refused.attributes
    spent = sum(span.attributes["gen_ai.usage.input_tokens"] for span in answered)
    assert (len(answered), spent) == (2, output.telemetry.input_tokens)


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_chat_says_whether_it_was_streamed(
    openai_model: Model, provider: Provider, is_streamed: bool
) -> None:

    provider.answers(Said(text="Hello."))
    with Receiver() as receiver:
        chats = Chats(ToolSpans(receiver.provider()), "assistant.home", "s")
        await LLMPlanner(openai_model, stream=is_streamed).plan_start(given(chats=chats))
        (chat,) = receiver.spans()
    assert chat.attributes.get("gen_ai.request.stream", False) is is_streamed
