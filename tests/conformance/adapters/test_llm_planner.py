"""LLMPlanner against both providers' wire formats, by their real SDKs: what comes back, and what it means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_ai.models import Model

from tests.conformance.adapters.plan_inputs import Reports, answer, called, given
from tests.conformance.adapters.provider import KEY, Dropped, Provider, Refused
from tests.conformance.adapters.wire import Called, Said
from toolgen.agents import (
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    History,
    LLMPlanner,
    PlanInput,
    UserMessage,
)
from toolgen.agents.llm.failures import ProviderError
from toolgen.engines import NonRetryableError

SITE = '{"site_id": "s1", "status": "online"}'
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}


def reports(given: PlanInput) -> Reports:
    assert isinstance(given.reports, Reports)
    return given.reports


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_plain_reply_ends_the_run(model: Model, provider: Provider, stream: bool) -> None:
    provider.answers(Said(text="There are none at s1."))
    asked = given()
    result = await LLMPlanner(model, stream=stream, settings={"max_tokens": 100}).plan_start(asked)
    assert isinstance(result, FinalResponse)
    assert result.text == "There are none at s1."
    assert "".join(reports(asked).texts) == result.text
    assert len(reports(asked).texts) == (3 if stream else 1)
    assert reports(asked).spent == [(provider.sent[0]["model"], 11, 7)]
    assert bool(provider.sent[0].get("stream")) is stream
    assert len(provider.sent) == 1


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_parallel_calls_come_in_their_order(model: Model, provider: Provider, stream: bool) -> None:
    provider.answers(
        Said(text="Looking.", calls=(Called("list_devices", SITE, "call_a"), Called("other", "{}", "call_b")))
    )
    asked = given()
    result = await LLMPlanner(model, stream=stream).plan_start(asked)
    assert isinstance(result, CallTools)
    assert result.text == "Looking."
    assert [(call.name, call.id) for call in result.calls] == [
        ("list_devices", "call_a"),
        ("other", "call_b"),  # no such tool: the runtime says so, with close names
    ]
    assert json.loads(result.calls[0].arguments) == json.loads(SITE)
    told = [delta for id_, name, delta in reports(asked).deltas if (id_, name) == ("call_a", "list_devices")]
    assert json.loads("".join(told)) == json.loads(SITE)
    assert len(told) == (6 if stream else 1)


async def test_thinking_is_told_and_goes_back_signed(anthropic_model: Model, provider: Provider) -> None:
    provider.answers(
        Said(thinking="They want a list.", calls=(Called("list_devices", SITE),)), Said(text="Ok")
    )
    planner = LLMPlanner(anthropic_model)
    asked = given()
    result = await planner.plan_start(asked)
    assert isinstance(result, CallTools)
    assert "".join(reports(asked).thoughts) == "They want a list."
    await planner.plan_resume(given(*called(answer(), native=result.native)))
    thought, call = provider.sent[1]["messages"][1]["content"]
    assert thought == {"type": "thinking", "thinking": "They want a list.", "signature": "signed"}
    assert call["input"] == json.loads(SITE)


@pytest.mark.parametrize("broken", ['{"site_id": ', '["s1"]', "nonsense"])
async def test_broken_arguments_are_passed_on_as_they_are(
    model: Model, provider: Provider, broken: str
) -> None:
    provider.answers(Said(calls=(Called("list_devices", broken),)), Said(text="Sorry."))
    planner = LLMPlanner(model)
    result = await planner.plan_start(given())
    assert isinstance(result, CallTools)
    assert result.calls[0].arguments == broken
    refusal = answer(status="error", text='{"error":"the arguments of list_devices do not fit"}')
    assert isinstance(await planner.plan_resume(given(*called(refusal, native=result.native))), FinalResponse)


async def test_a_call_without_arguments_has_none(openai_model: Model, provider: Provider) -> None:
    provider.answers(Said(calls=(Called("list_devices", ""),)))
    result = await LLMPlanner(openai_model).plan_start(given())
    assert isinstance(result, CallTools)
    assert result.calls[0].arguments == "{}"


@pytest.mark.parametrize("own", ["call_a", "functions.list:0", "x" * 41, ""])
async def test_ids_are_unique_and_every_provider_takes_them(
    openai_model: Model, provider: Provider, own: str
) -> None:
    calls = (Called("list_devices", SITE, own), Called("list_devices", SITE, own))
    provider.answers(Said(calls=calls), Said(text="Ok"))
    planner = LLMPlanner(openai_model)
    before = called(answer(id="call_a"))
    asked = given(*before)
    result = await planner.plan_resume(asked)
    assert isinstance(result, CallTools)
    ids = [call.id for call in result.calls]
    assert len({*ids, "call_a"}) == 3
    assert all(len(id_) <= 40 and id_.replace("_", "").isalnum() for id_ in ids)
    assert {id_ for id_, _, _ in reports(asked).deltas} == set(ids)
    results = called(*(answer(id=id_) for id_ in ids), native=result.native)[1:]
    await planner.plan_resume(given(*before, *results, step=2))
    sent = provider.sent[1]["messages"]
    assert [call["id"] for message in sent for call in message.get("tool_calls", ())] == ["call_a", *ids]
    assert [one["tool_call_id"] for one in sent if one["role"] == "tool"] == ["call_a", *ids]


async def test_ids_that_the_run_gave_stand_in_what_goes_back(model: Model, provider: Provider) -> None:
    provider.answers(Said(calls=(Called("list_devices", SITE, "call_a"),)), Said(text="Ok"))
    planner = LLMPlanner(model)
    result = await planner.plan_start(given())
    assert isinstance(result, CallTools)
    await planner.plan_resume(given(*called(answer(id="run_1"), native=result.native)))
    text = json.dumps(provider.sent[1]["messages"])
    assert text.count("run_1") == 2
    assert "call_a" not in text


async def test_a_typed_final_result(model: Model, provider: Provider) -> None:
    provider.answers(Said(text="Done.", calls=(Called("final_result", '{"count": 3}'),)))
    asked = given(result_schema=SCHEMA)
    result = await LLMPlanner(model).plan_start(asked)
    assert isinstance(result, FinalResult)
    assert result.result == {"count": 3}
    assert result.text == "Done."
    assert reports(asked).deltas == []
    choice = provider.sent[0]["tool_choice"]
    assert choice in ("required", {"type": "any"}), "the run cannot end in words"


async def test_a_final_result_that_is_no_object(model: Model, provider: Provider) -> None:
    provider.answers(Said(calls=(Called("final_result", '{"result": [1, 2]}'),)))
    schema = {"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "integer"}}}
    result = await LLMPlanner(model).plan_start(given(result_schema=schema))
    assert isinstance(result, FinalResult)
    assert result.result == [1, 2]
    assert '"$ref": "#/$defs/N"' in json.dumps(provider.sent[0]["tools"][-1])


async def test_a_final_result_in_words(model: Model, provider: Provider) -> None:
    provider.answers(
        Said(text='{"count": 3}'), Said(text="three"), Said(calls=(Called("final_result", "{"),))
    )
    planner = LLMPlanner(model)
    results = [await planner.plan_start(given(result_schema=SCHEMA)) for _ in range(3)]
    assert isinstance(results[0], FinalResult)
    assert results[0].result == {"count": 3}
    assert isinstance(results[1], FinalResponse)
    assert isinstance(results[2], FinalResult)
    assert results[2].result == "{", "the runtime refuses it, and the model repairs it"


async def test_a_final_result_beside_calls_waits_for_them(model: Model, provider: Provider) -> None:
    calls = (Called("final_result", '{"count": 3}', "call_f"), Called("list_devices", SITE, "call_a"))
    provider.answers(Said(calls=calls), Said(calls=(Called("final_result", '{"count": 0}', "call_g"),)))
    planner = LLMPlanner(model)
    result = await planner.plan_start(given(result_schema=SCHEMA))
    assert isinstance(result, CallTools)
    assert [call.name for call in result.calls] == ["list_devices"]
    ended = await planner.plan_resume(given(*called(answer(), native=result.native), result_schema=SCHEMA))
    assert isinstance(ended, FinalResult)
    text = json.dumps(provider.sent[1]["messages"])
    assert "Discarded, because other tools were called in the same answer" in text


async def test_a_final_result_is_answered_when_the_conversation_goes_on(
    model: Model, provider: Provider
) -> None:
    from toolgen.agents.planner.planner import assistant_message_of

    provider.answers(Said(calls=(Called("final_result", '{"count": 3}', "call_f"),)), Said(text="Yes."))
    planner = LLMPlanner(model)
    result = await planner.plan_start(given(result_schema=SCHEMA))
    more = UserMessage(text="Sure?")
    await planner.plan_start(given(UserMessage(text="How many?"), assistant_message_of(result), more, step=0))
    text = json.dumps(provider.sent[1]["messages"])
    assert text.index("call_f") < text.index("Taken.") < text.index("Sure?")


async def test_transfers_are_tools(model: Model, provider: Provider) -> None:
    transfers = {"assistant.energy": "Saves energy.", "assistant_energy": "Another."}
    provider.answers(Said(calls=(Called("transfer_to_assistant_energy", '{"message": "It is cold."}'),)))
    asked = given(transfers=transfers)
    result = await LLMPlanner(model).plan_start(asked)
    assert isinstance(result, HandOver)
    assert (result.agent, result.message) == ("assistant.energy", "It is cold.")
    assert reports(asked).deltas == []
    tools = [tool.get("function", tool) for tool in provider.sent[0]["tools"]]
    first, second = [tool for tool in tools if tool["name"].startswith("transfer_to_")]
    assert first["description"] == "Hand the conversation over to assistant.energy. Saves energy."
    assert second["name"].startswith("transfer_to_assistant_energy_")


@pytest.mark.parametrize("arguments", ["{}", "", "{", '{"message": 1}'])
async def test_a_transfer_needs_no_message(openai_model: Model, provider: Provider, arguments: str) -> None:
    provider.answers(Said(calls=(Called("transfer_to_a_b", arguments),)))
    result = await LLMPlanner(openai_model).plan_start(given(transfers={"a.b": ""}))
    assert result == HandOver(agent="a.b", native=result.native)


async def test_an_empty_answer_is_asked_for_once_more(model: Model, provider: Provider) -> None:
    provider.answers(Said(thinking="Hm."), Said(text="Here."))
    asked = given()
    result = await LLMPlanner(model).plan_start(asked)
    assert reports(asked).restarts == ["the model returned nothing"], "its thoughts are void"
    assert isinstance(result, FinalResponse)
    assert "Your last answer was empty" not in json.dumps(provider.sent[0])
    assert "Your last answer was empty" in json.dumps(provider.sent[1])


async def test_a_model_that_says_nothing(model: Model, provider: Provider) -> None:
    provider.answers(Said(), Said())
    asked = given()
    with pytest.raises(ProviderError, match="the model returned nothing") as caught:
        await LLMPlanner(model).plan_start(asked)
    assert caught.value.most_attempts == 3
    assert reports(asked).restarts == ["the model returned nothing"]


async def test_an_answer_that_is_only_too_long(openai_model: Model, provider: Provider) -> None:
    provider.answers(Said(stop="length"), Said(stop="length"))
    with pytest.raises(NonRetryableError, match="its token limit"):
        await LLMPlanner(openai_model).plan_start(given())


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3600"}, 3600),
        ({"retry-after-ms": "20"}, 0.02),
        ({}, None),
        ({"retry-after": "?"}, None),
    ],
)
async def test_how_long_to_wait_is_told_and_not_waited(
    model: Model, provider: Provider, headers: dict[str, str], seconds: float | None
) -> None:
    provider.answers(Refused(status=429, headers=headers))
    with pytest.raises(ProviderError, match="HTTP 429") as caught:
        await LLMPlanner(model).plan_start(given())
    assert caught.value.retry_after == seconds
    assert caught.value.most_attempts is None
    assert len(provider.sent) == 1, "neither the SDK nor the planner tries again"


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_another_attempt_may_get_past_a_failure_of_the_provider(
    model: Model, provider: Provider, status: int
) -> None:
    provider.answers(Refused(status=status, message="out of order"))
    with pytest.raises(ProviderError, match=f"HTTP {status}.*out of order") as caught:
        await LLMPlanner(model).plan_start(given())
    assert not isinstance(caught.value, NonRetryableError)
    assert len(provider.sent) == 1


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_another_attempt_may_get_past_a_lost_connection(
    model: Model, provider: Provider, stream: bool
) -> None:
    provider.answers(Dropped())
    with pytest.raises(ProviderError, match="the provider did not answer"):
        await LLMPlanner(model, stream=stream).plan_start(given())


@pytest.mark.parametrize("status", [401, 403])
async def test_refused_credentials_end_the_run(model: Model, provider: Provider, status: int) -> None:
    provider.answers(Refused(status=status, message=f"Incorrect API key provided: {KEY}"))
    with pytest.raises(NonRetryableError) as caught:
        await LLMPlanner(model).plan_start(given())
    assert f"the provider refused the credentials (HTTP {status}); set a valid key in " in str(caught.value)
    assert KEY in provider.keys[0]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


async def test_a_refused_request_ends_the_run_and_says_why(model: Model, provider: Provider) -> None:
    provider.answers(Refused(status=400, message=f"messages.1 is wrong (key {KEY})"))
    with pytest.raises(NonRetryableError, match=r"HTTP 400.*messages\.1 is wrong") as caught:
        await LLMPlanner(model).plan_start(given())
    assert KEY not in str(caught.value)


async def test_no_such_model(model: Model, provider: Provider) -> None:
    provider.answers(Refused(status=404))
    with pytest.raises(NonRetryableError, match="no such model"):
        await LLMPlanner(model).plan_start(given())


async def test_the_sdk_tries_again_where_the_settings_say_so(model: Model, provider: Provider) -> None:
    provider.answers(Refused(status=500, headers={"retry-after-ms": "1"}), Said(text="Now."))
    result = await LLMPlanner(model, settings={"max_retries": 1}).plan_start(given())
    assert isinstance(result, FinalResponse)
    assert len(provider.sent) == 2


async def test_a_summary(model: Model, provider: Provider) -> None:
    provider.answers(Said(text=" They looked for devices. "))
    asked = given()
    text = await LLMPlanner(model).summarize(
        called(answer(text="x" * 3000)), asked, History(keep_turns=1, summarize_after=2)
    )
    assert text == "They looked for devices."
    assert reports(asked).texts == [], "nobody is told a summary as if it were a reply"
    assert len(reports(asked).spent) == 1
    assert not provider.sent[0].get("tools")
    sent = json.dumps(provider.sent[0])
    assert "person: Which devices are at s1?" in sent
    assert "assistant calls list_devices:" in sent
    assert "1000 characters more]" in sent


async def test_nothing_is_a_summary(model: Model, provider: Provider) -> None:
    provider.answers(Said())
    with pytest.raises(ProviderError, match="no summary"):
        await LLMPlanner(model).summarize((), given(), History(keep_turns=1))
