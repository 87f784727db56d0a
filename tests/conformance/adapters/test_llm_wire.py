"""What LLMPlanner sends: the bodies of the requests, as both providers' SDKs write them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from tests.conformance.adapters.plan_inputs import FOUND, TOOLS, answer, called, given
from tests.conformance.adapters.provider import Provider
from tests.conformance.adapters.wire import Called, Said
from toolgen.agents import (
    AssistantMessage,
    CallTools,
    FinalResponse,
    LLMPlanner,
    PlanInput,
    ToolMessage,
    UserMessage,
)
from toolgen.calls.specs import NativeTool
from toolgen.engines import NonRetryableError
from toolgen.runtime import ImageContent, ResourceContent, RetryHint, TextContent

PNG = b"\x89PNG\r\n\x1a\n"


async def sent(model: Model, provider: Provider, given: PlanInput, instructions: str = "") -> dict[str, Any]:
    """Return the body of the request that one planning makes."""
    provider.answers(Said(text="Ok."))
    await LLMPlanner(model).plan_resume(replace(given, agent_instructions=instructions))
    return provider.sent[-1]


async def test_instructions_stand_first_and_the_agents_own_before_the_toolsets(
    openai_model: Model, anthropic_model: Model, provider: Provider
) -> None:
    asked = given(instructions="Dates are ISO 8601.")
    system = [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "Dates are ISO 8601."},
    ]
    body = await sent(openai_model, provider, asked, "Be brief.")
    assert body["messages"] == [*system, {"role": "user", "content": "Which devices are at s1?"}]
    body = await sent(anthropic_model, provider, asked, "Be brief.")
    assert [block["text"] for block in body["system"]] == ["Be brief.", "Dates are ISO 8601."]
    assert [message["role"] for message in body["messages"]] == ["user"]


async def test_the_description_of_the_agent_is_its_instructions_by_default(
    openai_model: Model, provider: Provider
) -> None:
    body = await sent(openai_model, provider, given())
    assert body["messages"][0] == {"role": "system", "content": "Looks after homes."}


async def test_tools_are_advertised_in_their_order(model: Model, provider: Provider) -> None:
    body = await sent(model, provider, given(transfers={"assistant.energy": "Saves energy."}))
    tools = [tool.get("function", tool) for tool in body["tools"]]
    names = ["list_devices", "get_time_series", "transfer_to_assistant_energy"]
    assert [tool["name"] for tool in tools] == names
    assert tools[0]["description"] == TOOLS[0].description


async def test_a_request_is_the_beginning_of_the_next(model: Model, provider: Provider) -> None:
    """What a provider has cached of one request, it finds again in the next."""
    provider.answers(
        Said(calls=(Called("list_devices", '{"site_id":"s1"}'),)),
        Said(text="So.", calls=(Called("list_devices", '{"site_id":"s2"}', "call_b"),)),
        Said(text="Ok."),
    )
    planner = LLMPlanner(model)
    first = await planner.plan_start(given())
    assert isinstance(first, CallTools)
    once = called(answer(reminder="Names only."), native=first.native)
    second = await planner.plan_resume(given(*once))
    assert isinstance(second, CallTools)
    twice = AssistantMessage(text=second.text, calls=second.calls, native=second.native)
    results = ToolMessage(answers=(answer(id="call_b"),))
    await planner.plan_resume(given(*once, twice, results))
    one, two, three = [body["messages"] for body in provider.sent]
    assert two[: len(one)] == one
    assert three[: len(two)] == two
    assert provider.sent[0]["tools"] == provider.sent[2]["tools"]


async def test_results_and_reminders_to_openai(openai_model: Model, provider: Provider) -> None:
    failed = answer("get_time_series", "call_b", status="error", text='{"error":"no such device"}')
    body = await sent(
        openai_model, provider, given(*called(answer(reminder="Names only."), failed, text="Looking."))
    )
    absent = {"status": None, "kind": None, "limit": None, "cursor": None}
    arguments = json.dumps({"site_id": "s1", **absent}, separators=(",", ":"))
    call = {"type": "function", "function": {"name": "list_devices", "arguments": arguments}}
    invalid = {"name": "get_time_series", "arguments": '{"site_id":"s1"}'}
    other = {"type": "function", "function": invalid}
    assert body["messages"][1:] == [
        {"role": "user", "content": "Which devices are at s1?"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [{"id": "call_a", **call}, {"id": "call_b", **other}],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": FOUND},
        {"role": "tool", "tool_call_id": "call_b", "content": '{"error":"no such device"}'},
        {
            "role": "user",
            "content": "<system-reminder>\nlist_devices: Names only.\n</system-reminder>",
        },
    ]


async def test_results_and_reminders_to_anthropic(anthropic_model: Model, provider: Provider) -> None:
    failed = answer("get_time_series", "call_b", status="error", text='{"error":"no such device"}')
    body = await sent(
        anthropic_model, provider, given(*called(answer(reminder="Names only."), failed, text="Looking."))
    )
    site = {"site_id": "s1"}
    assert body["messages"][1]["content"] == [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "call_a", "name": "list_devices", "input": site},
        {"type": "tool_use", "id": "call_b", "name": "get_time_series", "input": site},
    ]
    found, other, words = body["messages"][2]["content"]
    text = {"type": "text", "text": FOUND}
    assert found == {"type": "tool_result", "tool_use_id": "call_a", "content": [text], "is_error": False}
    assert other["is_error"] is True
    assert other["content"] == [{"type": "text", "text": '{"error":"no such device"}'}]
    assert words["text"] == "<system-reminder>\nlist_devices: Names only.\n</system-reminder>"


async def test_content_stands_after_the_results(openai_model: Model, provider: Provider) -> None:
    blocks = (
        TextContent(text="The plan:").as_json(),
        ImageContent(data=PNG, media_type="image/png").as_json(),
        ImageContent(data=b"<svg/>", media_type="image/svg+xml").as_json(),
        ResourceContent(uri="https://x/log", name="log", media_type="text/plain", size=9).as_json(),
        {"type": "resource", "resource": {"uri": "file:///a", "text": "Read me."}},
        {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "application/zip", "blob": "AAAA"}},
        {"type": "audio", "data": "?", "mimeType": "audio/wav"},
        {"type": "hologram", "depth": 3},
    )
    body = await sent(openai_model, provider, given(*called(answer(content=blocks))))
    assert body["messages"][-2] == {"role": "tool", "tool_call_id": "call_a", "content": FOUND}
    parts = body["messages"][-1]["content"]
    assert [part.get("text") or part["image_url"]["url"] for part in parts] == [
        '<tool-content tool="list_devices" call="call_a">',
        "The plan:",
        "data:image/png;base64,iVBORw0KGgo=",
        "[image (image/svg+xml, 6 bytes) that cannot be shown]",
        "log (text/plain, 9 bytes): https://x/log",
        "file:///a:\nRead me.",
        "[file:///b (application/zip, 3 bytes) that cannot be shown]",
        "[audio that cannot be read]",
        '{"type":"hologram","depth":3}',
        "</tool-content>",
    ]


async def test_the_files_of_a_person_stand_in_the_providers_own_form(
    openai_model: Model,
    responses_model: Model,
    anthropic_model: Model,
    gemini_model: Model,
    provider: Provider,
) -> None:
    def file(name: str, media_type: str, data: bytes) -> dict[str, Any]:
        uri = f"artifact:session/s/{name}?version=1"
        return ResourceContent(uri=uri, name=name, media_type=media_type, data=data).as_json()

    blocks = (
        file("photo.png", "image/png", PNG),
        file("bill.pdf", "application/pdf", b"%PDF-1.7"),
        file("list.csv", "text/csv", b"a,b"),
        file("disk.zip", "application/zip", b"PK"),
        ResourceContent(uri="artifact:x", name="old.png", media_type="image/png", size=9).as_json(),
    )
    asked = given(UserMessage(text="What is it?", content=blocks))
    texts = ["list.csv:\na,b", "[disk.zip (application/zip, 2 bytes) that cannot be shown]"]
    texts.append("old.png (image/png, 9 bytes): artifact:x")
    png, pdf = "iVBORw0KGgo=", "JVBERi0xLjc="

    chat = (await sent(openai_model, provider, asked))["messages"][-1]["content"]
    assert [part["text"] for part in chat if part["type"] == "text"] == [
        *("What is it?", "photo.png:", "bill.pdf:"),
        *texts,
    ]
    assert chat[2]["image_url"]["url"] == f"data:image/png;base64,{png}"
    assert chat[4]["file"]["file_data"] == f"data:application/pdf;base64,{pdf}"

    input_ = (await sent(responses_model, provider, asked))["input"][-1]["content"]
    assert [part["text"] for part in input_ if part["type"] == "input_text"][3:] == texts
    assert input_[2]["image_url"] == f"data:image/png;base64,{png}"
    assert input_[4]["file_data"] == f"data:application/pdf;base64,{pdf}"

    anthropic = (await sent(anthropic_model, provider, asked))["messages"][-1]["content"]
    assert [part["text"] for part in anthropic if part["type"] == "text"][3:] == texts
    assert anthropic[2]["source"] == {"type": "base64", "media_type": "image/png", "data": png}
    assert anthropic[4]["type"] == "document"
    assert anthropic[4]["source"] == {"type": "base64", "media_type": "application/pdf", "data": pdf}

    gemini = (await sent(gemini_model, provider, asked))["contents"][-1]["parts"]
    assert [part["text"] for part in gemini if "text" in part][3:] == texts
    assert [part["inlineData"]["mime_type"] for part in gemini if "inlineData" in part] == [
        "image/png",
        "application/pdf",
    ]


async def test_a_model_that_takes_no_files_is_told_what_it_does_not_see() -> None:
    seen: list[Any] = []

    def speak(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(messages[-1].parts)
        return ModelResponse(parts=[TextPart(content="Ok.")])

    blind = ModelProfile(supports_image_input=False, supports_document_input=False)
    image = ResourceContent(uri="artifact:x", name="photo.png", media_type="image/png", data=PNG)
    asked = given(UserMessage(text="Look.", content=(image.as_json(),)))
    await LLMPlanner(FunctionModel(speak, profile=blind)).plan_start(asked)
    assert seen[0].content == ["Look.", "[photo.png (image/png, 8 bytes) that cannot be shown]"]


async def test_sound_goes_only_to_models_that_hear(anthropic_model: Model, provider: Provider) -> None:
    block = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
    body = await sent(anthropic_model, provider, given(*called(answer(content=(block,)))))
    assert "[audio (audio/wav, 3 bytes) that cannot be shown]" in json.dumps(body["messages"])


async def test_what_a_person_says_is_told_from_what_the_runtime_says(
    openai_model: Model, provider: Provider
) -> None:
    summary = UserMessage(text="Summary of the conversation so far: none.", source="runtime")
    words = (summary, UserMessage(text=""), UserMessage(text="Hello"))
    body = await sent(openai_model, provider, given(*words))
    assert [message["content"] for message in body["messages"][1:]] == [
        "<system-reminder>\nSummary of the conversation so far: none.\n</system-reminder>",
        "Hello",
    ]


async def test_hints_say_what_the_results_do_not(model: Model, provider: Provider) -> None:
    refusal = answer(status="error", text='{"error":"the arguments do not fit"}')
    hint = RetryHint(
        reason="missing_fields",
        tool=TOOLS[0].id,
        restrict_to_tool=True,
        message="the arguments do not fit",
        clarifying_question="Which site?",
    )
    other = RetryHint(reason="timeout", tool=TOOLS[0].id, message="It took too long.")
    body = await sent(model, provider, given(*called(refusal), retry_hints=(hint, other)))
    last = body["messages"][-1]["content"]
    assert (last if isinstance(last, str) else last[-1]["text"]) == (
        "<system-reminder>\n"
        "If you do not know it, ask: Which site?\n"
        "Repair the call of list_devices before you call another tool.\n"
        "It took too long.\n"
        "</system-reminder>"
    )
    assert len(body["tools"]) == 2, "a hint takes no tool from the menu"


async def test_a_restriction_leaves_the_model_its_words(
    openai_model: Model, anthropic_model: Model, provider: Provider
) -> None:
    asked = given(restrict_to_tool="get_time_series")
    body = await sent(openai_model, provider, asked)
    allowed = body["tool_choice"]["allowed_tools"]
    assert allowed["mode"] == "auto"
    assert [tool["function"]["name"] for tool in allowed["tools"]] == ["get_time_series"]
    assert len(body["tools"]) == 2
    assert "Call only the tool get_time_series next." in json.dumps(body["messages"])
    body = await sent(anthropic_model, provider, asked)
    assert [tool["name"] for tool in body["tools"]] == ["get_time_series"]
    assert body["tool_choice"] == {"type": "auto"}


async def test_a_restriction_to_a_tool_that_is_gone_binds_nobody(model: Model, provider: Provider) -> None:
    body = await sent(model, provider, given(restrict_to_tool="gone"))
    assert len(body["tools"]) == 2
    assert body["tool_choice"] in ("auto", {"type": "auto"})


async def test_the_last_planning_offers_no_tools(model: Model, provider: Provider) -> None:
    body = await sent(model, provider, given(*called(answer()), closing="time_budget", transfers={"a": "b"}))
    assert not body.get("tools")
    assert "The run ends here (time budget)" in json.dumps(body["messages"][-1])


async def test_the_last_planning_takes_the_final_result(model: Model, provider: Provider) -> None:
    schema = {"type": "object", "properties": {}}
    body = await sent(model, provider, given(*called(answer()), closing="tool_cap", result_schema=schema))
    assert [tool.get("function", tool)["name"] for tool in body["tools"]] == ["final_result"]
    assert "now by final_result" in json.dumps(body["messages"][-1])


async def test_calls_in_the_last_planning_are_left_out_beside_words(model: Model, provider: Provider) -> None:
    calls = (Called("list_devices", '{"site_id": "s1"}'),)
    provider.answers(Said(text="So far none.", calls=calls), Said(calls=calls))
    planner = LLMPlanner(model)
    asked = given(*called(answer(id="call_0")), closing="tool_cap")
    plan = await planner.plan_resume(asked)
    assert isinstance(plan, FinalResponse)
    assert replace(plan, provider=None) == FinalResponse(text="So far none.")
    assert isinstance(await planner.plan_resume(asked), CallTools), "the runtime refuses them"


async def test_results_without_calls_and_calls_without_results(model: Model, provider: Provider) -> None:
    """A conversation that was cut is one that every provider takes."""
    question, calls, results = called(answer())
    body = await sent(model, provider, given(results, UserMessage(text="And?")))
    assert "call_a" not in json.dumps(body["messages"])
    body = await sent(model, provider, given(question, calls, UserMessage(text="And?")))
    assert json.dumps(body["messages"]).count("call_a") == 2


async def test_the_words_of_another_planner_are_its_text_and_calls(model: Model, provider: Provider) -> None:
    for foreign in (
        "theirs",
        {"writer": "pydantic-ai"},
        {"writer": "pydantic-ai", "answer": {}, "calls": []},
    ):
        body = await sent(model, provider, given(*called(answer(), text="Looking.", native=foreign)))
        text = json.dumps(body["messages"])
        assert "Looking." in text
        assert text.count("call_a") == 2


async def test_native_tools_of_the_provider_are_passed_on(anthropic_model: Model, provider: Provider) -> None:
    search = NativeTool(
        id="a.b.web_search", provider="anthropic", kind="web_search_20250305", config={"max_uses": 2}
    )
    other = NativeTool(id="a.b.other", provider="openai", kind="web_search")
    body = await sent(anthropic_model, provider, given(native=(search, other)))
    [found] = [tool for tool in body["tools"] if tool["name"] == "web_search"]
    assert found["max_uses"] == 2
    assert len(body["tools"]) == 3


@pytest.mark.parametrize(
    ("kind", "config", "why"),
    [
        ("teleport", {}, "has no tool 'teleport' of openai"),
        ("web_search", {"depth": 3}, "has no 'depth' for web_search"),
        ("web_search", {"search_context_size": "huge"}, "search_context_size"),
        ("web_search", {}, "WebSearchTool"),  # chat completions have none
    ],
)
async def test_a_native_tool_that_cannot_be_passed_on_ends_the_run(
    openai_model: Model, provider: Provider, kind: str, config: dict[str, Any], why: str
) -> None:
    tool = NativeTool(id="a.b.c", provider="openai", kind=kind, config=config)
    with pytest.raises(NonRetryableError, match=why):
        await LLMPlanner(openai_model).plan_start(given(native=(tool,)))
    assert provider.sent == []


async def test_settings_go_to_the_provider(model: Model, provider: Provider) -> None:
    provider.answers(Said(text="Ok."))
    await LLMPlanner(model, settings={"temperature": 0.5}).plan_start(given())
    assert provider.sent[0]["temperature"] == 0.5


async def test_a_cache_point_stands_in_the_request(anthropic_model: Model, provider: Provider) -> None:
    provider.answers(Said(text="Ok."), Said(text="Ok."))
    await LLMPlanner(anthropic_model).plan_start(given())
    await LLMPlanner(anthropic_model, settings={"cache": True}).plan_start(given())
    without, with_points = map(json.dumps, provider.sent)
    assert "cache_control" not in without
    assert '"cache_control": {"type": "ephemeral"' in with_points
