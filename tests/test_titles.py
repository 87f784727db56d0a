"""People who fill in a form read titles: of nested types, of branches, of objects written in place."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from toolgen.calls.functions.tools import func_tool
from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    Design,
    Error,
    Int,
    Object,
    OneOf,
    Return,
    Service,
    Tool,
    Toolset,
    Type,
    build,
)
from toolgen.dsl.expr.tree import Tool as CheckedTool
from toolgen.shapes.fields import Objects
from toolgen.shapes.tree.schema import object_schema

LEVEL = Attribute("level", Int, "How bright.", required=True)
DIM = Type("DimLight", "Dim a light.", LEVEL)
TITLED = Type("DimLight", "Dim a light.", LEVEL, title="Dim the light")


def schema(attribute: Attribute) -> Any:
    tool, objects = built(Tool("set_state", "Set a state.", Args(attribute)))
    return object_schema(tool.payload, objects)


def built(tool: Tool) -> tuple[CheckedTool, Objects]:
    checked = build(Design("home", "A home.", Service("hall", "Acts.", Toolset("lights", "Lights.", tool))))
    assert checked.design is not None, checked.diagnostics
    (service,) = checked.design.services
    (toolset,) = service.toolsets
    return toolset.tools[0], {one.name: one for one in (*toolset.objects, *checked.design.types)}


def test_a_payload_is_called_as_its_tool_and_a_result_by_its_words() -> None:
    assert schema(Attribute("x", Int, "X."))["title"] == "Set state"
    tool, objects = built(
        Tool(
            "set_state",
            "Set a state.",
            Return(LEVEL),
            Artifact("light_plan", Object(LEVEL), "A plan."),
            Error("not_found", Object(LEVEL), "No light."),
            title="Dim the light",
        )
    )
    (artifact,), (error,) = tool.artifacts, tool.errors
    assert error.type is not None
    roots = [tool.payload, tool.result, objects[artifact.type], objects[error.type]]
    assert [object_schema(root, objects)["title"] for root in roots] == [
        "Dim the light",
        "Set state result",
        "Set state light plan",
        "Set state not found",
    ]


class LightPlan(BaseModel):
    level: int


class Titled(BaseModel):
    model_config = ConfigDict(title="A plan for lights")
    level: int


def set_state(level: int) -> LightPlan:
    return LightPlan(level=level)


def plan_light(level: int) -> Titled:
    return Titled(level=level)


def ask_level() -> int:
    return 1


def test_the_types_of_a_function_have_titles_for_people() -> None:

    specs = [func_tool(one).spec for one in (set_state, plan_light, ask_level)]
    assert [spec.payload.schema["title"] for spec in specs] == ["Set state", "Plan light", "Ask level"]
    assert [spec.payload.name for spec in specs] == ["SetStatePayload", "PlanLightPayload", "AskLevelPayload"]
    assert [spec.result.schema["title"] for spec in specs] == [
        "Light plan",
        "A plan for lights",
        "Ask level result",
    ]
    assert func_tool(set_state, title="Dim the light").spec.payload.schema["title"] == "Dim the light"


@pytest.mark.parametrize(
    ("type_", "titles"),
    [
        (DIM, {"DimLight": "Dim light"}),
        (TITLED, {"DimLight": "Dim the light"}),
        (
            OneOf("kind", dim=Object(LEVEL), go_home=Object()),
            {"SetStatePayloadCommandDim": "Dim", "SetStatePayloadCommandGoHome": "Go home"},
        ),
        (
            OneOf("kind", "Order", dim=DIM, go_home=Object()),
            {"OrderDim": "Dim", "OrderGoHome": "Go home"},
        ),
        (
            OneOf("kind", dim=TITLED, stop=Object()),
            {"SetStatePayloadCommandDim": "Dim the light", "SetStatePayloadCommandStop": "Stop"},
        ),
    ],
)
def test_a_nested_type_is_called_as_people_call_it(type_: Any, titles: dict[str, str]) -> None:
    attribute = Attribute("command", type_, "What to do.")
    assert {name: one["title"] for name, one in schema(attribute)["$defs"].items()} == titles


def test_an_object_in_place_has_the_title_of_its_attribute() -> None:
    lists = schema(Attribute("light_steps", ArrayOf(Object(LEVEL)), "Steps."))["properties"]["light_steps"]
    assert (lists["title"], lists["items"]["title"]) == ("Light steps", "Light steps")
    own = schema(Attribute("x", ArrayOf(Object(LEVEL)), "Steps.", title="Way"))["properties"]["x"]
    assert (own["title"], own["items"]["title"]) == ("Way", "Way")
