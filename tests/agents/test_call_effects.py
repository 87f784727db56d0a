"""What calls leave beside their results: writes to the state, artifacts, and nothing of injected fields."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from tests.agents.tools import (
    Devices,
    Resetting,
    Users,
    answers,
    calling,
    everything,
    first_answer,
    ran,
    resetting,
    texts,
)
from toolgen.agents import (
    ScriptedPlanner,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.specs import ArtifactSpec
from toolgen.capabilities import MemoryStateStore, StateCapability
from toolgen.events.document import as_json
from toolgen.events.records import StateChanged, StateConflict
from toolgen.runtime import (
    StaticToolset,
    ToolContext,
    ToolOutcome,
    ToolsetRegistration,
)
from toolgen.shapes.design.model import ToolModel


def generated(executor: Devices) -> ToolsetRegistration:
    from gen.assistant.toolsets import devices

    return devices.registration(executor)


async def test_injected_fields_are_seen_by_nobody() -> None:
    executor = Devices()
    batch = calling(
        ("list_devices", {"site_id": "s1"}), ("list_devices", {"site_id": "s1", "session_id": "mine"})
    )
    planner = ScriptedPlanner([batch, texts])
    found = await ran(planner, toolsets=(generated(executor),), session_id="the-session")
    assert executor.sessions == ["the-session"]
    refused = json.loads(answers(planner.inputs[1])[1])
    assert [issue["path"] for issue in refused["issues"]] == ["$.session_id"]
    for event in found.events:
        shown = {key: value for key, value in as_json(event).items() if key != "session_id"}
        assert "the-session" not in json.dumps(shown)
    assert "the-session" not in str(planner.inputs[1].messages)


async def keep(name: str, ctx: ToolContext, seconds: float = 0.0) -> str:
    """Keep a name."""
    state: Any = ctx.state
    state.append("names", name)
    state.set("last", name)
    await asyncio.sleep(seconds)
    return name


async def idle(seconds: float = 0.0) -> str:
    """Do nothing."""
    await asyncio.sleep(seconds)
    return ""


def keeps(name: str, seconds: float) -> tuple[str, dict[str, Any]]:
    return "keep", {"name": name, "seconds": seconds}


async def test_writes_are_merged_in_the_order_of_the_calls() -> None:
    store = MemoryStateStore()
    late = func_tool(idle, toolset="x.state", timeout=0.03)
    toolset = StaticToolset(name="x.state", bound=(func_tool(keep, toolset="x.state"), late))
    batch = calling("idle", keeps("a", 0.04), keeps("b", 0.0), ("idle", {"seconds": 9}), keeps("c", 0.02))
    planner = ScriptedPlanner([batch, "done"])
    found = await ran(planner, toolsets=(toolset,), options={"capabilities": [StateCapability(store)]})
    assert await store.load("session", "s") == {"names": ["a", "b", "c"], "last": "c"}
    assert [event.status for event in found.of("tool_end")].count("ok") == 4
    (conflict,) = [event for event in found.events if isinstance(event, StateConflict)]
    assert (conflict.key, conflict.applied_tool_call_id) == ("last", "call_0_4")
    assert conflict.tool_call_ids == ("call_0_1", "call_0_2", "call_0_4")
    changed = [event for event in found.events if isinstance(event, StateChanged)]
    # Each is told when its call has written it, and the calls go on at once.
    assert sorted((one.tool_call_id, one.key, one.operation) for one in changed if one.key == "names") == [
        (id_, "names", "append") for id_ in ("call_0_1", "call_0_2", "call_0_4")
    ]


class Photo(ToolModel):
    pixels: str


PHOTO: ArtifactSpec[Photo] = ArtifactSpec(kind="photo", codec=TypeCodec(Photo, "Photo"))


async def paint(ctx: ToolContext) -> ToolOutcome[str]:
    """Paint."""
    return ToolOutcome.of("painted", artifacts=[PHOTO.of(Photo(pixels="0123"))])


async def test_artifacts_are_for_the_client_alone() -> None:
    tool = func_tool(paint)
    spec = replace(tool.spec, artifacts={"photo": PHOTO})
    toolset = StaticToolset(name="local.functions", bound=(replace(tool, spec=spec),))
    planner = ScriptedPlanner([calling("paint"), first_answer])
    found = await ran(planner, toolsets=(toolset,))
    assert found.output.text == '"painted"'
    (artifact,) = found.output.artifacts
    assert (artifact.kind, artifact.tool, artifact.tool_call_id) == (
        "photo",
        "local.functions.paint",
        "call_0_0",
    )
    assert artifact.json == '{"pixels":"0123"}'
    (ended,) = found.of("tool_end")
    assert [(ref["kind"], ref["data"]) for ref in ended.artifacts] == [("photo", {"pixels": "0123"})]
    assert "0123" not in str(planner.inputs[1].messages)


async def test_injected_values_stand_nowhere() -> None:
    executor = Resetting()
    with_own = {"device_id": "d1", "user_id": "u-forged"}
    calls = calling(("factory_reset", {"device_id": "d1"}), ("factory_reset", with_own))
    planner = ScriptedPlanner([calls, everything])
    found = await ran(
        planner, toolsets=(resetting(executor, confirm=None),), options={"interceptors": [Users()]}
    )
    assert executor.asked == ["d1 for u-secret"]
    told = f"{found.events} {planner.inputs[1].messages} {found.output}"
    assert "u-secret" not in told
    assert "user_id" not in planner.inputs[0].tools[0].payload.schema_json
    assert sorted(event.status for event in found.of("tool_end")) == ["error", "ok"]
