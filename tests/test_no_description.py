"""An attribute or a type may say that it has no description; nothing is said in its place."""

from __future__ import annotations

from typing import Any

from toolgen.dsl import Args, Attribute, Design, Object, Service, String, Tool, Toolset, Type, Value, build
from toolgen.shapes.tree.schema import object_schema


def test_none_is_no_description() -> None:
    part = Type(
        "Part",
        None,
        Attribute("id", String, None),
        Attribute("size", String, None, enum=(Value("s", "Small"),)),
    )
    inline = Attribute("place", Object(Attribute("page", String, None)), None)
    tool = Tool("find", "Find.", Args(Attribute("part", part, None, title="The part"), inline))
    checked = build(Design("home", "A home.", Service("hall", "Acts.", Toolset("lights", "Lights.", tool))))
    assert checked.diagnostics == ()
    assert checked.design is not None
    toolset = checked.design.services[0].toolsets[0]
    objects = {one.name: one for one in (*toolset.objects, *checked.design.types)}
    schema: Any = object_schema(toolset.tools[0].payload, objects)
    assert "description" not in str(schema)
    assert schema["properties"]["part"] == {"$ref": "#/$defs/Part", "title": "The part"}


def test_an_empty_description_is_a_mistake() -> None:
    tool = Tool("find", "Find.", Args(Attribute("part", String, "")))
    checked = build(Design("home", "A home.", Service("hall", "Acts.", Toolset("lights", "Lights.", tool))))
    assert [each.code for each in checked.diagnostics] == ["missing-description"]
