"""A provider for each test, and models whose official SDKs talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.provider import KEY, Provider

WIRES = ("openai", "responses", "anthropic", "gemini")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
async def openai_model(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncOpenAI(base_url=f"{provider.url}/v1", api_key=KEY) as client:
        yield OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=client))


@pytest.fixture
async def responses_model(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncOpenAI(base_url=f"{provider.url}/v1", api_key=KEY) as client:
        yield OpenAIResponsesModel("gpt-4o", provider=OpenAIProvider(openai_client=client))


@pytest.fixture
async def anthropic_model(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncAnthropic(base_url=provider.url, api_key=KEY) as client:
        yield AnthropicModel("claude-haiku-4-5", provider=AnthropicProvider(anthropic_client=client))


@pytest.fixture
async def gemini_model(provider: Provider) -> AsyncIterator[Model]:
    async with httpx2.AsyncClient(timeout=60) as client:
        found = GoogleProvider(api_key=KEY, http_client=client, base_url=provider.url)
        yield GoogleModel("gemini-2.5-flash", provider=found)


@pytest.fixture(params=["openai", "anthropic"])
def model(request: pytest.FixtureRequest) -> Model:
    """The models of two providers, one after the other."""
    found: Model = request.getfixturevalue(f"{request.param}_model")
    return found


@pytest.fixture(params=WIRES)
def any_model(request: pytest.FixtureRequest) -> Model:
    """The models of every wire format, one after the other."""
    found: Model = request.getfixturevalue(f"{request.param}_model")
    return found
