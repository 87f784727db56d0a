"""A provider for each test, and planners whose SDKs talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.provider import KEY, Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
async def openai_model(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncOpenAI(base_url=f"{provider.url}/v1", api_key=KEY) as client:
        yield OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=client))


@pytest.fixture
async def anthropic_model(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncAnthropic(base_url=provider.url, api_key=KEY) as client:
        yield AnthropicModel("claude-haiku-4-5", provider=AnthropicProvider(anthropic_client=client))


@pytest.fixture(params=["openai", "anthropic"])
def model(request: pytest.FixtureRequest) -> Model:
    """The models of both providers, one after the other."""
    found: Model = request.getfixturevalue(f"{request.param}_model")
    return found
