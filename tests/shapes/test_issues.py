"""Issues name the exact place, also inside arrays, maps and unions."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from toolgen.contract.json_value import Json
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    Field,
    MapType,
    NumberType,
    ObjectType,
    RefType,
    ScalarKind,
    ScalarType,
    StringType,
    UnionType,
)
from toolgen.shapes.issues import FieldIssue, missing
from toolgen.shapes.tree.validator import Validator


def field(name: str, type_: DataType, *, required: bool = False) -> Field:
    return Field(name=name, type=type_, description="", title=name, required=required)


COMMANDS = UnionType(tag="kind", branches=(("stop", RefType(name="Stop")), ("dim", RefType(name="Dim"))))
ROOT = ObjectType(
    name="Root",
    description="",
    fields=(
        field("name", StringType(min_length=2, pattern="^[a-z]"), required=True),
        field("count", NumberType(integer=True, minimum=1)),
        field("at", ScalarType(kind="datetime")),
        field("state", EnumType(values=("on", "off"))),
        field("commands", ArrayType(items=COMMANDS, max_length=2)),
        field("limits", MapType(values=NumberType(integer=False), keys=StringType(pattern="^x"))),
        field("odd key/~", ScalarType(kind="boolean")),
    ),
)
OBJECTS = {
    "Root": ROOT,
    "Stop": ObjectType(
        name="Stop",
        description="",
        fields=(field("kind", EnumType(values=("stop",)), required=True), field("stop", StringType())),
    ),
    "Dim": ObjectType(
        name="Dim",
        description="",
        fields=(
            field("kind", EnumType(values=("dim",)), required=True),
            field("level", NumberType(integer=True), required=True),
        ),
    ),
}


def issues(value: Json) -> tuple[FieldIssue, ...]:
    return Validator(RefType(name="Root"), OBJECTS).issues(value)


@pytest.mark.parametrize(
    ("document", "path", "pointer", "constraint", "facts"),
    [
        ({}, "$.name", "/name", "missing_field", {"expected": "string"}),
        ({"name": 5}, "$.name", "/name", "invalid_type", {"expected": "string", "actual": "integer"}),
        ({"name": "a"}, "$.name", "/name", "invalid_length", {"limit": 2}),
        ({"name": "AB"}, "$.name", "/name", "invalid_pattern", {"expected": "^[a-z]"}),
        ({"name": "ab", "count": 0}, "$.count", "/count", "invalid_range", {"limit": 1}),
        ({"name": "ab", "count": 1.5}, "$.count", "/count", "invalid_type", {"actual": "number"}),
        ({"name": "ab", "at": "today"}, "$.at", "/at", "invalid_format", {"expected": "date-time"}),
        ({"name": "ab", "at": "2026-02-30T00:00:00Z"}, "$.at", "/at", "invalid_format", {}),
        ({"name": "ab", "state": "x"}, "$.state", "/state", "invalid_enum_value", {"allowed": ("on", "off")}),
        (
            {"name": "ab", "x": 1},
            "$.x",
            "/x",
            "unknown_field",
            {"allowed": tuple(f.name for f in ROOT.fields)},
        ),
        (
            {"name": "ab", "odd key/~": 1},
            '$["odd key/~"]',
            "/odd key~1~0",
            "invalid_type",
            {"expected": "boolean"},
        ),
        (
            {"name": "ab", "limits": {"a": 1}},
            "$.limits.a",
            "/limits/a",
            "invalid_pattern",
            {"expected": "^x"},
        ),
        (
            {"name": "ab", "limits": {"x": "1"}},
            "$.limits.x",
            "/limits/x",
            "invalid_type",
            {"expected": "number"},
        ),
        (
            {"name": "ab", "commands": [{"kind": "stop"}, {"kind": "fly"}]},
            "$.commands[1].kind",
            "/commands/1/kind",
            "invalid_enum_value",
            {"allowed": ("stop", "dim")},
        ),
        (
            {"name": "ab", "commands": [{"level": 1}]},
            "$.commands[0].kind",
            "/commands/0/kind",
            "missing_field",
            {"allowed": ("stop", "dim")},
        ),
        (
            {"name": "ab", "commands": [{"kind": "stop", "stop": 1}]},  # a field named like the tag
            "$.commands[0].stop",
            "/commands/0/stop",
            "invalid_type",
            {"expected": "string"},
        ),
        (
            {"name": "ab", "commands": [{"kind": "dim", "level": 1, "stop": "x"}]},
            "$.commands[0].stop",
            "/commands/0/stop",
            "unknown_field",
            {"allowed": ("kind", "level")},
        ),
        (
            {"name": "ab", "commands": [{"kind": "stop"}] * 3},
            "$.commands",
            "/commands",
            "invalid_length",
            {"limit": 2},
        ),
        ([], "$", "", "invalid_type", {"expected": "object", "actual": "array"}),
    ],
)
def test_one_issue_at_its_place(
    document: Json, path: str, pointer: str, constraint: str, facts: dict[str, Any]
) -> None:
    (issue,) = issues(document)
    assert (issue.path, issue.pointer, issue.constraint) == (path, pointer, constraint)
    assert {name: getattr(issue, name) for name in facts} == facts
    assert str(issue) == f"{path} {issue.message}"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("date", "2026-02-30", "must be a valid date: day value is outside expected range"),
        ("date", "0000-01-01", "must be a valid date: year 0 is out of range"),
        (
            "datetime",
            "2026-02-30T00:00:00Z",
            "must be a valid date-time: day value is outside expected range",
        ),
        ("datetime", "0000-01-01T00:00:00Z", "must be a valid date-time: year 0 is out of range"),
        (
            "duration",
            "P9999999999D",
            "must be a valid duration: a numeric value in the duration is too large",
        ),
    ],
)
def test_a_text_that_is_written_well_and_means_no_value(kind: ScalarKind, text: str, message: str) -> None:
    (issue,) = Validator(ScalarType(kind=kind), {}).issues(text)
    assert (issue.constraint, issue.message) == ("invalid_format", message)


def test_all_issues_come_in_one_pass() -> None:
    found = issues({"count": "1", "state": 3, "limits": [], "more": None})
    assert [(issue.path, issue.constraint) for issue in found] == [
        ("$.name", "missing_field"),
        ("$.count", "invalid_type"),
        ("$.state", "invalid_enum_value"),
        ("$.limits", "invalid_type"),
        ("$.more", "unknown_field"),
    ]


HOUR = dt.timedelta(hours=1)
DAY = "2026-01-31T10:00:00"


@pytest.mark.parametrize(
    ("type_", "inside", "outside", "message"),
    [
        (
            ScalarType(kind="date", minimum=dt.date(2026, 1, 31)),
            ["2026-01-31", "9999-12-31"],
            ["2026-01-30", "0001-01-01"],
            "must not be before 2026-01-31",
        ),
        (
            ScalarType(kind="datetime", exclusive_maximum=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
            ["2026-01-01T01:00:00+02:00", "0001-01-01T00:00:00+14:00"],
            ["2026-01-01T00:00:00Z", "2025-12-31T23:00:00-02:00", "9999-12-31T23:59:59-14:00"],
            "must be before 2026-01-01T00:00:00Z",
        ),
        (
            ScalarType(kind="duration", minimum=dt.timedelta(0), maximum=24 * HOUR),
            ["-PT0S", "PT24H", "P1D", "PT86400S", "PT1439M60S"],
            ["PT24H0M1S", "P1DT0.000001S"],
            "must be at most P1D",
        ),
        (
            ScalarType(kind="decimal", minimum=Decimal("0.10")),
            ["0.1", "0.1000000000000000000000000000000000000001"],
            ["0.0999999999999999999999999999999999999999", "-1"],
            "must be at least 0.10",
        ),
        (
            ScalarType(kind="decimal", multiple_of=Decimal("0.05")),
            ["0", "-0.15", "1.0500", f"{'9' * 5000}.95"],
            ["0.01", f"{'9' * 5000}.951"],
            "must be a multiple of 0.05",
        ),
        (
            ScalarType(kind="duration", multiple_of=HOUR / 4),
            ["PT0S", "-PT15M", "P1DT900S", "PT15M0.0000004S"],
            ["PT1S", "-PT14M", "PT15M0.0000009S"],
            "must be a multiple of PT15M",
        ),
    ],
)
def test_bounds_are_compared_by_what_a_text_says(
    type_: ScalarType, inside: list[str], outside: list[str], message: str
) -> None:
    validator = Validator(type_, {})
    assert [validator.issues(text) for text in inside] == [()] * len(inside)
    for text in outside:
        limit = message.split()[-1]
        expected = FieldIssue(keys=(), constraint="invalid_range", message=message, limit=limit)
        assert validator.issues(text) == (expected,)


@pytest.mark.parametrize(
    ("items", "different", "same"),
    [
        (ScalarType(kind="any"), [1, True, "1", None, [1], {"a": 1}], [1, "a", 1.0]),
        (ScalarType(kind="any"), [[1, 2], [2, 1], 0, False], [{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]),
        (NumberType(integer=False), [0.1, 0.2, 2**53, 2**53 + 1], [0.5, 2, 2.0]),
        (ScalarType(kind="decimal"), ["1.0", "1.00"], ["1.0", "1.0"]),
        (ScalarType(kind="datetime"), [f"{DAY}Z", f"{DAY}+01:00"], [f"{DAY}Z", f"{DAY}+00:00"]),
        (ScalarType(kind="duration"), ["PT1H", "P1D"], ["PT24H", "P1D"]),
    ],
)
def test_items_that_have_to_differ(items: DataType, different: list[Json], same: list[Json]) -> None:
    """Equality is that of JSON Schema, of what the codec would write."""
    validator = Validator(ArrayType(items=items, unique_items=True), {})
    message = "must not contain the same item twice"
    assert validator.issues(different) == ()
    assert validator.issues(same) == (FieldIssue(keys=(), constraint="invalid_value", message=message),)


def test_of_an_array_that_is_too_long_the_first_items_are_compared() -> None:
    validator = Validator(ArrayType(items=StringType(), max_length=2, unique_items=True), {})
    both = ["invalid_value", "invalid_length"]
    assert [issue.constraint for issue in validator.issues(["a", "a", "a"])] == both
    later: list[Json] = [*map(str, range(20)), "a", "a"]
    assert [issue.constraint for issue in validator.issues(later)] == ["invalid_length"]


@pytest.mark.parametrize(
    ("schema", "expected", "allowed"),
    [
        ({"type": "integer", "minimum": 1}, "integer", None),
        ({"type": ["string", "null"]}, "string", None),
        ({"type": ["string", "integer"]}, "string or integer", None),
        ({"anyOf": [{"$ref": "#/$defs/Colour"}, {"type": "null"}]}, "string", ("red", "blue")),
        ({"$ref": "#/$defs/Many"}, "string", None),
        ({"oneOf": [{"const": "a", "title": "A."}, {"const": 2}]}, None, ("a", 2)),
        ({"const": 1}, None, (1,)),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, None, None),
        ({"oneOf": [True, {"const": 1}]}, None, None),
        ({"$ref": "https://example.org/elsewhere"}, None, None),
        (True, None, None),
    ],
)
def test_what_was_left_out_is_described(
    schema: Any, expected: str | None, allowed: tuple[Json, ...] | None
) -> None:
    root = {
        "properties": {"list": {"items": {"properties": {"a": schema}}}},
        "$defs": {
            "Colour": {"type": "string", "enum": ["red", "blue"]},
            "Many": {"type": "string", "enum": [f"v{number}" for number in range(21)]},
        },
    }
    issue = missing(("list", 0, "a"), root)
    assert (issue.expected, issue.allowed) == (expected, allowed)
    assert missing(("list", 0, "a", "b"), root).expected is None
