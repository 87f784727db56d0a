"""The agents of the example: the conversation of the demo, led by scripts and by a model class."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from examples.home import database
from examples.home.app import Planners, assistant
from examples.home.conversation import conversation
from examples.home.scripts import LAMP, LIGHTS
from gen.assistant import completions
from gen.assistant.agents import chat, diagnostics
from toolgen.agents import FinalResult, LLMPlanner, ScriptedPlanner, agents_of
from toolgen.contract.json_value import Json


async def test_a_person_approves_and_a_child_answers(tmp_path: Path) -> None:
    with closing(database.connect(tmp_path / "home.db")) as connection:
        async with assistant(connection, tmp_path / "home.db") as runtime:
            lines = [line async for line in conversation(runtime)]
            runs = await agents_of(runtime).list_runs()
            assert {run.agent for run in runs} == {chat.AGENT_ID, diagnostics.AGENT_ID}
            assert {run.status for run in runs} == {"completed"}
    text = "\n".join(lines)
    assert "← list_devices: error, the arguments of list_devices do not fit" in text
    assert "Mira is asked: Reset h10 to factory settings? Its settings are lost." in text
    assert "assistant.diagnostics begins" in text
    assert "s-mira" not in text.replace("Mira", "")


async def test_a_session_of_nobody_is_told_why_there_is_no_answer(tmp_path: Path) -> None:
    with closing(database.connect(tmp_path / "home.db")) as connection:
        async with assistant(connection, tmp_path / "home.db") as runtime:
            client = agents_of(runtime).client(chat.AGENT_ID)
            lights = await client.run(LIGHTS, session_id="nobody")
            lamp = await client.run(LAMP, session_id="nobody-else")
    assert (lights.status, lamp.status) == ("completed", "waiting")
    assert lights.text == "I cannot say which lights answer: The user has no sites."


async def test_the_same_conversation_is_led_by_a_model(tmp_path: Path) -> None:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered = {tool.name for tool in info.function_tools}
        returned = [
            part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)
        ]
        if info.output_tools:  # the child, whose result is typed
            finding = {"cause": "No power.", "certainty": "likely", "advice": ["Switch it on."]}
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, finding, "f1")])
        assert {"list_devices", "diagnose", "factory_reset"} <= offered
        called = [part.tool_name for part in returned]
        if "list_devices" not in called:
            arguments = {"site_id": "harbour", "kind": "light", "status": "offline"}
            return ModelResponse(parts=[ToolCallPart("list_devices", arguments, "c1")])
        if "harbour" in str(messages[-1]):
            return ModelResponse(parts=[TextPart("The ceiling lamp.")])
        if "diagnose" not in called:
            return ModelResponse(
                parts=[ToolCallPart("diagnose", {"device_id": "h10", "symptom": "silent"}, "c2")]
            )
        if "factory_reset" not in called:
            return ModelResponse(parts=[ToolCallPart("factory_reset", {"device_id": "h10"}, "c3")])
        return ModelResponse(parts=[TextPart("It is done.")])

    model = FunctionModel(answer)
    planners = Planners(chat=LLMPlanner(model), diagnostics=LLMPlanner(model))
    with closing(database.connect(tmp_path / "home.db")) as connection:
        async with assistant(connection, tmp_path / "home.db", planners) as runtime:
            lines = [line async for line in conversation(runtime)]
    text = "\n".join(lines)
    assert "← diagnose: ok, No power." in text
    assert "← factory_reset: ok, Ceiling lamp is as it left the factory" in text
    assert "assistant: It is done." in text


async def test_a_report_is_typed() -> None:
    said: dict[str, Json] = {"headline": "All is well.", "details": ["Three devices are silent."]}
    planner = ScriptedPlanner([FinalResult(result=said)])
    report = await completions.complete_site_report(planner, "How is the harbour?")
    assert report.details == ["Three devices are silent."]
    assert json.loads(completions.SITE_REPORT.result.encode(report)) == said
