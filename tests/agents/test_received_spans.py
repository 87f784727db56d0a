"""What a receiver of OTLP gets of runs, held against the table of the conventions."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings, InstrumentedModel
from pydantic_ai.usage import RequestUsage

from tests.conventions import violations
from tests.otlp import ReceivedSpan, Receiver
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    FinalResponse,
    LLMPlanner,
    PlanInput,
    Planner,
    PlannerRetry,
    PlannerUnavailableError,
    PlanResult,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import function_toolset
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import Runtime

DOUBLER = "maths.doubler"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Call the tool, and answer with what it has returned."""
    used = RequestUsage(input_tokens=20, output_tokens=5, cache_read_tokens=8)
    if len(messages) > 1:
        return ModelResponse(parts=[TextPart("4")], usage=used, finish_reason="stop")
    call = ToolCallPart("double", {"number": 2}, "c1")
    return ModelResponse(parts=[call], usage=used, finish_reason="tool_call")


def registration(planner: Planner) -> AgentRegistration:
    tool = AgentTool(id="maths.doubling.double", name="double")
    spec = AgentSpec(id=DOUBLER, description="Doubles.", tools=(tool,))
    return AgentRegistration(
        spec=spec, planner=planner, toolsets=(function_toolset("maths.doubling", [double]),)
    )


async def spans_of_run(
    receiver: Receiver, planner: Planner, *, makes_chats: bool = True
) -> tuple[ReceivedSpan, ...]:
    """Return what the receiver has of a run of one agent."""
    async with Runtime(spans=ToolSpans(receiver.provider(), makes_chats=makes_chats)) as runtime:
        agents_of(runtime).register(registration(planner))
        await agents_of(runtime).client(DOUBLER).run("Double 2.", session_id="s")
    return receiver.spans()


async def test_the_spans_of_a_run_are_as_the_conventions_have_them(receiver: Receiver) -> None:
    planner = LLMPlanner(FunctionModel(speak, model_name="doubling-1"), settings={"temperature": 0.5})
    spans = await spans_of_run(receiver, planner)
    assert [span.name for span in spans] == [
        "chat doubling-1",
        "plan doubler",
        "execute_tool double",
        "chat doubling-1",
        "plan doubler",
        "invoke_agent doubler",
    ]
    assert [wrong for span in spans for wrong in violations(span)] == []
    assert {span.scope for span in spans} == {("toolgen.runtime", version("toolgen"))}
    assert {span.trace for span in spans} == {spans[-1].trace}
    first, last, whole = spans[1], spans[4], spans[5]
    assert [span.parent for span in spans] == [first.id, whole.id, whole.id, last.id, whole.id, ""]
    assert {header["path"] for header in receiver.headers} == {"/v1/traces"}
    own = ("gen_ai.agent.id", "gen_ai.conversation.id", "toolgen.run_id")
    (same,) = {tuple(span.attributes.get(name) for name in own) for span in (first, spans[2], last, whole)}
    assert same[:2] == (DOUBLER, "s")
    assert same[2]
    assert (whole.attributes["toolgen.status"], whole.is_error) == ("completed", False)


async def test_an_attempt_that_failed_is_a_span_that_failed(receiver: Receiver) -> None:
    tried: list[int] = []

    def busy(given: PlanInput) -> FinalResponse:
        tried.append(given.step)
        if len(tried) == 1:
            raise PlannerUnavailableError("HTTP 429")
        return FinalResponse(text="Now.")

    async with Runtime(spans=ToolSpans(receiver.provider())) as runtime:
        Agents(runtime, planner_retry=PlannerRetry(initial_s=0.001))
        agents_of(runtime).register(registration(ScriptedPlanner([busy])))
        await agents_of(runtime).client(DOUBLER).run("Now?", session_id="s")
    plans = [span for span in receiver.spans() if span.name == "plan doubler"]
    assert [(span.attributes["toolgen.attempt"], span.is_error) for span in plans] == [(1, True), (2, False)]


async def test_a_chat_has_its_model_its_provider_and_its_tokens(receiver: Receiver) -> None:
    planner = LLMPlanner(FunctionModel(speak, model_name="doubling-1"), settings={"temperature": 0.5})
    first, _ = [span for span in await spans_of_run(receiver, planner) if span.operation == "chat"]
    assert first.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "function",
        "gen_ai.request.model": "doubling-1",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.agent.id": DOUBLER,
        "gen_ai.agent.name": "doubler",
        "gen_ai.conversation.id": "s",
        "gen_ai.response.model": "doubling-1",
        "gen_ai.response.finish_reasons": ["tool_call"],
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 8,
    }


async def test_a_request_that_fails_is_a_chat_that_failed(receiver: Receiver) -> None:
    def refuse(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ValueError("the secret")

    spans = await spans_of_run(receiver, LLMPlanner(FunctionModel(refuse, model_name="no")))
    assert [wrong for span in spans for wrong in violations(span)] == []
    assert {span.name for span in spans if span.is_error} >= {
        "chat no",
        "plan doubler",
        "invoke_agent doubler",
    }
    assert b"the secret" not in b"".join(receiver.bodies)


class Asking:
    """A planner of an author's own, which asks a model by itself."""

    async def plan_start(self, given: PlanInput) -> PlanResult:
        with given.chats.of("small-2", provider="openai") as chat:
            chat.respond(model="small-2-2026", input_tokens=3, output_tokens=1, finish_reasons=["stop"])
        return FinalResponse(text="4")

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        raise AssertionError(given)


async def test_a_planner_of_an_authors_own_makes_chats_by_its_input(receiver: Receiver) -> None:
    chat, plan, _ = spans = await spans_of_run(receiver, Asking())
    assert (chat.name, chat.parent) == ("chat small-2", plan.id)
    assert chat.attributes["gen_ai.usage.input_tokens"] == 3
    assert [wrong for span in spans for wrong in violations(span)] == []


async def test_another_instrumentation_makes_the_chats_where_it_is_asked_to(receiver: Receiver) -> None:
    spans = await spans_of_run(receiver, Asking(), makes_chats=False)
    assert [span.name for span in spans] == ["plan doubler", "invoke_agent doubler"]


async def test_a_model_that_makes_its_own_spans_has_one_chat_a_request(receiver: Receiver) -> None:
    provider = receiver.provider()
    model = FunctionModel(speak, model_name="doubling-1")
    settings = InstrumentationSettings(tracer_provider=provider)
    spans = await spans_of_run(receiver, LLMPlanner(InstrumentedModel(model, settings)))
    chats = [span for span in spans if span.operation == "chat"]
    assert [span.scope[0] for span in chats] == ["pydantic-ai", "pydantic-ai"]
