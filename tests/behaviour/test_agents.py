"""Generated agents, exports and completions: what they cost to import, what they say, what they need."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases.agents.gen.assistant import completions
from tests.cases.agents.gen.assistant.agents import chat, diagnostics
from tests.cases.agents.gen.assistant.agents.diagnostics.exports import checks
from tests.cases.agents.gen.assistant.toolsets import devices
from tests.cases.agents.gen.assistant.toolsets.notes import NotePayload, NoteResult
from tests.cases.agents.gen.garage.agents import keeper
from tests.cases.agents.gen.garage.toolsets import devices as garage_devices
from tests.golden import CASES, design
from toolgen.agents import (
    AgentRoute,
    CallTools,
    FinalResult,
    PlannedCall,
    RunOutput,
    ScriptedPlanner,
)
from toolgen.catalog import load_catalog
from toolgen.cli.stubs import toolsets
from toolgen.runtime import Runtime, ToolContext

ROOT = Path(__file__).resolve().parents[2]
GEN = CASES / "agents/gen"

PROBE = """
import sys
from importlib import import_module
package = import_module(sys.argv[1])
def loaded():
    return sorted(name for name in sys.modules if name.startswith("tests.") and ".types" in name)
assert loaded() == [], loaded()
package.SPECS[0].payload.decode('{"site": "a"}')
print(*(name.partition(".gen.")[2] for name in loaded()))
"""


class House:
    """Executes every toolset that has an executor."""

    async def list_devices(
        self, payload: devices.ListDevicesPayload, ctx: ToolContext
    ) -> devices.ListDevicesResult:
        return devices.ListDevicesResult(names=[f"lamp of {payload.site}"], returned=1, truncated=False)

    async def reset_device(
        self, payload: devices.ResetDevicePayload, ctx: ToolContext
    ) -> devices.ResetDeviceResult:
        return devices.ResetDeviceResult(done=True)

    async def delete_device(
        self, payload: devices.DeleteDevicePayload, ctx: ToolContext
    ) -> devices.DeleteDeviceResult:
        return devices.DeleteDeviceResult()

    async def note(self, payload: NotePayload, ctx: ToolContext) -> NoteResult:
        return NoteResult()

    async def count(
        self, payload: garage_devices.CountPayload, ctx: ToolContext
    ) -> garage_devices.CountResult:
        return garage_devices.CountResult(count=2)


def catalog(path: str) -> dict[str, Any]:
    file = GEN / path / "tool_schemas.json"
    return {**json.loads(file.read_text("utf-8")), "tools": load_catalog(file).tools}


@pytest.mark.exhaustive
def test_an_agent_imports_the_types_of_a_toolset_at_the_first_call() -> None:
    command = [sys.executable, "-c", PROBE, chat.__name__]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["assistant.toolsets.devices.types"]


@pytest.mark.parametrize("package", [chat, diagnostics, keeper])
def test_the_public_surface_is_there(package: Any) -> None:
    assert {"AGENT", "AGENT_ID", "SPECS", "client", "register"} <= set(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
    assert package.AGENT.id == package.AGENT_ID


@pytest.mark.parametrize("package", [chat, diagnostics, keeper])
def test_agent_specs_and_catalog_name_the_same_tools(package: Any) -> None:
    tools = [(tool.id, tool.name) for tool in package.AGENT.tools]
    assert [(spec.id, spec.name) for spec in package.SPECS] == tools
    folder = package.__name__.partition(".gen.")[2].replace(".", "/")
    entries = [tool for tool in catalog(folder)["tools"] if tool["kind"] != "native"]
    assert [(tool["id"], tool["name"]) for tool in entries] == sorted(tools)


def test_an_agent_calls_tools_by_its_own_names() -> None:
    assert [spec.name for spec in chat.SPECS] == [
        "list_devices",
        "reset_device",
        "garage_count",
        "check_device",
        "check_site",
        "chat_my_note",
    ]
    assert [spec.method for spec in chat.SPECS if spec.name == "chat_my_note"] == ["note"]
    assert devices.LIST_DEVICES is chat.SPECS[0]


def test_an_agent_asks_in_its_own_words_for_what_the_tool_takes() -> None:
    (own,) = (spec.confirm for spec in chat.SPECS if spec.name == "reset_device")
    given = devices.RESET_DEVICE.confirm
    assert own is not None
    assert given is not None
    assert own.hint == "Really reset {device_id}?"
    assert own.when == {"mode": ("hard",)}
    assert own.payload is given.payload
    (entry,) = (tool for tool in catalog("assistant/agents/chat")["tools"] if "confirmation" in tool)
    assert entry["confirmation"]["hint"] == own.hint
    assert entry["confirmation"]["payload"]["name"] == "Reason"
    (root,) = (tool for tool in catalog("")["tools"] if "confirmation" in tool)
    assert root["confirmation"]["hint"] == "Reset {device_id}?"


def test_the_limits_of_an_agent_are_those_of_the_design() -> None:
    policy = chat.AGENT.policy
    assert (policy.max_tool_calls, policy.time_budget, policy.plan_timeout) == (8, 120.0, None)
    assert policy.history is not None
    assert (policy.history.keep_turns, policy.history.summarize_after) == (10, 20)
    assert chat.AGENT.transfers == ("assistant.diagnostics",)
    assert catalog("assistant/agents/chat")["agent"] == {
        "id": "assistant.chat",
        "description": "Talks with people.",
        "policy": {
            "max_tool_calls": 8,
            "time_budget": 120.0,
            "interrupts_allowed": True,
            "on_missing_fields": "await_clarification",
            "history": {"keep_turns": 10, "summarize_after": 20},
        },
        "transfers": ["assistant.diagnostics"],
    }


def test_an_exported_toolset_is_a_route_to_its_agent() -> None:
    registration = checks.registration()
    assert registration.name == "assistant.checks"
    assert registration.specs == checks.SPECS
    assert registration.instructions == "Give the device's id."
    assert registration.executor == AgentRoute(
        agent=diagnostics.AGENT_ID,
        prompts={"assistant.checks.check_device": "What is wrong with {device_id}? {{question}}: {question}"},
    )
    served = [tool for tool in catalog("")["tools"] if tool["kind"] == "agent"]
    assert {(tool["toolset"], tool["agent"]) for tool in served} == {("checks", diagnostics.AGENT_ID)}


def test_an_exported_toolset_has_neither_executor_nor_stub() -> None:
    assert not hasattr(checks, "ChecksExecutor")
    assert [toolset.name for toolset in toolsets(design("agents"))] == ["devices", "notes", "devices"]


def test_an_agent_takes_one_executor_a_toolset_that_needs_one() -> None:
    keywords = inspect.getfullargspec(chat.register).kwonlyargs
    assert keywords == ["planner", "assistant_devices", "garage_devices", "notes", "instructions", "dynamic"]
    assert inspect.getfullargspec(keeper.register).kwonlyargs == ["planner", "instructions", "dynamic"]


def test_the_whole_catalog_tells_of_agents_and_completions() -> None:
    whole = catalog("")
    assert list(whole) == ["$schema", "catalog", "types", "tools", "agents", "completions"]
    assert [agent["id"] for agent in whole["agents"]] == [
        chat.AGENT_ID,
        diagnostics.AGENT_ID,
        keeper.AGENT_ID,
    ]
    assert whole["agents"][1]["exports"] == [
        {
            "toolset": "assistant.checks",
            "prompts": {
                "assistant.checks.check_device": "What is wrong with {device_id}? {{question}}: {question}"
            },
        }
    ]
    assert whole["agents"][1]["transfers"] == [chat.AGENT_ID, keeper.AGENT_ID]
    assert whole["completions"][0]["result"] == {
        "name": "DailyReportResult",
        "schema": completions.DAILY_REPORT.result.schema,
    }


def test_a_completion_reads_its_result() -> None:
    text = '{"headline": "Calm.", "findings": [{"device_id": "d1", "severity": "low", "text": "Warm."}]}'
    report = completions.DAILY_REPORT.result.decode(text)
    assert isinstance(report, completions.DailyReportResult)
    assert report.findings is not None
    assert report.findings[0].severity == "low"
    assert completions.DAILY_REPORT.id == "assistant.daily_report"


def run(chats: ScriptedPlanner, finds: ScriptedPlanner) -> tuple[RunOutput, tuple[str, ...]]:
    """Return how one turn of chat ends, and the registered toolsets."""

    async def turn() -> tuple[RunOutput, tuple[str, ...]]:
        house = House()
        async with Runtime() as runtime:
            chat.register(runtime, planner=chats, assistant_devices=house, garage_devices=house, notes=house)
            diagnostics.register(runtime, planner=finds, devices=house)
            keeper.register(runtime, planner=ScriptedPlanner())
            found = await chat.client(runtime).run("Is the lamp broken?", session_id="s1")
            return found, runtime.tools.toolsets()

    return asyncio.run(turn())


def test_a_call_of_an_exported_tool_is_a_run_of_its_agent() -> None:
    arguments = '{"device_id": "lamp", "question": "light"}'
    calls = (
        PlannedCall(name="garage_count"),
        PlannedCall(name="check_device", arguments=arguments),
        PlannedCall(name="chat_my_note", arguments='{"text": "asked"}'),
    )
    chats = ScriptedPlanner([CallTools(calls=calls), "It is fine."])
    finds = ScriptedPlanner([FinalResult(result={"findings": []})])
    output, toolsets = run(chats, finds)
    assert (output.status, output.text, output.children_count) == ("completed", "It is fine.", 1)
    assert [message.type for message in finds.inputs[0].messages] == ["user"]
    assert "What is wrong with lamp? {question}: light" in repr(finds.inputs[0].messages)
    assert [tool.kind for tool in chats.inputs[0].native] == ["web_search", "google_search"]
    assert toolsets == (
        "assistant.devices",
        "assistant.search",
        "Garage.devices",
        "assistant.checks",
        "assistant.notes",
    )


def test_an_agent_is_not_registered_without_its_executors() -> None:
    register: Any = chat.register
    house = House()
    with pytest.raises(TypeError, match="'notes'"):
        register(Runtime(), planner=ScriptedPlanner(), assistant_devices=house, garage_devices=house)


def test_a_completion_is_asked_of_a_planner() -> None:
    answer = FinalResult(result={"headline": "Calm."})
    report = asyncio.run(completions.complete_daily_report(ScriptedPlanner([answer]), "Today?"))
    assert report == completions.DailyReportResult(headline="Calm.")

    async def pieces() -> list[str | completions.TitleResult]:
        planner = ScriptedPlanner([FinalResult(result={"title": "Lamps"})])
        return [piece async for piece in completions.stream_title(planner, "A lamp is broken.")]

    assert asyncio.run(pieces())[-1] == completions.TitleResult(title="Lamps")
