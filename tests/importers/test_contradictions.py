"""A choice among values that its own type refuses: a warning, and no issue that offers such a value."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.built import imported
from toolgen.shapes.foreign.rules import Rules


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "string", "enum": ["a", 1, None]}, "holds 1, null, which the type beside it refuses"),
        ({"type": ["integer", "null"], "const": "a"}, 'holds "a", which the type beside it refuses'),
        (
            {"type": "array", "items": {"type": "number", "enum": [1, 2.5, True]}},
            "holds true, which the type",
        ),
    ],
)
def test_a_contradiction_is_warned_of(schema: dict[str, Any], fault: str) -> None:
    found = [each for each in imported({"properties": {"x": schema}}).findings if "holds" in each.message]
    assert [each.code for each in found] == ["import-odd-schema"]
    assert found[0].message.startswith(fault)
    assert str(found[0].place.pointer).startswith("/properties/x/")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "enum": [1, 2.5]},
        {"type": ["string", "null"], "enum": ["a", None]},
        {"enum": [1, "a"]},
    ],
)
def test_values_of_their_type_are_none(schema: dict[str, Any]) -> None:
    assert not [each for each in imported({"properties": {"x": schema}}).findings if "holds" in each.message]


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"type": "string", "enum": ["a", 1, None]}, ("a",)),
        ({"type": "integer", "enum": [1.0, "2", 3.5]}, (1.0,)),
        ({"type": "number", "enum": [1, 2.5, "b"]}, (1, 2.5)),
        ({"type": ["string", "null"], "enum": ["a", None, 1]}, ("a", None)),
        ({"type": "string", "enum": [1, None]}, None),
        ({"type": "integer", "const": "a"}, None),
    ],
)
def test_an_issue_offers_no_value_that_is_refused(
    schema: dict[str, Any], allowed: tuple[Any, ...] | None
) -> None:
    (issue,) = Rules({"properties": {"x": schema}}).issues({"x": "z"})
    assert issue.allowed == allowed
    assert not any(Rules(schema).issues(value) for value in allowed or ())
