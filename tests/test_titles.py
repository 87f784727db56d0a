"""People who fill in a form read titles: of nested types, of branches, of objects written in place."""

from __future__ import annotations

from typing import Any

import pytest

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Design,
    Int,
    Object,
    OneOf,
    Service,
    Tool,
    Toolset,
    Type,
    build,
)
from toolgen.shapes.design.schema import object_schema

LEVEL = Attribute("level", Int, "How bright.", required=True)
DIM = Type("DimLight", "Dim a light.", LEVEL)
TITLED = Type("DimLight", "Dim a light.", LEVEL, title="Dim the light")


def schema(attribute: Attribute, *, has_class_titles: bool = False) -> Any:
    tool = Tool("set_state", "Set a state.", Args(attribute))
    checked = build(Design("home", "A home.", Service("hall", "Acts.", Toolset("lights", "Lights.", tool))))
    assert checked.design is not None, checked.diagnostics
    (service,) = checked.design.services
    (toolset,) = service.toolsets
    objects = {one.name: one for one in (*toolset.objects, *checked.design.types)}
    return object_schema(toolset.tools[0].payload, objects, has_class_titles=has_class_titles)


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
    earlier = schema(attribute, has_class_titles=True)["$defs"]
    assert {name: one["title"] for name, one in earlier.items()} == {name: name for name in titles}


def test_an_object_in_place_has_the_title_of_its_attribute() -> None:
    lists = schema(Attribute("light_steps", ArrayOf(Object(LEVEL)), "Steps."))["properties"]["light_steps"]
    assert (lists["title"], lists["items"]["title"]) == ("Light steps", "Light steps")
    own = schema(Attribute("x", ArrayOf(Object(LEVEL)), "Steps.", title="Way"))["properties"]["x"]
    assert (own["title"], own["items"]["title"]) == ("Way", "Way")


def test_titles_change_nothing_else() -> None:
    attribute = Attribute("command", OneOf("kind", dim=TITLED, stop=Object(LEVEL)), "What to do.")
    for one, other in zip(
        schema(attribute)["$defs"].values(),
        schema(attribute, has_class_titles=True)["$defs"].values(),
        strict=True,
    ):
        assert {**one, "title": ""} == {**other, "title": ""}
