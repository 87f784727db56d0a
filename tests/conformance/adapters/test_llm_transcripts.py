"""Whatever a model, a person or a tool said: the conversation that is kept can be sent to every provider."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, example, given, settings
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from tests import selection
from tests.conformance.adapters.provider import Provider
from tests.conformance.adapters.wire import Called, Said
from tests.selection import volume
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    AssistantMessage,
    LLMPlanner,
    Message,
    PlanInput,
    PlannedCall,
    Planner,
    PlannerRetry,
    PlanResult,
    RunOutput,
    SessionStore,
    ToolAnswer,
    ToolMessage,
    Turn,
    UserMessage,
    agents_of,
)
from toolgen.agents.llm.blocks import blocks_content
from toolgen.agents.planner.portable import portable_arguments, portable_json
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.functions.tools import function_toolset
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime

pytestmark = pytest.mark.costly

DEEP = '{"name": ' * 400 + "1" + "}" * 400
ODD = (
    "",
    "{}",
    '{"name": NaN}',
    '{"name": [-Infinity]}',
    '{"name": 1e400}',
    '{"name": "\\ud800"}',
    '{"name": "\ud800"}',
    '{"name": "a", "name": "b"}',
    '{"name": ' + "9" * 5_000 + "}",
    '{"\\u0000": 1e-400, "n": -0.0}',
    '{"name": ',
    '["a"]',
    '"a"',
    "null",
    "nonsense",
    "\ufeff{}",
    DEEP,
)
"""Arguments that some providers send, and some do not take back."""


def tool(name: str = "", payload: Any = None) -> Any:
    """Take anything and give it back."""
    return payload if payload is not None else name


class Relay:
    """A planner that is now one model, now another."""

    def __init__(self, planner: Planner) -> None:
        self.now = planner

    async def plan_start(self, given: PlanInput) -> PlanResult:
        return await self.now.plan_start(given)

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        return await self.now.plan_resume(given)


class Talk:
    """One conversation, in which every model has a turn."""

    def __init__(self, runtime: Runtime, relay: Relay) -> None:
        self._runtime = runtime
        self._relay = relay

    async def turn(self, planner: Planner, message: str = "Go on.") -> RunOutput:
        self._relay.now = planner
        return await agents_of(self._runtime).client("x.talker").run(message, session_id="s")

    async def goes_on(self, models: Sequence[Model], provider: Provider) -> None:
        """Check that every provider takes the conversation as it is now."""
        for model in models:
            provider.answers(Said(text="Ok."))
            output = await self.turn(LLMPlanner(model))
            assert (output.status, output.text, provider.refused) == ("completed", "Ok.", [])


@asynccontextmanager
async def talk(sessions: SessionStore | None = None) -> AsyncIterator[Talk]:
    relay = Relay(LLMPlanner("test"))
    tools = function_toolset("x.tools", [tool])
    spec = AgentSpec(id="x.talker", description="Talks.", tools=(AgentTool(id="x.tools.tool", name="tool"),))
    registration = AgentRegistration(spec=spec, planner=relay, toolsets=(tools,))
    async with Runtime() as runtime:
        Agents(runtime, sessions=sessions, planner_retry=PlannerRetry(initial_s=0.001)).register(registration)
        yield Talk(runtime, relay)


def saying(*answers: Sequence[ModelResponsePart]) -> Planner:
    """Return a planner whose model gives these answers, and then is done."""
    spent = RequestUsage(input_tokens=1, output_tokens=1)  # FunctionModel cannot estimate odd arguments
    left = [ModelResponse(parts=list(parts), usage=spent) for parts in answers]

    def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return replace(left.pop(0)) if left else ModelResponse(parts=[TextPart(content="Done.")])

    return LLMPlanner(FunctionModel(speak))


TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=12) | st.sampled_from(
    ["", " ", "\n", "\ud83d"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.one_of(
    st.sampled_from(ODD),
    st.dictionaries(TEXT, JSON, max_size=3),
    st.builds(lambda value: json.dumps({"payload": value}), JSON),
    st.builds(json.dumps, JSON),
    TEXT,
)
NAMES = st.sampled_from(["tool", "tool", "nobody", "", "a b", "9", "x" * 90, "ü", "\ud800"])
IDS = st.sampled_from(["call_1", "call_2", "", "x" * 90, "a b", "\ud800"])
PARTS: st.SearchStrategy[ModelResponsePart] = st.one_of(
    st.builds(TextPart, content=TEXT),
    st.builds(ThinkingPart, content=TEXT),
    st.builds(ToolCallPart, tool_name=NAMES, args=ARGUMENTS, tool_call_id=IDS),
)


ANSWERS = st.lists(st.lists(PARTS, min_size=1, max_size=4), min_size=1, max_size=3)
SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.volume
@settings(
    max_examples=volume(40, lab=1_000),
    deadline=None,
    derandomize=not selection.IS_LAB,
    database=None,
    suppress_health_check=SLOW,
    print_blob=True,
)
@given(message=TEXT, answers=ANSWERS)
@example(message="\ud800", answers=[[ToolCallPart("tool", '{"payload": NaN}', "call_1")]])
@example(message=" ", answers=[[TextPart(" "), ToolCallPart("tool", {"payload": float("inf")}, "call_1")]])
async def test_a_conversation_that_was_kept_can_be_sent_to_every_provider(
    models: list[Model], provider: Provider, message: str, answers: list[list[ModelResponsePart]]
) -> None:
    provider.refused.clear()
    async with talk() as made:
        output = await made.turn(saying(*answers), message)
        assert "and the log has the details" not in output.error, "it is no mistake of ours"
        await made.goes_on(models, provider)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd[:24]))
async def test_arguments_that_some_providers_do_not_take(
    models: list[Model], provider: Provider, tmp_path: Path, odd: str
) -> None:
    """As a text, and as an object where that is one: some SDKs read the arguments themselves."""
    parsed: object = None
    with suppress(ValueError):
        parsed = json.loads(odd)
    parts = [ToolCallPart("tool", odd, "call_1"), ToolCallPart("tool", {}, "call_2")]
    if isinstance(parsed, dict):
        parts.append(ToolCallPart("tool", parsed, "call_3"))
    async with talk(SqliteSessionStore(tmp_path / "s.db")) as made:
        await made.turn(saying(parts))
        await made.goes_on(models, provider)


@pytest.mark.parametrize("odd", ['{"name": NaN}', '{"name": 1e400}', '{"name": "\\ud800"}'])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_odd_arguments_over_every_wire(
    any_model: Model, models: list[Model], provider: Provider, stream: bool, odd: str
) -> None:
    provider.answers(Said(calls=(Called("tool", odd),)), Said(text="Sorry."))
    async with talk() as made:
        output = await made.turn(LLMPlanner(any_model, stream=stream))
        assert (output.status, output.text) == ("completed", "Sorry.")
        told = json.dumps(provider.sent[-1])
        assert "the arguments of tool do not fit" in told, "the model is told what is wrong"
        assert "invalid_arguments" in told, "and what it wrote"
        await made.goes_on(models, provider)


def kept_by_an_older_version(odd: str, name: str) -> tuple[Message, ...]:
    """Return a turn as it was once kept: with the arguments as the model wrote them, in two places."""
    part = {"tool_name": name, "args": odd, "tool_call_id": "call_1", "part_kind": "tool-call"}
    said = {"content": "\ud800", "part_kind": "text"}
    content = (
        {"type": "text", "text": "\udc80.txt"},
        {"type": "resource_link", "uri": "file:\udc80", "name": "\udc80"},
        {"type": "image", "data": "é", "mimeType": "image/\udc80"},
        {"type": "new", "of": "\udc80"},
    )
    result = ToolAnswer(
        id="call_1", name=name, status="error", text="no \udc00", content=content, reminder="\udc00"
    )
    native = {"parts": [said, part], "kind": "response", "provider_name": "anthropic"}
    return (
        UserMessage(text="\ud83d"),
        AssistantMessage(
            text="\ud800",
            calls=(PlannedCall(name=name, arguments=odd, id="call_1"),),
            native={"writer": "pydantic-ai", "answer": native, "calls": ["call_1"]},
        ),
        ToolMessage(answers=(result,)),
        AssistantMessage(text=" "),
    )


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd[:24]))
@pytest.mark.parametrize("has_native", [True, False], ids=["native", "neutral"])
async def test_a_session_that_an_older_version_kept_goes_on(
    models: list[Model], provider: Provider, tmp_path: Path, odd: str, has_native: bool
) -> None:
    store = SqliteSessionStore(tmp_path / "s.db")
    messages = kept_by_an_older_version(odd, "no tool")
    if not has_native:
        messages = tuple(
            replace(one, native=None) if isinstance(one, AssistantMessage) else one for one in messages
        )
    await store.create("s", "x.talker")
    turn = Turn(id="t", session_id="s", run_id="r", agent="x.talker", started_at=0.0)
    await store.begin(turn)
    await store.write("r", 1, messages)
    async with talk(store) as made:
        await made.goes_on(models, provider)


async def test_words_that_no_engine_takes_do_not_end_a_session(
    models: list[Model], provider: Provider
) -> None:
    async with talk() as made:
        output = await made.turn(saying(), "Half a \ud83d smile")
        assert output.status == "completed"
        await made.goes_on(models, provider)
    assert "Half a ? smile" in json.dumps(provider.sent[-1])


def test_content_that_nobody_reads_is_a_note() -> None:
    deep: Json = "x"
    for _ in range(1_500):
        deep = {"of": deep}
    [note] = blocks_content([{"type": "new", "of": deep}], frozenset())
    assert note == "[content that cannot be written as JSON]"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("", "{}"),
        (' {"a": 1, "a": 2.50}', ' {"a": 1, "a": 2.50}'),
        ('{"a": NaN}', '{"invalid_arguments": "{\\"a\\": NaN}"}'),
        ("[1]", '{"invalid_arguments": "[1]"}'),
        ('{"ü": "\ud800', '{"invalid_arguments": "{\\"ü\\": \\"?"}'),
    ],
)
def test_arguments_are_kept_as_they_are_or_quoted(written: str, kept: str) -> None:
    assert portable_arguments(written) == kept
    assert portable_arguments(kept) == kept


def test_json_without_what_it_does_not_have() -> None:
    odd = {"\ud800": [float("nan"), (float("inf"), 1.5)], "a": {"b": "\udfff", "c": None, "d": True}}
    assert portable_json(odd) == {"?": [None, [None, 1.5]], "a": {"b": "?", "c": None, "d": True}}
    whatever = object()
    assert portable_json([whatever]) == [whatever], "for its keeper to refuse"
