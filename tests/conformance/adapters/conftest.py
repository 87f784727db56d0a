"""A provider for each test, and models whose official SDKs talk to it."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Final

import httpx2
import pytest
from anthropic import AsyncAnthropic
from google.genai.client import Client
from google.genai.types import HttpOptions
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.conformance.adapters.provider import KEY, Provider

WIRES: Final = ("openai", "responses", "anthropic", "gemini")
_NO_CERTIFICATES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody: the provider of the tests has no TLS, and reading certificates takes a tenth of a second."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(verify=_NO_CERTIFICATES, timeout=60) as client:
        yield client


@pytest.fixture
async def openai(provider: Provider, http: httpx2.AsyncClient) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{provider.url}/v1", api_key=KEY, http_client=http)


@pytest.fixture
async def openai_model(openai: AsyncOpenAI) -> Model:
    return OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=openai))


@pytest.fixture
async def responses_model(openai: AsyncOpenAI) -> Model:
    return OpenAIResponsesModel("gpt-4o", provider=OpenAIProvider(openai_client=openai))


@pytest.fixture
async def anthropic_model(provider: Provider, http: httpx2.AsyncClient) -> Model:
    client = AsyncAnthropic(base_url=provider.url, api_key=KEY, http_client=http)
    return AnthropicModel("claude-haiku-4-5", provider=AnthropicProvider(anthropic_client=client))


@pytest.fixture
async def gemini_model(provider: Provider, http: httpx2.AsyncClient) -> Model:
    options = HttpOptions(
        base_url=provider.url,
        httpx_async_client=http,
        client_args={"verify": _NO_CERTIFICATES},
        async_client_args={"ssl": _NO_CERTIFICATES},
    )
    client = Client(api_key=KEY, http_options=options)
    return GoogleModel("gemini-2.5-flash", provider=GoogleProvider(client=client))


@pytest.fixture
def models(request: pytest.FixtureRequest) -> list[Model]:
    """One model of every wire format."""
    return [request.getfixturevalue(f"{wire}_model") for wire in WIRES]


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
