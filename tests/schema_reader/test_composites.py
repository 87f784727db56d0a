"""Arrays, objects, unions and merged schemas in the normal form."""

from __future__ import annotations

from typing import Any

import pytest

from .reader import foreign, node

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}


def array(**words: Any) -> dict[str, Any]:
    return {"type": "array", **words}


def object_(properties: dict[str, Any], required: list[str] | None = None, **words: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or [], **words}


FREE = {"type": "object", "additionalProperties": {}}

EXACT: list[tuple[Any, Any]] = [
    (array(), array(items={})),
    (array(items=STRING, minItems=1), array(items=STRING, minItems=1)),
    (array(items=False), array(items={}, maxItems=0)),
    (array(uniqueItems=True, maxItems=1), array(items={}, maxItems=1)),
    (array(contains={}), array(items={}, minItems=1)),
    ({"type": "object"}, FREE),
    (object_({}, additionalProperties=STRING), {"type": "object", "additionalProperties": STRING}),
    (
        {"type": "object", "propertyNames": {"pattern": "^a"}, "minProperties": 1},
        {**FREE, "propertyNames": {"type": "string", "pattern": "^a"}, "minProperties": 1},
    ),
    ({"type": "object", "propertyNames": {"type": "string"}}, FREE),
    (
        {"type": "object", "patternProperties": {"^x-": INTEGER}, "additionalProperties": False},
        {
            "type": "object",
            "additionalProperties": INTEGER,
            "propertyNames": {"type": "string", "pattern": "^x-"},
        },
    ),
    ({"$ref": "#/$defs/Point"}, {"$ref": "#/$defs/RootPoint"}),
    ({"allOf": [{"$ref": "#/$defs/Point"}]}, {"$ref": "#/$defs/RootPoint"}),
    ({"anyOf": [{"$ref": "#/$defs/Point"}, NULL]}, {"anyOf": [{"$ref": "#/$defs/RootPoint"}, NULL]}),
    ({"$ref": "#/$defs/Text", "maxLength": 3}, {**STRING, "minLength": 1, "maxLength": 3}),
    ({"allOf": [{"minLength": 2}, {"minLength": 1}], **STRING}, {**STRING, "minLength": 2}),
    ({"allOf": [{"type": ["integer", "null"]}, {"type": "number"}]}, INTEGER),
    ({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], **INTEGER}, {**INTEGER, "multipleOf": 12}),
    ({"anyOf": [NULL, STRING, {"anyOf": [INTEGER]}]}, {"anyOf": [STRING, INTEGER, NULL]}),
    ({"anyOf": [{"const": "a"}, {"enum": ["b", "a"]}]}, {"enum": ["a", "b"]}),
    ({"anyOf": [STRING, {}]}, {}),
    ({"anyOf": [STRING, False]}, STRING),
    (
        {**STRING, "anyOf": [{"maxLength": 1}, {"minLength": 3}]},
        {"anyOf": [{**STRING, "maxLength": 1}, {**STRING, "minLength": 3}]},
    ),
    ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"enum": ["a", "b"]}),
    ({"oneOf": [STRING, INTEGER]}, {"anyOf": [STRING, INTEGER]}),
]


@pytest.mark.parametrize(("schema", "expected"), EXACT)
def test_a_composite_is_held_exactly(schema: Any, expected: Any) -> None:
    assert node(schema) == (expected, True)


WIDER: list[tuple[Any, Any]] = [
    (array(items=STRING, uniqueItems=True), array(items=STRING)),
    (array(prefixItems=[STRING, INTEGER]), array(items={})),
    (
        array(prefixItems=[STRING, INTEGER], items=False),
        array(items={"anyOf": [STRING, INTEGER]}, maxItems=2),
    ),
    (array(contains=STRING), array(items={})),
    ({"type": "object", "patternProperties": {"a": STRING}}, FREE),
    ({"oneOf": [INTEGER, {"type": "number"}]}, {"anyOf": [INTEGER, {"type": "number"}]}),
    ({"oneOf": [STRING, STRING]}, STRING),
    ({"allOf": [{"pattern": "a"}, {"pattern": "b"}], **STRING}, {**STRING, "pattern": "a"}),
    ({"allOf": [STRING, INTEGER]}, {}),
    (array(items={"$ref": "#/properties/x"}), array(items={})),
]


@pytest.mark.parametrize(("schema", "expected"), WIDER)
def test_what_types_cannot_hold_is_wider_and_said_so(schema: Any, expected: Any) -> None:
    assert node(schema) == (expected, False)


CLASSES: list[tuple[Any, Any]] = [
    (object_({"a": STRING}), object_({"a": STRING}, additionalProperties=True)),
    (
        object_({"a": STRING}, ["b", "a"], additionalProperties=False),
        object_({"a": STRING, "b": {}}, ["b", "a"], additionalProperties=False),
    ),
    (object_({}, ["a"]), object_({"a": {}}, ["a"], additionalProperties=True)),
    (object_({}, additionalProperties=False), object_({}, additionalProperties=False)),
    (
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": STRING},
        object_({"a": STRING, "b": STRING}, additionalProperties=False),
    ),
    (
        {"allOf": [object_({"a": STRING}, ["a"]), object_({"b": INTEGER})]},
        object_({"a": STRING, "b": INTEGER}, ["a"], additionalProperties=True),
    ),
    (
        {"allOf": [object_({"a": STRING}, additionalProperties=False), object_({"a": {}, "b": INTEGER})]},
        object_({"a": STRING}, additionalProperties=False),
    ),
    (
        {"allOf": [object_({"a": STRING})], "unevaluatedProperties": False},
        object_({"a": STRING}, additionalProperties=False),
    ),
    (
        object_({"a": STRING}, minProperties=0, maxProperties=3, additionalProperties=False),
        object_({"a": STRING}, additionalProperties=False),
    ),
    (
        object_({"a": STRING}, description="Says a."),
        object_({"a": STRING}, additionalProperties=True, description="Says a."),
    ),
]


@pytest.mark.parametrize(("schema", "expected"), CLASSES)
def test_an_object_is_a_class(schema: Any, expected: Any) -> None:
    read = foreign(schema)
    assert read.root == {"$ref": "#/$defs/Root"}
    exact = schema.get("required") != ["b", "a"]  # a required key that a closed object does not have
    assert (read.classes["Root"], read.is_exact) == (expected, exact)


@pytest.mark.parametrize(
    "words",
    [
        {"additionalProperties": INTEGER},
        {"patternProperties": {"^a": STRING}},
        {"propertyNames": {"maxLength": 3}},
        {"minProperties": 1},
        {"maxProperties": 2},
        {"dependentRequired": {"a": ["b"]}},
        {"dependentSchemas": {"a": {"required": ["b"]}}},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"not": {"required": ["a", "b"]}},
    ],
)
def test_a_class_leaves_out_what_it_cannot_hold(words: dict[str, Any]) -> None:
    read = foreign({**object_({"a": STRING, "b": STRING}), **words})
    assert not read.is_exact
    assert read.classes["Root"] == object_({"a": STRING, "b": STRING}, additionalProperties=True)


def test_objects_are_named_after_their_place() -> None:
    item = object_({"x": INTEGER})
    schema = object_(
        {
            "filter": item,
            "rows": array(items=object_({"y": STRING})),
            "either": {
                "anyOf": [
                    {**item, "title": "by name"},
                    object_({"kind": {"const": "all"}}, ["kind"]),
                    object_({"z": {}}),
                ]
            },
            "same": {"$ref": "#/properties/filter"},
            "point": {"$ref": "#/definitions/the point"},
            "filter_": item,
        },
        definitions={"the point": item},
    )
    read = foreign(schema)
    assert list(read.classes) == [
        "Root",
        "RootFilter",
        "RootRows",
        "RootEitherByName",
        "RootEitherAll",
        "RootEither3",
        "RootThePoint",
        "RootFilter2",
    ]
    assert read.classes["Root"]["properties"]["same"] == {"$ref": "#/$defs/RootFilter"}


def test_objects_told_apart_by_a_constant_are_tagged() -> None:
    def branch(kind: str) -> dict[str, Any]:
        return object_({"kind": {"const": kind}}, ["kind"])

    union, exact = node({"oneOf": [branch("a"), branch("b"), NULL]})
    assert exact
    assert union["discriminator"] == "kind"
    assert "discriminator" not in node({"anyOf": [branch("a"), branch("a")]})[0]


def test_one_of_is_exact_where_a_closed_object_refuses_what_the_other_requires() -> None:
    by_id = object_({"id": INTEGER}, ["id"], additionalProperties=False)
    by_name = object_({"name": STRING}, ["name"], additionalProperties=False)
    assert node({"oneOf": [by_id, by_name]})[1]
    assert not node({"oneOf": [{**by_id, "required": []}, {**by_name, "required": []}]})[1]


def test_objects_may_refer_to_themselves() -> None:
    tree = object_({"value": STRING, "children": array(items={"$ref": "#/$defs/Tree"})}, ["value"])
    read = foreign({"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}})
    assert read.is_exact
    assert read.classes["Root"]["properties"]["children"] == array(items={"$ref": "#/$defs/Root"})


def test_a_union_may_hold_objects_that_hold_it() -> None:
    filter_ = {
        "oneOf": [
            object_({"op": {"const": "and"}, "of": array(items={"$ref": "#/$defs/Filter"})}, ["op"]),
            object_({"op": {"const": "eq"}}, ["op"]),
        ]
    }
    read = foreign({"$ref": "#/$defs/Filter", "$defs": {"Filter": filter_}})
    assert read.is_exact
    assert read.classes["RootAnd"]["properties"]["of"]["items"] == read.root


def test_doubling_definitions_do_not_grow_without_end() -> None:
    def level(number: int) -> dict[str, Any]:
        inner = {"$ref": f"#/$defs/d{number + 1}"}
        return {"anyOf": [array(items=inner), {"type": "object", "additionalProperties": inner}]}

    definitions = {**{f"d{number}": level(number) for number in range(40)}, "d40": STRING}
    read = foreign({"$ref": "#/$defs/d0", "$defs": definitions})
    assert not read.is_exact
    assert len(repr(read.root)) < 1_000_000
