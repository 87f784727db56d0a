"""Tools on the wire are toolgen's own declarations, and what models send of them is read back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.conformance.adapters.plan_inputs import TOOLS, given
from tests.conformance.adapters.provider import Provider
from tests.conformance.adapters.wire import Called, Said
from toolgen.agents import CallTools, FinalResult, LLMPlanner
from toolgen.catalog.providers import declarations
from toolgen.runtime import ToolSpec

DIALECTS = {
    "openai_model": "openai-strict",
    "responses_model": "openai-responses-strict",
    "anthropic_model": "anthropic-strict",
    "gemini_model": "gemini-json",
}
LABELS = {
    "type": "object",
    "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}},
    "required": ["labels"],
    "additionalProperties": False,
}


@pytest.fixture
def named_model(request: pytest.FixtureRequest, wire: str) -> Model:
    """The model of the fixture that the test names."""
    found: Model = request.getfixturevalue(wire)
    return found


async def told(model: Model, provider: Provider, **options: Any) -> list[dict[str, Any]]:
    """Return the declarations of a request."""
    provider.answers(Said(text="Ok."))
    await LLMPlanner(model, **options).plan_start(given())
    tools: list[dict[str, Any]] = provider.sent[-1]["tools"]
    found = [one for tool in tools for one in tool.get("functionDeclarations", [tool])]
    # Google's SDK writes this key as its Python has it; the API takes both spellings.
    return [
        {"parametersJsonSchema" if key == "parameters_json_schema" else key: one[key] for key in one}
        for one in found
    ]


def expected(dialect: str) -> list[dict[str, Any]]:
    fragment = declarations(TOOLS, dialect).fragment
    return [one for tool in fragment for one in tool.get("functionDeclarations", [tool])]


@pytest.mark.parametrize("wire", DIALECTS)
async def test_the_wire_has_the_declarations(wire: str, named_model: Model, provider: Provider) -> None:
    assert await told(named_model, provider) == expected(DIALECTS[wire])
    plain = DIALECTS[wire].removesuffix("-strict")
    assert await told(named_model, provider, strict=False) == expected(plain)
    if wire != "gemini_model":
        assert [str(tool).count("'strict': False") for tool in expected(plain)] == [1, 1]


async def test_a_provider_of_the_same_wire_is_told_by_pydantic_ai(openai: Any, provider: Provider) -> None:
    class Other(OpenAIProvider):
        @property
        def name(self) -> str:
            return "other"

    model = OpenAIChatModel("some-model", provider=Other(openai_client=openai))
    tools = await told(model, provider)
    assert tools[0]["function"]["parameters"]["required"] == ["site_id"]


async def test_a_router_of_one_wire_has_its_dialect_and_of_two_the_plain_one(
    openai_model: Model, anthropic_model: Model, provider: Provider
) -> None:
    router = FallbackModel(openai_model, openai_model)
    assert await told(router, provider) == expected("openai-strict")
    mixed = await told(FallbackModel(openai_model, anthropic_model), provider)
    assert [tool["function"]["strict"] for tool in mixed] == [False, False]


@pytest.mark.parametrize(
    ("wire", "sent"),
    [
        ("openai_model", '{"site_id":"s1","status":null,"kind":"light","limit":null,"cursor":null}'),
        ("responses_model", '{"site_id":"s1","status":null,"kind":"light","limit":null,"cursor":null}'),
        ("anthropic_model", '{"site_id":"s1","kind":"LIGHT"}'),
        ("gemini_model", '{"site_id":"s1","kind":"light"}'),
    ],
)
async def test_arguments_are_read_back(wire: str, sent: str, named_model: Model, provider: Provider) -> None:
    provider.answers(Said(calls=(Called("list_devices", sent),)))
    plan = await LLMPlanner(named_model).plan_start(given())
    assert isinstance(plan, CallTools)
    assert json.loads(plan.calls[0].arguments) == {"site_id": "s1", "kind": "light"}


@pytest.mark.parametrize("arguments", ["{broken", "[]", '{"unknown": 1}'])
async def test_arguments_that_fit_nothing_stay_for_the_validator(
    arguments: str, openai_model: Model, provider: Provider
) -> None:
    provider.answers(Said(calls=(Called("list_devices", arguments),)))
    plan = await LLMPlanner(openai_model).plan_start(given())
    assert isinstance(plan, CallTools)
    assert plan.calls[0].arguments == arguments


async def test_a_name_that_the_provider_refuses_leads_back(openai_model: Model, provider: Provider) -> None:
    spec: ToolSpec[Any, Any] = replace(TOOLS[0], name="list.devices")
    provider.answers(Said(calls=(Called("list__devices", '{"site_id":"s1"}'),)))
    plan = await LLMPlanner(openai_model).plan_start(given(tools=(spec,)))
    assert isinstance(plan, CallTools)
    assert plan.calls[0].name == "list.devices"


async def test_the_final_result_is_read_back(openai_model: Model, provider: Provider) -> None:
    sent = '{"labels":[{"key":"a","value":"b"}]}'
    provider.answers(Said(calls=(Called("final_result", sent),)))
    plan = await LLMPlanner(openai_model).plan_start(given(tools=(), result_schema=LABELS))
    assert isinstance(plan, FinalResult)
    assert plan.result == {"labels": {"a": "b"}}
    (tool,) = provider.sent[-1]["tools"]
    assert tool["function"]["strict"] is True
