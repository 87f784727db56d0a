"""Answers in parts: what is typed, what stays as received, and what it costs at most."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from toolgen.runtime import ToolModel
from toolgen.runtime.generated import Foreign
from toolgen.shapes.design.model import Nullable, OpenModel, UniqueItems
from toolgen.shapes.parts import PartReader


class Node(ToolModel):
    name: str
    counts: dict[str, int] | None = None
    inner: Node | None = None


class Facts(OpenModel):
    pages: int


class Book(ToolModel):
    id: int
    kind: Literal["a", "b"] = "a"
    next_: Annotated[str | None, Field(validation_alias="next", serialization_alias="next")] = None
    facts: Facts | None = None
    rows: list[list[int]] | None = None
    note: Nullable[str] = None


def read(type_: Any, document: Any) -> tuple[Any, Any, list[str]]:
    parts = PartReader(type_).read(document)
    return parts.value, parts.json, [str(issue) for issue in parts.issues]


def test_open_objects_keep_their_keys_and_closed_ones_drop_them() -> None:
    sent = {"id": "1", "facts": {"pages": "x", "size": None}, "vendor": 1}
    value, json, issues = read(Book, sent)
    assert json == {"id": "1", "facts": {"pages": "x", "size": None}}
    assert value.facts.model_extra == {"size": None}
    assert issues == [
        "$.id must be an integer, not a string",
        "$.facts.pages must be an integer, not a string",
    ]


def test_null_is_absence_where_it_fits_and_a_value_where_it_is_one() -> None:
    value, json, issues = read(Book, {"id": None, "kind": None, "next": None, "note": None})
    assert json == {"id": None, "note": None}
    assert (value.id, value.kind, value.next_, value.note) == (None, "a", None, None)
    assert issues == ["$.id must be an integer, not null"]


def test_lists_are_divided_to_the_last_item() -> None:
    value, json, issues = read(Book, {"id": 1, "rows": [[1, "2"], 3, [4]]})
    assert value.rows == json["rows"] == [[1, "2"], 3, [4]]
    assert issues == [
        "$.rows[0][1] must be an integer, not a string",
        "$.rows[1] must be an array, not an integer",
    ]


class Limited(ToolModel):
    rows: Annotated[list[int], Field(max_length=1)] | None = None
    grid: Annotated[list[Annotated[list[int], Field(min_length=2)]], Field(min_length=2)] | None = None
    labels: UniqueItems[str] | None = None
    counts: Annotated[dict[str, int], Field(max_length=1)] | None = None
    nodes: Annotated[list[Node], Field(max_length=1)] | None = None
    names: dict[Annotated[str, Field(pattern="^[a-z]$")], int] | None = None


OWN = {
    "too many items": (
        {"rows": ["x", 1]},
        ["$.rows must have at most 1 item", "$.rows[0] must be an integer"],
    ),
    "too few, inside and outside": (
        {"grid": [["x"]]},
        [
            "$.grid must have at least 2 items",
            "$.grid[0] must have at least 2 items",
            "$.grid[0][0] must be an integer",
        ],
    ),
    "the same twice": (
        {"labels": ["a", 1, "a"]},
        ["$.labels must not contain the same item twice", "$.labels[1] must be a string"],
    ),
    "too many keys": (
        {"counts": {"a": "x", "b": 1}},
        ["$.counts must have at most 1 property", "$.counts.a must be an integer"],
    ),
    "too many objects": (
        {"nodes": [{"name": 1}, {"counts": {}}]},
        [
            "$.nodes must have at most 1 item",
            "$.nodes[0].name must be a string",
            "$.nodes[1].name is required",
        ],
    ),
    "a name": ({"names": {"A": "x"}}, ["$.names", "$.names.A must be an integer"]),
}


@pytest.mark.parametrize("fault", OWN)
def test_a_container_is_named_beside_its_parts(fault: str) -> None:
    document, expected = OWN[fault]
    for type_, sent in ((Limited, document), (list[Limited], [document]), (Foreign[Limited], document)):
        _, json, issues = read(type_, sent)
        assert json == sent
        assert len(issues) == len(expected), issues
        for issue, beginning in zip(issues, expected, strict=True):
            assert issue.replace("$[0]", "$").startswith(beginning)


def test_a_container_whose_parts_alone_do_not_fit_is_not_named() -> None:
    sent: Any = {"rows": ["x"], "labels": [1, 2], "counts": {"a": "x"}, "grid": [["x", 1], [1, 1]]}
    assert [issue.partition(" ")[0] for issue in read(Limited, sent)[2]] == [
        "$.rows[0]",
        "$.grid[0][0]",
        "$.labels[0]",
        "$.labels[1]",
        "$.counts.a",
    ]


class Named(ToolModel):
    cls: int
    other: Annotated[int | None, Field(validation_alias="user_id", serialization_alias="user_id")] = None
    user_id: Annotated[int | None, Field(validation_alias="userId", serialization_alias="userId")] = None


def test_each_attribute_has_the_value_of_its_own_key() -> None:
    """Also if its key is the name of another one, or of an argument of pydantic's constructor."""
    value, json, issues = read(Named, {"cls": "x", "user_id": 1, "userId": 2})
    assert (value.cls, value.other, value.user_id) == ("x", 1, 2)
    assert json == {"cls": "x", "user_id": 1, "userId": 2}
    assert issues == ["$.cls must be an integer, not a string"]


@pytest.mark.parametrize("document", [None, 1, "x", [], [{}]])
def test_what_is_no_object_is_as_received(document: Any) -> None:
    value, json, issues = read(Book, document)
    assert value == json == document
    assert len(issues) == 1


def nested(levels: int) -> Any:
    document: Any = {"name": 0}
    for _ in range(levels):
        document = {"name": "x", "inner": document}
    return document


def test_depth_and_number_of_the_parts_are_limited() -> None:
    _, json, issues = read(Node, nested(150))
    assert json == nested(150)
    assert issues[0].endswith(
        "was not validated: too many parts of the response do not match, or it is nested too deeply"
    )

    counts = {str(number): "x" for number in range(20_000)}
    document: Any = {"name": "x", "counts": counts}
    for _ in range(50):
        document = {"name": "x", "inner": document}
    _, json, issues = read(Node, document)
    assert json == document
    assert len(issues) == 1, "its errors are found again at each level, and not at all of them"

    class Many(ToolModel):
        rows: list[int]

    many: Any = {"rows": ["x"] * 50_000}
    parts = PartReader(Many).read(many)
    kept: Any = parts.json
    assert (len(parts.issues), len(kept["rows"])) == (20, 50_000)
    assert parts.more < 10_000
