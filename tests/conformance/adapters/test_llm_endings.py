"""How an answer ends, on four wires: no call of one that did not end as it should is ever executed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.instrumented import InstrumentedModel
from pydantic_ai.models.wrapper import WrapperModel

from tests.conformance.adapters.plan_inputs import answer, called, given
from tests.conformance.adapters.provider import ANTHROPIC, RESPONSES, Answer, Cut, LeftOpen, Provider, Raw
from tests.conformance.adapters.wire import Called, Place, Said, sse, stream_until
from tests.selection import diagonal, first
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    FinalResponse,
    History,
    LLMPlanner,
    PlannerError,
    PlannerRetry,
    RunOutput,
    agents_of,
)
from toolgen.agents.llm.failures import ProviderError
from toolgen.agents.llm.finish_reasons import finish_reason_of
from toolgen.calls.functions.tools import function_toolset
from toolgen.runtime import Runtime

TEXT = "I remove the files under /tmp/x now, and tell you when they are gone."
ONE = Said(text=TEXT, calls=(Called("wipe", '{"path": "/tmp/x"}', "call_1"),))
TWO = Said(text=TEXT, calls=(*ONE.calls, Called("wipe", '{"path": "/tmp/y"}', "call_2")))
BARE = Said(calls=(Called("wipe", "", "call_1"),))
"""A call whose arguments are empty: every parameter has its default."""

PLACES: tuple[Place, ...] = get_args(Place)[:-1]
"""All but `before the last event`."""


class House:
    """A house whose agent can wipe its disk."""

    def __init__(self, model: Model, provider: Provider, stream: bool, **settings: Any) -> None:
        self.provider = provider
        self.wiped: list[str] = []
        self.restarts: list[str] = []
        """What the events say of plannings that began again."""

        async def wipe(path: str = "/") -> str:
            """Remove all files under a path."""
            self.wiped.append(path)
            return "gone"

        self.planner = LLMPlanner(model, stream=stream, settings=settings)  # type: ignore[arg-type]  # they fit
        self._tools = function_toolset("x.disk", [wipe])

    async def run(self, *answers: Answer) -> RunOutput:
        """Return a run whose model gives these answers, and none beyond them."""
        self.provider.answers(*answers)
        spec = AgentSpec(
            id="x.keeper", description="Keeps house.", tools=(AgentTool(id="x.disk.wipe", name="wipe"),)
        )
        registration = AgentRegistration(spec=spec, planner=self.planner, toolsets=(self._tools,))
        async with Runtime() as runtime:
            Agents(runtime, planner_retry=PlannerRetry(initial_s=0.001)).register(registration)
            handle = await agents_of(runtime).client("x.keeper").start("Tidy up.", session_id="s")
            async for event in handle.events():  # what is told on the way is in no log
                if event.type == "plan_retry":
                    self.restarts.append(event.reason)
            output = await handle.result()
        assert self.provider.is_done, "it asked for fewer answers"
        return output


@pytest.fixture(params=["streamed", "whole"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "streamed")


@pytest.fixture
def house(any_model: Model, provider: Provider, stream: bool) -> House:
    return House(any_model, provider, stream, max_tokens=1_000)  # as few as come without a stream


async def test_answers_come_as_the_matrix_says(house: House, stream: bool) -> None:
    await house.run(Said(text="Ok."))
    assert house.provider.streamed == [stream]


# Answers that end as they should.


@pytest.mark.parametrize(
    "said", first([ONE, TWO, BARE]), ids=["one call", "two calls", "a call without arguments"]
)
async def test_calls_of_an_answer_that_ended_are_executed(house: House, said: Said) -> None:
    output = await house.run(said, Said(text="Gone."))
    assert (output.status, output.text, output.is_truncated) == ("completed", "Gone.", False)
    assert house.wiped == [json.loads(call.arguments or '{"path": "/"}')["path"] for call in said.calls]
    assert house.restarts == []


# Answers that break off.


@pytest.mark.parametrize(("place", "is_clean"), diagonal(PLACES, [True, False]))
async def test_an_answer_that_breaks_off_is_asked_for_again(
    house: House, place: Place, is_clean: bool
) -> None:
    cut = Cut(said=TWO, at=place, is_clean=is_clean)
    output = await house.run(cut, Said(text="All is as it was."))
    assert (output.status, output.text) == ("completed", "All is as it was.")
    assert house.wiped == []
    assert len(house.restarts) == 1
    assert json.dumps(house.provider.sent[0]) == json.dumps(house.provider.sent[1]), "the same request"


@pytest.mark.parametrize("place", first(PLACES))
async def test_an_answer_that_always_breaks_off_is_a_failed_planning(house: House, place: Place) -> None:
    output = await house.run(*[Cut(said=TWO, at=place)] * 3)
    assert (output.status, output.text) == ("failed", "")
    assert output.error.startswith("the planner failed: ")
    assert "was cut off" in output.error
    assert house.wiped == []


async def test_a_call_without_arguments_is_not_one_that_broke_off(house: House) -> None:
    output = await house.run(*[Cut(said=BARE, at="before the end")] * 3)
    assert (output.status, house.wiped) == ("failed", [])


async def test_the_header_of_a_call_is_not_a_call(any_model: Model, provider: Provider) -> None:
    house = House(any_model, provider, stream=True)
    output = await house.run(*[Cut(said=BARE, at="before arguments")] * 3)
    assert (output.status, house.wiped) == ("failed", [])


@pytest.fixture(params=["responses", "anthropic"])
def closing_model(request: pytest.FixtureRequest) -> Model:
    """The models of the wires that close each call."""
    found: Model = request.getfixturevalue(f"{request.param}_model")
    return found


@pytest.mark.parametrize("said", [ONE, BARE], ids=["with arguments", "without arguments"])
async def test_a_call_that_is_never_closed_is_not_executed(
    closing_model: Model, provider: Provider, said: Said
) -> None:
    house = House(closing_model, provider, stream=True)
    output = await house.run(*[LeftOpen(said)] * 3)
    assert (output.status, house.wiped) == ("failed", [])


@pytest.mark.parametrize(
    "answer",
    [LeftOpen(ONE), LeftOpen(BARE), Cut(said=ONE, at="before the last event"), Said(calls=BARE.calls)],
)
async def test_a_whole_answer_that_is_streamed_out_of_sight_is_watched_too(
    anthropic_model: Model, provider: Provider, answer: Answer
) -> None:
    """Anthropic's SDK streams what may be long; with `stream=False` nobody is told of the pieces."""
    is_good = isinstance(answer, Said)
    house = House(anthropic_model, provider, stream=False)
    output = await house.run(*([answer, Said(text="Gone.")] if is_good else [answer] * 3))
    assert set(provider.streamed) == {True}
    assert (output.status, house.wiped) == (("completed", ["/"]) if is_good else ("failed", []))


async def test_a_message_without_its_last_event_broke_off(anthropic_model: Model, provider: Provider) -> None:
    house = House(anthropic_model, provider, stream=True)
    output = await house.run(*[Cut(said=ONE, at="before the last event")] * 3)
    assert (output.status, house.wiped) == ("failed", [])


async def test_the_end_of_the_stream_says_nothing_more_than_the_reason(
    openai_model: Model, provider: Provider
) -> None:
    """`[DONE]` ends the stream, not the answer, and some servers of this format leave it out."""
    house = House(openai_model, provider, stream=True)
    output = await house.run(Cut(said=ONE, at="before the last event"), Said(text="Gone."))
    assert (output.status, house.wiped) == ("completed", ["/tmp/x"])


# Answers that were stopped.


async def test_a_text_that_is_too_long_is_kept_and_marked(house: House) -> None:
    output = await house.run(Said(text=TEXT, ended="length"))
    assert (output.status, output.text, output.stop) == ("completed", TEXT, "final")
    assert output.is_truncated


@pytest.mark.parametrize("said", first([ONE, TWO, BARE]), ids=["one call", "two calls", "without arguments"])
async def test_calls_of_an_answer_that_was_too_long_are_asked_for_once_more(house: House, said: Said) -> None:
    stopped = Said(text=said.text, calls=said.calls, ended="length")
    output = await house.run(stopped, Said(text="I will be brief."))
    assert (output.status, output.text, output.is_truncated) == ("completed", "I will be brief.", False)
    assert "token limit" in json.dumps(house.provider.sent[1])
    assert len(house.restarts) == 1
    output = await house.run(stopped, stopped)
    assert output.status == "failed"
    assert "token limit" in output.error
    assert house.wiped == []


@pytest.mark.parametrize("said", first([ONE, BARE, Said(text=TEXT)]), ids=["calls", "bare", "text"])
async def test_what_a_content_filter_stopped_is_not_taken(house: House, said: Said) -> None:
    stopped = Said(text=said.text, calls=said.calls, ended="filter")
    output = await house.run(stopped, Said(text="Something else."))
    assert (output.status, output.text) == ("completed", "Something else.")
    assert len(house.restarts) == 1
    output = await house.run(stopped, stopped)
    assert output.status == "failed"
    assert "content filter" in output.error
    assert house.wiped == []


async def test_an_empty_answer_is_asked_for_once_more(house: House) -> None:
    output = await house.run(Said(), Said(text="Here."))
    assert (output.status, output.text) == ("completed", "Here.")
    assert "Your last answer was empty" in json.dumps(house.provider.sent[1])


# Models of other kinds.


async def test_an_error_within_a_stream_is_the_error_that_it_is(
    anthropic_model: Model, provider: Provider
) -> None:
    begun = stream_until(ANTHROPIC.streamed(ONE, {"model": "m"}), "in arguments")
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "too many"}}
    provider.answers(Raw("".join([*begun, sse(error)]), "text/event-stream"))
    with pytest.raises(ProviderError, match=r"HTTP 529.*too many") as caught:
        await LLMPlanner(anthropic_model).plan_start(given())
    assert caught.value.most_attempts is None, "the provider is busy, and the answer did not just break off"


async def test_a_body_that_is_none_of_a_provider_is_no_answer(
    any_model: Model, provider: Provider, stream: bool
) -> None:
    provider.answers(Raw("<html>Bad gateway</html>", "text/html"))
    with pytest.raises(ProviderError, match="was cut off") as caught:
        await LLMPlanner(any_model, stream=stream).plan_start(given())
    assert caught.value.most_attempts == 3


async def test_a_model_within_another_is_watched_too(anthropic_model: Model, provider: Provider) -> None:
    for wrapper in (WrapperModel(anthropic_model), InstrumentedModel(anthropic_model)):
        provider.answers(LeftOpen(ONE))
        with pytest.raises(ProviderError, match="was cut off"):
            await LLMPlanner(wrapper).plan_start(given())


@pytest.mark.parametrize("answer", [LeftOpen(ONE), LeftOpen(BARE), Cut(said=ONE, at="before the last event")])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_model_behind_a_router_is_watched_too(
    anthropic_model: Model, provider: Provider, answer: Answer, stream: bool
) -> None:
    """A router reads the first event of a stream before it hands the stream on."""
    for router in (
        FallbackModel(anthropic_model, anthropic_model),
        WrapperModel(FallbackModel(InstrumentedModel(anthropic_model))),
        FallbackModel(FallbackModel(anthropic_model)),
    ):
        provider.answers(answer)
        with pytest.raises(ProviderError, match="was cut off"):
            await LLMPlanner(router, stream=stream).plan_start(given())


async def test_a_call_that_is_closed_unfinished_is_not_executed(
    responses_model: Model, provider: Provider
) -> None:
    """As servers say it that mark the item, and not the response around it."""
    texts = [frame.text for frame in RESPONSES.streamed(BARE, {"model": "m"})]
    unfinished = "".join(
        text.replace('"completed"', '"incomplete"') if "output_item.done" in text else text for text in texts
    )
    provider.answers(*[Raw(unfinished, "text/event-stream")] * 2)
    with pytest.raises(ProviderError, match="ended the answer with the finish reason"):
        await LLMPlanner(responses_model).plan_start(given())


def chat_chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**frame, "choices": [choice]}


def gemini_chunk(call: dict[str, Any] | None, reason: str | None = None) -> dict[str, Any]:
    parts = [{"functionCall": {"name": "wipe", **call}}] if call is not None else []
    ended = {"finishReason": reason} if reason else {}
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **ended}]}


BEGUN = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "wipe", "arguments": ""}}
CHAT_STOPPED = [
    chat_chunk({"tool_calls": [BEGUN]}),
    chat_chunk({}, "length"),
    chat_chunk({}, "stop"),
]
GEMINI_STOPPED = [gemini_chunk({"args": {}}, "MAX_TOKENS"), gemini_chunk(None, "STOP")]
PIECE = {"jsonPath": "$.path", "stringValue": "/tm", "willContinue": True}
GEMINI_PIECES = [gemini_chunk({"partialArgs": [PIECE], "willContinue": True}), gemini_chunk(None, "STOP")]


@pytest.mark.parametrize("chunks", [GEMINI_STOPPED, GEMINI_PIECES], ids=["stopped", "a call in pieces"])
async def test_gemini_finishes_no_call_by_a_later_word(
    gemini_model: Model, provider: Provider, chunks: list[dict[str, Any]]
) -> None:
    provider.answers(*[Raw("".join(map(sse, chunks)), "text/event-stream")] * 2)
    with pytest.raises(ProviderError, match=r"was cut off|ended the answer with the finish reason"):
        await LLMPlanner(gemini_model).plan_start(given())


async def test_a_proxy_finishes_no_call_by_a_later_word(openai_model: Model, provider: Provider) -> None:
    provider.answers(*[Raw("".join(map(sse, CHAT_STOPPED)), "text/event-stream")] * 2)
    with pytest.raises(ProviderError, match="ended the answer with the finish reason"):
        await LLMPlanner(openai_model).plan_start(given())


async def test_a_server_that_never_says_why_it_ends_is_believed_on_request(
    openai_model: Model, provider: Provider, stream: bool
) -> None:
    provider.answers(*[Cut(said=ONE, at="before the end")] * 2)
    with pytest.raises(ProviderError, match="never marked its end"):
        await LLMPlanner(openai_model, stream=stream).plan_start(given())
    trusting = LLMPlanner(openai_model, stream=stream, require_finish_reason=False)
    assert isinstance(await trusting.plan_start(given()), CallTools)


@pytest.mark.parametrize(
    ("response", "ended"),
    [
        (ModelResponse(parts=[]), "complete"),
        (ModelResponse(parts=[], finish_reason="length"), "length"),
        (ModelResponse(parts=[], finish_reason="error"), "malformed"),
        (ModelResponse(parts=[], state="incomplete"), "broken"),
        (ModelResponse(parts=[], state="interrupted", finish_reason="stop"), "broken"),
        (ModelResponse(parts=[], provider_url="https://x"), "broken"),
        (ModelResponse(parts=[], provider_url="https://x", finish_reason="stop"), "complete"),
        (
            ModelResponse(parts=[], provider_url="https://x", provider_details={"finish_reason": "odd"}),
            "malformed",
        ),
    ],
)
def test_an_answer_ends_as_its_model_says(response: ModelResponse, ended: str) -> None:
    assert finish_reason_of(response) == ended


def test_a_reason_that_may_be_made_up_has_to_be_the_providers_own() -> None:
    """Of xAI, pydantic-ai has the reason and not the word; of chat completions it may have made it up."""
    response = ModelResponse(parts=[], provider_url="https://x", finish_reason="stop")
    assert finish_reason_of(response) == "complete"
    assert finish_reason_of(response, needs_word=True) == "broken"
    assert (
        finish_reason_of(replace(response, provider_details={"finish_reason": "stop"}), needs_word=True)
        == "complete"
    )
    assert finish_reason_of(response, needs_word=True, needs_reason=False) == "complete"


async def test_a_router_is_as_careful_as_its_models(openai_model: Model, provider: Provider) -> None:
    provider.answers(*[Cut(said=ONE, at="before the end")] * 2)
    for model in (FallbackModel(openai_model, openai_model), FallbackModel(WrapperModel(openai_model))):
        with pytest.raises(ProviderError, match="was cut off"):
            await LLMPlanner(model, stream=False).plan_start(given())


async def test_half_a_summary_is_none(any_model: Model, provider: Provider) -> None:
    provider.answers(Said(text=TEXT, ended="length"))
    with pytest.raises(ProviderError, match="no summary"):
        await LLMPlanner(any_model).summarize((), given(), History(keep_turns=1))


async def test_a_typed_result_that_is_too_long_is_asked_for_once_more(house: House) -> None:
    given_ = given(result_schema={"type": "object", "properties": {"count": {"type": "integer"}}})
    stopped = Said(calls=(Called("final_result", '{"count": 3}'),), ended="length")
    words = Said(text='{"count": 3}', ended="length")
    house.provider.answers(stopped, words)
    with pytest.raises(PlannerError, match="token limit"):
        await house.planner.plan_start(given_)


async def test_the_last_planning_keeps_the_words_of_an_answer_that_was_too_long(house: House) -> None:
    house.provider.answers(Said(text=TEXT, calls=ONE.calls, ended="length"))
    result = await house.planner.plan_resume(given(*called(answer(id="call_0")), closing="tool_cap"))
    assert isinstance(result, FinalResponse)
    assert replace(result, provider=None) == FinalResponse(text=TEXT, is_truncated=True)
