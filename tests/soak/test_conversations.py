"""New random conversations in each run: every provider takes what was kept of them."""

from __future__ import annotations

from hypothesis import given, settings
from pydantic_ai.messages import ModelResponsePart
from pydantic_ai.models import Model

from tests.conformance.adapters.provider import Provider
from tests.conformance.adapters.test_llm_transcripts import ANSWERS, SLOW, TEXT, kept_and_sent


@settings(max_examples=1_000, derandomize=False, suppress_health_check=SLOW, print_blob=True)
@given(message=TEXT, answers=ANSWERS)
async def test_a_random_conversation_can_be_sent_to_every_provider(
    models: list[Model], provider: Provider, message: str, answers: list[list[ModelResponsePart]]
) -> None:
    await kept_and_sent(models, provider, message, answers)
