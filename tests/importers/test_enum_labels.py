"""What values mean survives an import: titles and descriptions of constants, and keywords beside an enum."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.built import regenerated
from toolgen.importers.enum_labels import with_labelled_values

BACKEND = {"const": "680", "description": "Backend"}


@pytest.mark.parametrize(
    ("schema", "choices"),
    [
        ({"anyOf": [BACKEND, {"const": "681", "title": "Frontend"}]}, {"680": "Backend", "681": "Frontend"}),
        ({"oneOf": [{**BACKEND, "title": "Servers"}]}, {}),
        ({"oneOf": [{**BACKEND, "title": "Servers"}, {"const": "x"}]}, {"680": "Servers: Backend", "x": ""}),
        ({"oneOf": [{**BACKEND, "title": "680"}, {"enum": ["x"]}]}, {"680": "Backend", "x": ""}),
        (
            {"type": "string", "oneOf": [{"const": "a", "title": "A\n b"}, {"const": "b"}]},
            {"a": "A b", "b": ""},
        ),
        ({"type": "integer", "oneOf": [{"const": 1, "title": "Low"}, {"const": 2}]}, {1: "Low", 2: ""}),
        ({"anyOf": [BACKEND, {"$ref": "#/$defs/Other"}]}, {"680": "Backend", "x": "The rest"}),
        ({"anyOf": [BACKEND, {"const": "x"}, {"type": "null"}]}, {"680": "Backend", "x": ""}),
    ],
    ids=["descriptions", "one", "both", "same", "titles", "numbers", "reference", "null"],
)
def test_labels_of_constants_become_meanings(schema: Any, choices: dict[Any, str]) -> None:
    definitions = {"Other": {"const": "x", "description": "The rest"}}
    tag = regenerated({"properties": {"tag": {**schema, "description": "A tag."}}, "$defs": definitions})
    found = tag["properties"]["tag"]
    found = found["anyOf"][0] if "anyOf" in found else found
    assert {each["const"]: each.get("title", "") for each in found.get("oneOf", ())} == choices


def test_a_union_that_no_clause_holds_keeps_its_labels() -> None:
    mixed = {"anyOf": [BACKEND, {"const": 1, "title": "One"}]}
    assert "Backend" in str(regenerated({"properties": {"tag": mixed}}))


VALUES = {"type": "integer", "enum": [1, 2]}
LOW_HIGH = [{"const": 1, "title": "Low."}, {"const": 2, "title": "High."}]


@pytest.mark.parametrize(
    "labels",
    [
        {"x-enum-varnames": ["LOW", "HIGH"], "x-enum-descriptions": ["Low.", "High."]},
        {"x-enumDescriptions": {"1": "Low.", "2": "High."}},
        {"x-enumNames": [" Low.", "High. "]},
    ],
    ids=["both", "by value", "names"],
)
def test_labels_beside_an_enum_become_titles(labels: dict[str, Any]) -> None:
    assert with_labelled_values({**VALUES, **labels}) == {"type": "integer", "oneOf": LOW_HIGH}
    nested: dict[str, Any] = {
        "properties": {"a": {"items": {**VALUES, **labels}}},
        "allOf": [{}, {**VALUES, **labels}],
    }
    made = with_labelled_values(nested)
    assert made["properties"]["a"]["items"] == made["allOf"][1] == {"type": "integer", "oneOf": LOW_HIGH}
    assert nested["allOf"][1] == {**VALUES, **labels}


@pytest.mark.parametrize(
    "schema",
    [
        {**VALUES, "x-enumNames": ["Low"]},
        {**VALUES, "x-enumNames": "Low"},
        {**VALUES, "x-enumDescriptions": {"3": "Other."}},
        {**VALUES, "x-enumNames": [None, 3]},
        {"enum": [1, 1.0], "x-enumNames": ["Low", "High"]},
        {**VALUES, "oneOf": [{}], "x-enumNames": ["Low", "High"]},
        {"x-enumNames": ["Low", "High"]},
        {"properties": {"a": VALUES}},
    ],
)
def test_labels_that_do_not_fit_their_values_change_nothing(schema: dict[str, Any]) -> None:
    assert with_labelled_values(schema) is schema
