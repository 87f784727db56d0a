"""An enumeration that is a component keeps its name, and stands in the design once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.echoing_api import COMPONENTS, EchoingAPI, api, get, post
from tests.importers.operations import answer, body, design, operation
from toolgen.importers.design import DesignFiles

__all__ = ["api"]

STATE = {"type": "string", "enum": ["on", "off"], "description": "Whether it runs."}


def referring(name: str, **beside: Any) -> dict[str, Any]:
    return {"$ref": COMPONENTS + name, **beside}


def imported(properties: dict[str, Any], version: str = "3.1.0", **schemas: Any) -> DesignFiles:
    reference = referring("Device")
    parameter = {"name": "state", "in": "query", "schema": referring("State")}
    value = body(reference) | {"responses": {"200": answer(reference)}, "parameters": [parameter]}
    device = {"type": "object", "properties": properties}
    return operation(value, version=version, schemas={"State": STATE, "Device": device, **schemas})


def test_all_that_refer_to_it_have_the_one_type() -> None:
    files = imported(
        {
            "state": referring("State"),
            "maybe": {"anyOf": [referring("State"), {"type": "null"}]},
            "many": {"type": "array", "items": referring("State")},
            "by_name": {"type": "object", "additionalProperties": referring("State")},
            "default": {"allOf": [referring("State")], "default": "off"},
            "alias": referring("Alias"),
        },
        Alias=referring("State"),
    )
    assert not files.findings
    written = design(files)
    assert written.count('State = d.Enum("State", "Whether it runs.", "on", "off")') == 1
    assert written.count("d.Enum(") == 1
    assert 'd.Attribute("state", State, "Whether it runs.")' in written
    assert 'd.Attribute("maybe", d.Nullable(State), None)' in written
    assert 'd.Attribute("many", d.ArrayOf(State), None)' in written
    assert 'd.Attribute("by_name", d.MapOf(d.String, State), None)' in written
    assert 'd.Attribute("default", State, "Whether it runs.", default="off")' in written
    assert 'd.Attribute("alias", State, "Whether it runs.")' in written


@pytest.mark.parametrize(
    ("schema", "clause"),
    [
        ({"type": "integer", "enum": [1, 2]}, 'Level = d.Enum("Level", None, 1, 2)'),
        ({"enum": ["a", "b"]}, 'Level = d.Enum("Level", None, "a", "b")'),
        ({"type": ["string", "null"], "enum": ["a", None]}, 'Level = d.Enum("Level", None, "a")'),
        (
            {"type": "string", "enum": ["a", "b"], "x-enumNames": ["First", "Second"]},
            'Level = d.Enum("Level", None, d.Value("a", "First"), d.Value("b", "Second"))',
        ),
        (
            {"oneOf": [{"const": "a", "title": "First"}, {"const": "b"}]},
            'Level = d.Enum("Level", None, d.Value("a", "First"), "b")',
        ),
    ],
)
def test_of_any_values_that_a_design_can_have(schema: dict[str, Any], clause: str) -> None:
    assert clause in design(imported({"level": referring("Level")}, Level=schema))


@pytest.mark.parametrize(
    "schema", [{"enum": ["a", 1]}, {"enum": [1.5, 2.5]}, {"enum": [True, False]}, {"enum": [{"a": 1}, "b"]}]
)
def test_other_choices_stay_where_they_are_used(schema: dict[str, Any]) -> None:
    files = imported({"level": referring("Level")}, Level=schema)
    assert files.imported == 1
    assert "Level = Enum" not in design(files)


def test_a_narrower_choice_is_not_the_whole_one() -> None:
    part = {"allOf": [referring("State"), {"enum": ["on"]}]}
    written = design(imported({"state": part}))
    assert 'd.Attribute("state", d.String, "Whether it runs.", enum=("on",))' in written


def test_the_same_values_written_in_place_have_no_name() -> None:
    files = imported({"state": {"type": "string", "enum": ["on", "off"]}})
    assert 'd.Attribute("state", d.String, None, enum=("on", "off"))' in design(files)


def test_null_beside_it_and_its_values_pass(api: EchoingAPI) -> None:
    schemas: dict[str, Any] = {"State": STATE, "Level": {"type": "integer", "enum": [1, 2]}}
    device = {
        "type": "object",
        "properties": {"state": referring("State", nullable=True), "level": referring("Level")},
        "required": ["state"],
    }
    parameter = {"name": "state", "in": "path", "required": True, "schema": referring("State")}
    paths = {"/p": post("p", referring("Device")), "/q/{state}": get("q", parameter)}
    api.publish(paths, Device=device, **schemas)
    for value in ({"state": None}, {"state": "on", "level": 2}):
        assert api.sent("p", {"body": value}).body == value
    assert api.refused("p", {"body": {"state": "other"}}) == ["$.body.state"]
    assert api.sent("q", {"state": "off"}).path == "/q/off"
    assert api.refused("q", {"state": "other"}) == ["$.state"]
    types = (api.project.path / "app/gen/types.py").read_text("utf-8")
    assert types.count('Literal["on", "off"]') == 1
