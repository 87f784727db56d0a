"""The rules that no type holds, and what is said of a document that breaks them."""

from __future__ import annotations

import json
import tracemalloc
from typing import Annotated, Any, Literal, TypeAlias

import pytest
from pydantic import ConfigDict, Field, ValidationError

from tests.selection import first
from toolgen.contract.json_value import Json
from toolgen.shapes.design.model import Nullable
from toolgen.shapes.foreign.issues import ForeignReader
from toolgen.shapes.foreign.model import SchemaModel, exact_adapter
from toolgen.shapes.foreign.rules import Rules
from toolgen.shapes.issues import TOO_COMPLEX, FieldIssue

KINDS: dict[str, Any] = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}},
            "required": ["kind"],
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "b"}, "s": {"type": "string"}},
            "required": ["kind", "s"],
            "additionalProperties": False,
        },
    ]
}


def one(schema: Any, document: Json) -> FieldIssue:
    (issue,) = Rules(schema).issues(document)
    return issue


@pytest.mark.parametrize(
    ("schema", "document", "text"),
    [
        ({"not": {"type": "string"}}, "a", "$ must not be of type string"),
        ({"not": {"required": ["a", "b"]}}, {"a": 1, "b": 2}, '$ must not contain "a", "b" together'),
        ({"not": {"minimum": 3}}, 4, "$ must not match the schema's `not`"),
        ({"if": {"type": "string"}, "then": {"minLength": 3}}, "ab", "$ must have at least 3 characters"),
        ({"uniqueItems": True}, [1, 1], "$ must not contain the same item twice"),
        (
            {"contains": {"type": "string"}},
            [1],
            "$ must contain as many items that match the schema's `contains` as it requires",
        ),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "$.b is required and was left out"),
        (
            {"patternProperties": {"^x": {"type": "integer"}}},
            {"xa": ""},
            "$.xa must be an integer, not a string",
        ),
        ({"propertyNames": {"maxLength": 2}}, {"abc": 1}, "$.abc must have at most 2 characters"),
        (
            {"properties": {"q": {"propertyNames": {"anyOf": [{"const": "a"}, {"const": "b"}]}}}},
            {"q": {"c": 1}},
            '$.q.c must be one of "a", "b"',
        ),
        ({"maximum": 1e30}, 1e31, "$ must be at most 1e+30"),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, "$ must have at most 1 property"),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}, "$.b is not a field here"),
        ({"properties": {"a": False}}, {"a": 1}, "$.a is not a field here"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "$[1] is beyond the last allowed item"),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
            4,
            "$ must match exactly one alternative, but matches several",
        ),
        ({"const": {"a": 1}}, 4, '$ must be one of {"a": 1}'),
        ({"enum": ["a", 1, None]}, "b", '$ must be one of "a", 1, null'),
        ({"type": "string", "enum": ["a", None]}, "b", '$ must be one of "a"'),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, "b", '$ must be one of "a", null'),
        ({"const": None}, "b", "$ must be null, not a string"),
        ({"type": ["string", "array", "null"]}, True, "$ must be a string or an array, not a boolean"),
        (
            {"anyOf": [{"type": "string"}, {"type": "array"}]},
            1,
            "$ must be a string or an array, not an integer",
        ),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, 1, '$ must be one of "a", "b"'),
        (
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
            [1, ""],
            "$[1] must be an integer, not a string",
        ),
        (KINDS, {"kind": "c"}, '$.kind must be one of "a", "b"'),
        (KINDS, {}, "$.kind is required and was left out"),
        (KINDS, {"kind": "b"}, "$.s is required and was left out"),
        (KINDS, {"kind": "b", "s": "", "t": 1}, "$.t is not a field here"),
        ({"$defs": {"T": {"type": "string"}}, "$ref": "#/$defs/T"}, 1, "$ must be a string, not an integer"),
        (False, 1, "$ cannot be valid: the schema allows no value here"),
    ],
)
def test_a_broken_rule_is_said_in_words(schema: Any, document: Json, text: str) -> None:
    assert str(one(schema, document)) == text


def test_the_keys_that_would_do_are_named_wherever_the_schema_stands() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/definitions/T"}},
        "definitions": {"T": {"properties": {"x": {}, "y": {}}, "additionalProperties": False}},
    }
    issue = one(schema, {"a": {"z": 1}})
    assert (issue.path, issue.allowed) == ("$.a.z", ("x", "y"))


def test_a_value_has_one_issue() -> None:
    assert one({"type": "string", "enum": ["a"], "minLength": 3}, 5).constraint == "invalid_enum_value"


def test_format_is_no_rule() -> None:
    assert Rules({"format": "date"}).issues("never") == ()


@pytest.mark.parametrize("document", [float("inf"), 10**400, "\ud800", {"\ud800": 1}, [[[]]] * 3])
def test_nothing_raises(document: Json) -> None:
    assert Rules({"type": "null"}).issues(document)


def nested(depth: int) -> Json:
    document: Json = 5
    for _ in range(depth):
        document = {"a": document}
    return document


ENDLESS: dict[str, Any] = {
    "anyOf": [
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "maxProperties": 3},
        {"type": "string"},
    ]
}


def test_alternatives_that_multiply_are_one_issue_of_the_document() -> None:
    assert one(ENDLESS, nested(4)).path == "$.a.a.a.a"
    assert str(one(ENDLESS, nested(14))) == (
        "$ does not match its schema, which has too many alternatives to locate the error"
    )


def unrolled(levels: int) -> dict[str, Any]:
    """Return alternatives inside alternatives, none of which leads back."""
    below: dict[str, Any] = {"type": "integer"}
    definitions = {}
    for number in range(levels):
        definitions[f"U{number}"] = {
            "anyOf": [
                {"type": "object", "properties": {"a": below, name: {}}, "required": ["a"]}
                for name in ("left", "right")
            ]
        }
        below = {"$ref": f"#/$defs/U{number}"}
    return {**below, "$defs": definitions}


@pytest.mark.parametrize("leaf", [5, "five"])
def test_attempts_that_multiply_are_not_made(leaf: Json) -> None:
    """Two branches a level, which are tried 2 to the power of 40 times."""
    document: Json = leaf
    for _ in range(40):
        document = {"a": document}
    assert one(unrolled(40), document) == TOO_COMPLEX


def test_few_alternatives_inside_one_another_are_tried() -> None:
    assert Rules(unrolled(8)).issues(nested(8)) == ()
    assert one(unrolled(8), nested(7)).path == "$" + ".a" * 7


def test_a_deep_document_that_fits_is_taken() -> None:
    document: Json = "leaf"
    for _ in range(60):
        document = {"a": document}
    assert Rules(ENDLESS).issues(document) == ()


ITEMS: dict[str, Any] = {"items": {"anyOf": [{"const": "a"}, {"const": 1}]}}


def test_a_long_list_has_an_issue_for_each_item() -> None:
    document: Json = [5 for _ in range(900)]
    assert len(Rules(ITEMS).issues(document)) == 900


def test_only_the_first_issues_are_built_and_the_others_counted() -> None:
    found = Rules(ITEMS).findings([5 for _ in range(900)], 20)
    assert (len(found.issues), found.more, found.is_counted) == (20, 880, False)


def test_issues_of_keys_and_of_their_values_are_all_counted() -> None:
    schema = {"propertyNames": {"maxLength": 1}, "additionalProperties": {"type": "string"}}
    found = Rules(schema).findings({f"key {number}": number for number in range(12)}, 20)
    assert (len(found.issues), found.more) == (20, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("document", [[5] * 20_000, {f"k{number}": 1 for number in range(5_000)}])
def test_the_errors_of_a_large_document_are_not_collected(document: Json) -> None:
    """Each holds a copy of its value: those of 5,000 keys take gigabytes."""
    schema = {**ITEMS, "propertyNames": {"maxLength": 1}}
    tracemalloc.start()
    try:
        issues = Rules(schema).issues(document)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [issue.message for issue in issues] == [
        "does not match its schema, and is too large to locate the error"
    ]
    assert peak_bytes < 1_000_000


class A(SchemaModel):
    kind: Literal["a"]
    n: int | None = None


class B(SchemaModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["b"]
    s: str


class Tree(SchemaModel):
    name: Annotated[str, Field(min_length=2, pattern="^[a-z]")]
    children: list[Tree] | None = None


class Left(SchemaModel):
    a: Left | Right | str
    b: str | None = None


class Right(SchemaModel):
    a: Left | Right | str
    c: int | None = None


TREE = {
    "$ref": "#/$defs/Tree",
    "$defs": {
        "Tree": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "pattern": "^[a-z]"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
            "required": ["name"],
        }
    },
}
MAP = {
    "type": "object",
    "propertyNames": {"pattern": "^x"},
    "additionalProperties": {"type": "number", "minimum": 0, "multipleOf": 0.5},
    "minProperties": 1,
}
MaybeText: TypeAlias = Nullable[str]
MaybeA: TypeAlias = Nullable[Literal["a"]]
MaybeAOr1: TypeAlias = Nullable[Literal["a"] | Literal[1]]
Tagged: Any = Annotated[A | B, Field(discriminator="kind")]
Map: Any = Annotated[
    dict[Annotated[str, Field(pattern="^x")], Annotated[float, Field(ge=0, multiple_of=0.5)]],
    Field(min_length=1),
]
MIXED = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}, *KINDS["anyOf"]]}

SAME: list[tuple[Any, Any, list[Json]]] = [
    (str, {"type": "string"}, [1, None, True, [], {}]),
    (int, {"type": "integer"}, ["1", 1.5, True, None]),
    (float, {"type": "number"}, ["1", False]),
    (MaybeText, {"type": ["string", "null"]}, [1]),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, ["c", 1, None]),
    (Literal[1, 2], {"enum": [1, 2]}, ["c", 3, True]),
    (Literal["a"] | Literal[1], {"enum": ["a", 1]}, ["c", 3, True]),
    (MaybeA, {"enum": ["a", None]}, ["c", 3]),
    (MaybeAOr1, {"anyOf": [{"enum": ["a"]}, {"enum": [1, None]}]}, ["c", 3]),
    (
        str | list[int],
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
        [1, [""]],
    ),
    (Tagged, KINDS, [{}, {"kind": "c"}, {"kind": 1}, {"kind": "b"}, {"kind": "a", "n": ""}, 3]),
    (
        A | B,
        KINDS,
        [{}, {"kind": "c"}, {"kind": "b"}, {"kind": "b", "s": "", "t": 1}, {"kind": "a", "n": ""}, 3],
    ),
    (str | list[int] | A | B, MIXED, [True, [1, ""], {"kind": "b", "s": 1}, {"kind": "a", "n": None}, {}]),
    (
        Tree,
        TREE,
        [{}, {"name": "a"}, {"name": "AB", "children": [{"name": 1}, {}]}, {"name": "ab", "children": {}}],
    ),
    (Map, MAP, [{}, {"a": 1}, {"x": -1}, {"x": 0.7}, {"x": "", "b": ""}, []]),
    (list[Literal["a"]], {"type": "array", "items": {"const": "a"}}, [["a", "b", 1]]),
]


@pytest.mark.exhaustive
def test_branches_that_multiply_are_one_issue_of_the_document() -> None:
    with pytest.raises(ValidationError) as caught:
        exact_adapter(Left).validator.validate_json(json.dumps(nested(13)))
    (issue,) = ForeignReader({}).issues(caught.value.errors(include_url=False))
    assert str(issue) == "$ does not match its schema, which has too many alternatives to locate the error"


@pytest.mark.parametrize(
    ("type_", "schema", "document"),
    first([(type_, schema, document) for type_, schema, documents in SAME for document in documents], 20),
)
def test_types_and_rules_say_the_same(type_: Any, schema: Any, document: Json) -> None:
    with pytest.raises(ValidationError) as caught:
        exact_adapter(type_).validator.validate_json(json.dumps(document))
    of_types = ForeignReader(schema).issues(caught.value.errors(include_url=False))
    of_rules = Rules(schema).issues(document)

    def texts(issues: tuple[FieldIssue, ...]) -> set[tuple[str, str, str]]:
        return {(issue.path, issue.constraint, issue.message) for issue in issues}

    assert texts(of_types) == texts(of_rules)


def test_a_match_that_backtracks_for_too_long_is_too_complex() -> None:
    rules = Rules({"pattern": "^(?:a(?!c)|a)+$"})
    assert rules.issues("aa") == ()
    assert [str(issue) for issue in rules.issues("b")] == ["$ must match ^(?:a(?!c)|a)+$"]
    assert rules.issues("a" * 40 + "!") == (TOO_COMPLEX,)


PLACE = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
SIZE = {
    "type": "object",
    "properties": {"b": {"type": "string"}},
    "required": ["b"],
    "additionalProperties": False,
}
LETTERS = {"enum": ["a", "b"]}


@pytest.mark.parametrize(
    ("branches", "value", "faults"),
    [
        (
            [{"items": {"type": "string"}, "type": "array"}, {"items": PLACE, "type": "array"}],
            [{"b": 1}],
            {"$.x[0].a is required and was left out", "$.x[0].b is not a field here"},
        ),
        (
            [{"properties": {"in": {"type": "string"}}}, {"properties": {"in": PLACE}}],
            {"in": {"b": 1}},
            {"$.x.in.a is required and was left out", "$.x.in.b is not a field here"},
        ),
        ([LETTERS, PLACE], "z", {'$.x must be one of "a", "b", or be an object'}),
        ([LETTERS, {"type": "string", "pattern": "^x"}], "z", {'$.x must be one of "a", "b", or match ^x'}),
        ([LETTERS, {"const": 1}, {"type": "null"}], "z", {'$.x must be one of "a", "b", 1, null'}),
    ],
    ids=["items", "properties", "or an object", "or a pattern", "values alone"],
)
def test_issues_of_a_union_are_those_of_the_branch_that_fits_best(
    branches: list[Any], value: Any, faults: set[str]
) -> None:
    """An object where a branch wants a text is no fit, however few its issues are."""
    for order in (branches, branches[::-1]):
        issues = Rules({"properties": {"x": {"anyOf": order}}}).issues({"x": value})
        assert len(issues) == len(faults)
        if order is branches:
            assert {str(issue) for issue in issues} == faults


def test_what_is_allowed_is_what_any_branch_allows() -> None:
    issues = Rules({"properties": {"x": {"anyOf": [PLACE, SIZE]}}}).issues({"x": {"z": 1}})
    assert [issue.allowed for issue in issues if issue.constraint == "unknown_field"] == [("a", "b")]
    (issue,) = Rules({"properties": {"x": {"anyOf": [LETTERS, PLACE]}}}).issues({"x": "z"})
    assert issue.allowed is None
