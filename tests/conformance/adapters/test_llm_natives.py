"""Tools that a provider runs itself: on the wire as the design has them, or refused before anything runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google.genai.client import Client
from google.genai.types import HttpOptions
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.google_cloud import GoogleCloudProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.conformance.adapters.plan_inputs import TOOLS, given
from tests.conformance.adapters.provider import KEY, Provider
from toolgen.agents import AgentRegistration, AgentSpec, AgentTool, LLMPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.specs import NativeTool
from toolgen.contract.json_value import Json
from toolgen.engines import NonRetryableError
from toolgen.runtime import RegistrationError, Runtime, ToolContext


@pytest.fixture
async def chat(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncOpenAI(base_url=f"{provider.url}/v1", api_key=KEY) as client:
        yield OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=client))


@pytest.fixture
async def responses(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncOpenAI(base_url=f"{provider.url}/v1", api_key=KEY) as client:
        yield OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(openai_client=client))


@pytest.fixture
async def anthropic(provider: Provider) -> AsyncIterator[Model]:
    async with AsyncAnthropic(base_url=provider.url, api_key=KEY) as client:
        yield AnthropicModel("claude-haiku-4-5", provider=AnthropicProvider(anthropic_client=client))


def gemini(provider: Provider, name: str) -> Model:
    client = Client(api_key=KEY, http_options=HttpOptions(base_url=provider.url))
    return GoogleModel(name, provider=GoogleProvider(client=client))


@pytest.fixture
def google(provider: Provider) -> Model:
    return gemini(provider, "gemini-3-pro-preview")


@pytest.fixture
def old_google(provider: Provider) -> Model:
    return gemini(provider, "gemini-2.5-flash")


@pytest.fixture
def vertex(provider: Provider) -> Model:
    options = HttpOptions(base_url=provider.url)
    client = Client(vertexai=True, api_key=KEY, http_options=options)
    return GoogleModel("gemini-3-pro-preview", provider=GoogleCloudProvider(client=client))


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Model:
    """The model of the wire that a test names."""
    found: Model = request.getfixturevalue(request.param)
    return found


def native(provider: str, kind: str, config: Mapping[str, Json] | None = None) -> NativeTool:
    return NativeTool(id=f"a.b.{kind}", provider=provider, kind=kind, config=config or {})


async def sent(model: Model, provider: Provider, *tools: NativeTool, **more: Any) -> dict[str, Any]:
    """Return the body of a request with these tools, which nobody answers."""
    settings = more.pop("settings", None)
    stream = more.pop("stream", True)
    with pytest.raises(Exception, match="nothing is laid down"):
        await LLMPlanner(model, settings=settings, stream=stream).plan_start(given(native=tools, **more))
    return provider.sent[0]


CASES = [
    ("responses", "file_search", {"vector_store_ids": ["vs_1"]}, {"type": "file_search"}),
    (
        "responses",
        "file_search",
        {"vector_store_ids": ["vs_1"], "filters": {"key": "a"}},
        {"type": "file_search"},
    ),
    ("responses", "code_interpreter", {"container": {"type": "auto"}}, {"type": "code_interpreter"}),
    ("responses", "mcp", {"server_label": "x", "server_url": "https://x.example"}, {"type": "mcp"}),
    ("responses", "web_search", {"filters": {"allowed_domains": ["x.example"]}}, {"type": "web_search"}),
    ("responses", "computer_use_preview", {"environment": "linux"}, {"type": "computer_use_preview"}),
    ("anthropic", "bash_20250124", {}, {"type": "bash_20250124", "name": "bash"}),
    (
        "anthropic",
        "computer_20250124",
        {"display_width_px": 9},
        {"type": "computer_20250124", "name": "computer"},
    ),
    (
        "anthropic",
        "text_editor_20250728",
        {"max_characters": 9},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
    ),
    (
        "anthropic",
        "text_editor_20250124",
        {"name": "str_replace_editor"},
        {"type": "text_editor_20250124"},
    ),
]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("model", "kind", "config", "head"), CASES, indirect=["model"])
async def test_a_tool_stands_in_the_request_as_the_provider_takes_it(
    model: Model, provider: Provider, kind: str, config: dict[str, Json], head: dict[str, Json], stream: bool
) -> None:
    tools = native(model.system, kind, config), native("other", "x")
    body = await sent(model, provider, *tools, stream=stream)
    assert {**head, **config} in body["tools"]
    assert len(body["tools"]) == len(TOOLS) + 1


MAPS: dict[str, Json] = {"googleMaps": {"enableWidget": True}}
BROWSER: dict[str, Json] = {"environment": "ENVIRONMENT_BROWSER"}
STORE: dict[str, Json] = {"vertex_ai_search": {"datastore": "projects/p/d"}}
HIDES: dict[str, Json] = {"exclude_domains": ["x.example"]}
CAMEL: dict[str, Json] = {"excludeDomains": ["x.example"]}
"""The SDK writes such names as the service has them; JSON of protocol buffers may hold either."""


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("model", "kind", "config", "wanted"),
    [
        ("google", "google_maps", {}, {"googleMaps": {}}),
        ("google", "google_maps", {"enable_widget": True}, MAPS),
        ("google", "computer_use", BROWSER, {"computerUse": BROWSER}),
        ("google", "google_search", {}, {"googleSearch": {}}),
        ("vertex", "retrieval", STORE, {"retrieval": STORE}),
        ("vertex", "google_search", HIDES, {"googleSearch": HIDES}),
        ("vertex", "google_search", CAMEL, {"googleSearch": HIDES}),
    ],
    indirect=["model"],
)
async def test_google_has_an_object_for_each(
    model: Model, provider: Provider, kind: str, config: dict[str, Json], wanted: Json, stream: bool
) -> None:
    body = await sent(model, provider, native("google", kind, config), stream=stream)
    assert [tool for tool in body["tools"] if "functionDeclarations" not in tool] == [wanted]
    tells = body["toolConfig"].get("includeServerSideToolInvocations", False)
    assert tells == (model.system == "google"), "Vertex knows no such field"


async def test_tools_that_the_author_gave_to_the_model_stay(responses: Model, provider: Provider) -> None:
    own = {"type": "web_search"}
    tool = native("openai", "file_search", {"vector_store_ids": ["vs_1"]})
    body = await sent(responses, provider, tool, settings={"openai_native_tools": [own]})
    assert own in body["tools"]
    assert {"type": "file_search", "vector_store_ids": ["vs_1"]} in body["tools"]


async def test_two_tools_of_one_kind_are_two(responses: Model, provider: Provider) -> None:
    configs: list[dict[str, Json]] = [{"vector_store_ids": [name]} for name in ("vs_1", "vs_2")]
    body = await sent(responses, provider, *(native("openai", "file_search", one) for one in configs))
    assert [tool for tool in body["tools"] if tool["type"] == "file_search"] == [
        {"type": "file_search", **config} for config in configs
    ]


async def test_what_the_client_runs_stands_in_the_place_of_the_tool_that_runs_it(
    anthropic: Model, provider: Provider
) -> None:
    async def bash(command: str, ctx: ToolContext) -> str:
        """Run a command."""
        return command

    tools = (func_tool(bash).spec, *TOOLS)
    body = await sent(anthropic, provider, native("anthropic", "bash_20250124"), tools=tools)
    assert [tool for tool in body["tools"] if tool["name"] == "bash"] == [
        {"type": "bash_20250124", "name": "bash"}
    ]
    assert len(body["tools"]) == len(tools)


async def test_a_wrapped_model_passes_tools_on_too(anthropic: Model, provider: Provider) -> None:
    wrapped = WrapperModel(anthropic)
    body = await sent(wrapped, provider, native("anthropic", "bash_20250124"))
    assert {"type": "bash_20250124", "name": "bash"} in body["tools"]
    assert wrapped.wrapped is anthropic, "the author's model stays as it is"
    assert type(anthropic) is AnthropicModel


async def test_the_last_planning_offers_none(responses: Model, provider: Provider) -> None:
    tool = native("openai", "file_search", {"vector_store_ids": ["vs_1"]})
    assert "tools" not in await sent(responses, provider, tool, closing="tool_cap")


REFUSED = [
    ("chat", "teleport", {}, "pydantic-ai has no tool 'teleport' of openai"),
    ("chat", "file_search", {"vector_store_ids": ["vs_1"]}, "has no 'vector_store_ids' for file_search"),
    ("chat", "web_search", {}, "WebSearchTool"),
    ("responses", "web_search", {"max_uses": 2}, "WebSearchTool.max_uses"),
    ("google", "teleport", {}, "teleport: Extra inputs are not permitted"),
    ("google", "google_maps", {"wide": True}, "google_maps.wide: Extra inputs are not permitted"),
    ("google", "retrieval", STORE, "retrieval parameter is only supported in"),
    ("google", "google_search", HIDES, "exclude_domains parameter is only supported in"),
    ("old_google", "google_maps", {}, "it does not support tools of its provider together with other tools"),
    (
        "old_google",
        "google_search",
        {},
        "it does not support tools of its provider together with other tools",
    ),
]


def registered(model: Model, *tools: NativeTool, with_tool: bool = True) -> Runtime:
    """Return a runtime with an agent that has these tools of a provider, and one of its own."""

    async def read() -> str:
        """Read."""
        return ""

    made = Runtime()
    toolset = replace(function_toolset("a.b", [read] if with_tool else []), native=tools)
    spec = AgentSpec(
        id="a.agent",
        description="Reads.",
        tools=(AgentTool(id="a.b.read", name="read"),) if with_tool else (),
    )
    registration = AgentRegistration(spec=spec, planner=LLMPlanner(model), toolsets=(toolset,))
    agents_of(made).register(registration)
    return made


@pytest.mark.parametrize(("model", "kind", "config", "why"), REFUSED, indirect=["model"])
async def test_what_cannot_be_passed_on_is_refused_when_the_agent_is_registered(
    model: Model, provider: Provider, kind: str, config: dict[str, Json], why: str
) -> None:
    with pytest.raises(RegistrationError, match=f"does not support a.b.{kind}: .*{why}") as raised:
        registered(model, native(model.system, kind, config))
    assert raised.value.hint.startswith("remove the NativeTool")
    assert provider.sent == []


async def test_what_can_be_passed_on_is_registered(
    chat: Model, responses: Model, anthropic: Model, google: Model, old_google: Model
) -> None:
    search = native("openai", "file_search", {"vector_store_ids": ["vs_1"]})
    bash, maps = native("anthropic", "bash_20250124"), native("google", "google_maps")
    for model, tool in ((responses, search), (anthropic, bash), (google, maps)):
        assert agents_of(registered(model, tool)).list() == ("a.agent",)
    registered(chat, bash, maps)  # tools of other providers are left out
    registered(old_google, maps, with_tool=False)


async def test_a_toolset_of_the_host_that_brings_one_is_refused_when_it_is_planned(chat: Model) -> None:
    with pytest.raises(NonRetryableError, match="has no tool 'teleport'"):
        await LLMPlanner(chat).plan_start(given(native=(native("openai", "teleport"),)))
