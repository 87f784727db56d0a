"""Values of enumerations that have meanings: schema, issues, forms and the dialects of providers say them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolgen.adapters.mcp.serving.forms import form_of
from toolgen.calls.answer_schema import answer_issues
from toolgen.calls.results import Suspended
from toolgen.catalog.providers import DIALECTS, project
from toolgen.cli.call import _expected
from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Design,
    Enum,
    Int,
    Nullable,
    Service,
    String,
    Tool,
    Toolset,
    Value,
    build,
)
from toolgen.shapes.fields import RefType
from toolgen.shapes.tree.schema import object_schema
from toolgen.shapes.tree.validator import Validator

TAG = Enum("Tag", "A tag.", Value("680", "Backend"), Value("681", "Front\n end"), "other")
LEVEL = Enum("Level", "A level.", Value(1, "Low"), 2)
TITLED = [{"const": "680", "title": "Backend"}, {"const": "681", "title": "Front end"}, {"const": "other"}]


def built(*attributes: Attribute) -> tuple[dict[str, Any], Validator]:
    """Return the schema and the validator of the arguments of a tool."""
    tools = Toolset("articles", "Articles.", Tool("find", "Find.", Args(*attributes)))
    checked = build(Design("news", "News.", TAG, LEVEL, Service("desk", "A desk.", tools)))
    assert checked.design is not None, checked.diagnostics
    toolset = checked.design.services[0].toolsets[0]
    objects = {one.name: one for one in (*toolset.objects, *checked.design.types)}
    payload = toolset.tools[0].payload
    return object_schema(payload, objects), Validator(RefType(name=payload.name), objects)


def test_meanings_are_titles_of_constants() -> None:
    schema, _ = built(
        Attribute("tag", TAG, "The tag."),
        Attribute("none", Nullable(TAG), "Or none."),
        Attribute("one", String, "One.", enum=(Value("a", "Alpha"),), default="a"),
    )
    properties = schema["properties"]
    assert properties["tag"] == {
        "type": "string",
        "oneOf": TITLED,
        "title": "Tag",
        "description": "The tag.",
    }
    assert properties["none"]["anyOf"] == [{"type": "string", "oneOf": TITLED}, {"type": "null"}]
    assert properties["one"]["oneOf"] == [{"const": "a", "title": "Alpha"}]


def test_an_enumeration_without_meanings_keeps_its_schema() -> None:
    """The digest of a parked call's schema depends on it."""
    schema, _ = built(Attribute("mode", String, "A mode.", enum=("on", "off")))
    assert schema["properties"]["mode"] == {
        "type": "string",
        "enum": ["on", "off"],
        "title": "Mode",
        "description": "A mode.",
    }


@pytest.mark.parametrize(
    ("type_", "value", "path"),
    [(TAG, "x", "$.tag"), (ArrayOf(TAG), ["680", "x"], "$.tag[1]"), (Nullable(TAG), "x", "$.tag")],
    ids=["plain", "item", "nullable"],
)
def test_an_issue_says_what_values_mean(type_: Any, value: Any, path: str) -> None:
    _, validator = built(Attribute("tag", type_, "The tag."))
    (issue,) = validator.issues({"tag": value})
    assert str(issue) == f'{path} must be one of "680" (Backend), "681" (Front end), "other"'
    assert (issue.constraint, issue.allowed) == ("invalid_enum_value", ("680", "681", "other"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_provider_is_told_the_meanings(dialect: str) -> None:
    schema, _ = built(
        Attribute("tag", TAG, "The tag."),
        Attribute("level", Nullable(LEVEL), "The level.", required=True),
        Attribute("tags", ArrayOf(TAG), "All tags."),
    )
    told = json.dumps(project("find", "Find.", schema, dialect).schema["properties"])
    assert told.count("Backend") == 2
    assert told.count("Low") == 1
    assert "The level." in told


def asked(schema: dict[str, Any]) -> Suspended:
    return Suspended(
        token="t",
        id="i",
        kind="input",
        tool="desk.articles.find",
        question="Which?",
        preview="",
        answer_schema=schema,
        expires_at=0,
    )


def test_a_form_has_a_title_for_every_text() -> None:
    """MCP 2025-11-25 (SEP-1330) has titles for texts alone; numbers are explained in words."""
    schema, _ = built(Attribute("tag", TAG, "The tag."), Attribute("level", LEVEL, "The level."))
    form = form_of(asked(schema)).requested_schema["properties"]
    assert form["tag"]["oneOf"] == [*TITLED[:2], {"const": "other", "title": "other"}]
    assert form["level"]["description"] == "The level. (one of 1: Low, 2: 2)"


def test_a_person_is_told_all_values_of_an_answer() -> None:
    schema, _ = built(Attribute("level", Int, "The level.", enum=(Value(1, "Low"), 2), required=True))
    (issue,) = answer_issues(schema, {"level": 3}, 9)
    assert issue.message == "must be one of 1, 2"
    assert _expected(schema) == '{"level": 1 or 2}'
    assert _expected({"type": ["string", "null"]}) == "string or null"
