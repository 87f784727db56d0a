"""LLMPlanner with models that need no wire: pydantic-ai's own for tests, routers, and names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from pydantic_ai.exceptions import ModelAPIError, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

from tests.conformance.adapters.plan_inputs import FOUND, TOOLS, Reports, answer, called, given
from toolgen.agents import (
    CallTools,
    FinalResponse,
    FinalResult,
    LLMPlanner,
)
from toolgen.agents.llm.failures import ProviderError
from toolgen.engines import NonRetryableError
from toolgen.runtime import ArtifactRef
from toolgen.runtime.functions import Deprecation

SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


async def test_a_test_model_calls_every_tool_and_then_ends() -> None:
    planner = LLMPlanner(TestModel())
    first = await planner.plan_start(given())
    assert isinstance(first, CallTools)
    assert [call.name for call in first.calls] == ["list_devices", "get_time_series"]
    answers = [answer(call.name, call.id) for call in first.calls]
    last = await planner.plan_resume(given(*called(*answers, native=first.native)))
    assert isinstance(last, FinalResponse)
    assert "list_devices" in last.text


async def test_a_test_model_by_name_gives_a_typed_result() -> None:
    result = await LLMPlanner("test").plan_start(given(tools=(), result_schema=SCHEMA))
    assert isinstance(result, FinalResult)
    assert result.result == {"count": 0}


async def test_a_model_reads_that_a_tool_is_deprecated() -> None:
    def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(info.function_tools[0].description or "")])

    old = replace(TOOLS[0], deprecated=Deprecation(reason="Old.", replacement=TOOLS[1].id))
    plan = await LLMPlanner(FunctionModel(speak)).plan_start(given(tools=(old, TOOLS[1])))
    assert isinstance(plan, FinalResponse)
    assert plan.text == f"{old.description} Deprecated: use {TOOLS[1].name}."


async def test_a_model_reads_bounds_of_dates_in_the_description_alone() -> None:
    """Strict modes refuse keywords that they do not know; a property may have the name of one."""
    day = {"type": "string", "format": "date", "x-minimum": "2026-01-31", "description": "Must be at least."}
    schema = {
        "type": "object",
        "properties": {
            "x-minimum": day,
            "days": {"type": "array", "items": day, "default": [{"x-maximum": 1}]},
        },
        "required": ["x-minimum"],
    }
    asked: list[AgentInfo] = []

    async def stream(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[dict[int, DeltaToolCall]]:
        asked.append(info)
        [final] = info.output_tools
        yield {0: DeltaToolCall(name=final.name, json_args='{"x-minimum":"2026-02-01"}', tool_call_id="call")}

    model = FunctionModel(stream_function=stream)
    assert isinstance(await LLMPlanner(model).plan_start(given(tools=(), result_schema=schema)), FinalResult)
    [final] = asked[0].output_tools
    plain = {"type": "string", "format": "date", "description": "Must be at least."}
    days = {"type": "array", "items": plain, "default": [{"x-maximum": 1}]}
    assert final.parameters_json_schema["properties"] == {"x-minimum": plain, "days": days}


async def test_a_function_model_that_streams() -> None:
    async def stream(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[dict[int, DeltaThinkingPart] | dict[int, DeltaToolCall]]:
        yield {0: DeltaThinkingPart(content="Hm.")}
        yield {1: DeltaToolCall(name="list_devices", json_args='{"site', tool_call_id="call_z")}
        yield {1: DeltaToolCall(json_args='_id":"s1"}')}

    asked = given()
    result = await LLMPlanner(FunctionModel(stream_function=stream)).plan_start(asked)
    assert isinstance(result, CallTools)
    assert isinstance(asked.reports, Reports)
    assert asked.reports.thoughts == ["Hm."]
    assert asked.reports.deltas == [
        ("call_z", "list_devices", '{"site'),
        ("call_z", "list_devices", '_id":"s1"}'),
    ]
    assert len(asked.reports.spent) == 1


async def test_no_model_reads_the_artifacts_of_a_result() -> None:
    """Not even where a planner is given them."""
    asked: list[str] = []

    def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(f"{messages} {info}")
        return ModelResponse(parts=[TextPart(content="Done.")])

    ref = ArtifactRef(kind="series", uri="artifact:run/s/r/hidden?version=1", json='{"hidden":1}')
    messages = called(answer(artifacts=(ref,)))
    await LLMPlanner(FunctionModel(speak)).plan_resume(given(*messages))
    assert FOUND in asked[0]
    assert "hidden" not in asked[0]


async def test_an_answer_in_pieces_is_one_answer() -> None:
    pieces = [
        ModelResponse(
            parts=[ThinkingPart(content="Searching.")], state="suspended", provider_response_id="1"
        ),
        ModelResponse(parts=[TextPart(content="Let me see.")], state="suspended", provider_response_id="2"),
        ModelResponse(parts=[ToolCallPart("list_devices", {"site_id": "s1"}, "call_z")]),
    ]
    lengths: list[int] = []

    def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        lengths.append(len(messages))
        return pieces[len(lengths) - 1]

    asked = given()
    result = await LLMPlanner(FunctionModel(speak)).plan_start(asked)
    assert isinstance(result, CallTools)
    assert result.text == "Let me see."
    assert result.calls[0].arguments == '{"site_id":"s1"}'
    assert lengths == [1, 2, 2]
    assert isinstance(asked.reports, Reports)
    assert [id_ for id_, _, _ in asked.reports.deltas] == [result.calls[0].id] == ["call_z"]
    assert len(asked.reports.spent) == 3


async def test_an_answer_that_never_ends() -> None:
    def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(content=".")], state="suspended")

    with pytest.raises(ProviderError, match="did not finish"):
        await LLMPlanner(FunctionModel(speak)).plan_start(given())


async def test_a_router_of_models() -> None:
    def broken(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ModelAPIError("first", "unreachable")

    def works(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(content="Here.")], usage=RequestUsage(input_tokens=5))

    planner = LLMPlanner(FallbackModel(FunctionModel(broken), FunctionModel(works)), stream=False)
    result = await planner.plan_resume(given(*called(answer(content=({"type": "text", "text": "x"},)))))
    assert isinstance(result, FinalResponse)
    assert result.text == "Here."
    nobody = LLMPlanner(FallbackModel(FunctionModel(broken), FunctionModel(broken)), stream=False)
    with pytest.raises(ProviderError, match="unreachable"):
        await nobody.plan_start(given())


async def test_what_pydantic_ai_refuses_ends_the_run() -> None:
    def refuses(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise UserError("This model takes no tools.")

    with pytest.raises(NonRetryableError, match="takes no tools"):
        await LLMPlanner(FunctionModel(refuses)).plan_start(given())


async def test_a_bug_stays_what_it_is() -> None:
    def fails(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await LLMPlanner(FunctionModel(fails)).plan_start(given())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("LLMPlanner('test')", "pip install 'toolgen[llm]'"),
        ("print('imported')", "imported"),
    ],
)
def test_without_the_extra(code: str, expected: str) -> None:
    script = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "from toolgen.contract.errors import ToolgenError\n"
        "from toolgen.agents import LLMPlanner\n"
        f"try: {code}\n"
        "except ToolgenError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert expected in run.stdout
