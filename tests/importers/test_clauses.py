"""A normal form in words: what each node becomes, and which cannot be said."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import pytest

from toolgen.importers.clauses import ClauseSource, WrittenClauses
from toolgen.importers.clauses_built import NotExpressibleError, check_tool
from toolgen.importers.clauses_layout import Text, call, flat, literal, pattern, string
from toolgen.importers.design_types import TypeTable
from toolgen.importers.names import DesignNames, identifier, is_type_name

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}
URI = {"type": "string", "format": "uri"}


def closed(properties: Mapping[str, object], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/FindPayload{name}"}


def written(
    properties: Mapping[str, object], *required: str, typed: bool = False, **classes: Any
) -> WrittenClauses:
    named = {f"FindPayload{name}": class_ for name, class_ in classes.items()}
    shape = ClauseSource(
        root={"$ref": "#/$defs/FindPayload"},
        classes={"FindPayload": closed(properties, *required), **named},
        formats_are_types=typed,
    )
    found = TypeTable(DesignNames()).write(shape, "FindPayload")
    tool = call("Tool", literal("find"), Text("Find."), call("Args", *found.parts))
    check_tool("tools", tool, [(type_.name, type_.text) for type_ in found.types])
    return found


def attribute(node: object, **classes: Any) -> str:
    """Return the attribute `x` as it stands in Args."""
    (part,) = written({"x": node}, **classes).parts
    return flat(part)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ({}, 'd.Attribute("x", d.Any, None)'),
        (STRING, 'd.Attribute("x", d.String, None)'),
        ({"type": "boolean"}, 'd.Attribute("x", d.Boolean, None)'),
        (INTEGER, 'd.Attribute("x", d.Int, None)'),
        (
            {"type": "number", "exclusiveMinimum": 0.5},
            'd.Attribute("x", d.Float, None, exclusive_minimum=0.5)',
        ),
        (
            {**STRING, "minLength": 1, "maxLength": 9},
            'd.Attribute("x", d.String, None, min_length=1, max_length=9)',
        ),
        ({**STRING, "pattern": r"^\d+$"}, r'd.Attribute("x", d.String, None, pattern=r"^\d+$")'),
        ({"enum": ["on", "off"]}, 'd.Attribute("x", d.String, None, enum=("on", "off"))'),
        ({"enum": ["3d"]}, 'd.Attribute("x", d.String, None, enum=("3d",))'),
        ({"enum": [1, 2]}, 'd.Attribute("x", d.Int, None, enum=(1, 2))'),
        ({"anyOf": [STRING, NULL]}, 'd.Attribute("x", d.Nullable(d.String), None)'),
        (
            {"anyOf": [{"enum": ["a"]}, NULL], "default": None},
            'd.Attribute("x", d.Nullable(d.String(enum=("a",))), None, default=None)',
        ),
        (
            {"type": "array", "items": {**STRING, "minLength": 1}, "maxItems": 3},
            'd.Attribute("x", d.ArrayOf(d.String(min_length=1)), None, max_length=3)',
        ),
        (
            {"type": "object", "additionalProperties": INTEGER, "propertyNames": {**STRING, "pattern": "^a"}},
            'd.Attribute("x", d.MapOf(d.String(pattern="^a"), d.Int), None)',
        ),
        ({"type": "object", "additionalProperties": {}}, 'd.Attribute("x", d.MapOf(d.String, d.Any), None)'),
    ],
)
def test_a_node_has_a_word(node: dict[str, Any], text: str) -> None:
    assert attribute(node) == text


@pytest.mark.parametrize(
    ("node", "schema"),
    [
        (URI, '{"type": "string", "format": "uri"}'),
        ({"anyOf": [STRING, INTEGER]}, '{"type": ["string", "integer"]}'),
        ({"anyOf": [{"enum": ["a"]}, {"enum": [1]}]}, '{"enum": ["a", 1]}'),
        ({"enum": [True]}, '{"enum": [True]}'),
        (NULL, '{"type": "null"}'),
        ({"type": "array", "items": URI}, '{"type": "array", "items": {"type": "string", "format": "uri"}}'),
        ({"type": "number", "multipleOf": 3}, '{"type": "number", "multipleOf": 3}'),
        ({**INTEGER, "minimum": 5, "maximum": 3}, '{"type": "integer", "minimum": 5, "maximum": 3}'),
    ],
)
def test_what_has_no_word_stands_as_a_small_schema(node: dict[str, Any], schema: str) -> None:
    assert attribute(node) == f'd.Attribute("x", d.JSONSchema({schema}), None)'


@pytest.mark.parametrize(
    ("node", "schema"),
    [
        ({"anyOf": [URI, NULL]}, '{"type": "string", "format": "uri"}'),
        ({"anyOf": [STRING, INTEGER, NULL]}, '{"type": ["string", "integer"]}'),
        ({"anyOf": [{"enum": ["a"]}, {"enum": [1]}, NULL]}, '{"enum": ["a", 1]}'),
    ],
)
def test_null_beside_a_small_schema_is_a_word(node: dict[str, Any], schema: str) -> None:
    assert attribute(node) == f'd.Attribute("x", d.Nullable(d.JSONSchema({schema})), None)'


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"description": "The limit."}, 'd.Attribute("x", d.Int, "The limit.")'),
        ({"title": "Limit"}, 'd.Attribute("x", d.Int, None, title="Limit")'),
        ({"title": "Limit", "description": "Most."}, 'd.Attribute("x", d.Int, "Most.", title="Limit")'),
        ({"title": "X", "description": "Most."}, 'd.Attribute("x", d.Int, "Most.")'),
        ({"default": 5.0}, 'd.Attribute("x", d.Int, None, default=5)'),
        ({"examples": [1, 2]}, 'd.Attribute("x", d.Int, None, examples=(1, 2))'),
        ({"deprecated": True}, 'd.Attribute("x", d.Int, None, deprecated=True)'),
    ],
)
def test_facts_of_an_attribute_are_keywords(facts: dict[str, Any], text: str) -> None:
    assert attribute({**INTEGER, **facts}) == text


def test_a_required_attribute_has_no_default() -> None:
    (part,) = written({"x": {**INTEGER, "default": 5}}, "x").parts
    assert flat(part) == 'd.Attribute("x", d.Int, None, required=True)'


@pytest.mark.parametrize(
    ("format_", "type_"),
    [
        ("date-time", "DateTime"),
        ("date", "Date"),
        ("duration", "Duration"),
        ("uuid", "Uuid"),
        ("uri", "Url"),
    ],
)
def test_formats_are_types_where_the_source_says_so(format_: str, type_: str) -> None:
    (part,) = written({"x": {**STRING, "format": format_}}, typed=True).parts
    assert flat(part) == f'd.Attribute("x", d.{type_}, None)'


def test_formats_of_strings_are_formats_where_the_source_says_so() -> None:
    (part,) = written({"x": {**STRING, "format": "email"}}, typed=True).parts
    assert flat(part) == 'd.Attribute("x", d.String, None, format="email")'


@pytest.mark.parametrize(
    ("format_", "default"), [("date", "2026-02-31"), ("email", "nobody"), ("uri", "/path"), ("uuid", "1")]
)
def test_a_default_that_the_type_cannot_hold_is_left_out_and_said(format_: str, default: str) -> None:
    found = written({"x": {**STRING, "format": format_, "default": default}}, typed=True)
    assert "default" not in flat(found.parts[0])
    assert len(found.lost_keywords) == 1


@pytest.mark.parametrize(
    ("node", "default"),
    [
        ({"anyOf": [{**STRING, "format": "date"}, NULL]}, None),
        ({"type": "array", "items": {**STRING, "format": "date"}}, []),
        ({**STRING, "format": "email"}, "ann@example.org"),
        (URI, "https://example.org"),
        (STRING, "a"),
    ],
)
def test_a_default_that_the_type_can_hold_is_kept(node: dict[str, Any], default: object) -> None:
    found = written({"x": {**node, "default": default}}, typed=True)
    assert "default=" in flat(found.parts[0])
    assert found.lost_keywords == ()


def test_an_object_that_is_used_once_stands_in_its_place() -> None:
    inner = {**closed({"a": INTEGER}, "a"), "additionalProperties": True}
    text = 'd.Attribute("x", d.Object(d.Attribute("a", d.Int, None, required=True), open=True), None)'
    assert attribute(ref("X"), X=inner) == text


def test_an_object_that_is_used_twice_is_a_type() -> None:
    inner = {**closed({"a": INTEGER}), "description": "A user."}
    found = written({"x": ref("User"), "y": {"type": "array", "items": ref("User")}}, User=inner)
    assert [flat(part) for part in found.parts] == [
        'd.Attribute("x", User, None)',
        'd.Attribute("y", d.ArrayOf(User), None)',
    ]
    assert [flat(type_.text) for type_ in found.types] == [
        'd.Type("User", "A user.", d.Attribute("a", d.Int, None))'
    ]


def test_a_type_that_leads_back_to_itself_names_itself_in_quotes() -> None:
    node = closed({"parts": {"type": "array", "items": ref("Node")}})
    found = written({"x": ref("Node")}, Node=node)
    assert flat(found.parts[0]) == 'd.Attribute("x", Node, None)'
    assert flat(found.types[0].text) == 'd.Type("Node", None, d.Attribute("parts", d.ArrayOf("Node"), None))'


def test_types_stand_behind_those_that_they_name_by_value() -> None:
    found = written(
        {"a": ref("Outer"), "b": ref("Outer"), "c": ref("Inner")},
        Outer=closed({"inner": ref("Inner")}),
        Inner=closed({"a": INTEGER}),
    )
    assert [type_.name for type_ in found.types] == ["Inner", "Outer"]


def test_types_that_lead_to_each_other_are_named_in_quotes_once() -> None:
    found = written(
        {"a": ref("Left")},
        Left=closed({"right": ref("Right")}),
        Right=closed({"left": ref("Left")}),
    )
    assert [flat(type_.text) for type_ in found.types] == [
        'd.Type("Right", None, d.Attribute("left", "Left", None))',
        'd.Type("Left", None, d.Attribute("right", Right, None))',
    ]


def test_a_tagged_union_is_one_of_its_branches() -> None:
    branches = {
        "Stop": closed({"kind": {"enum": ["stop"]}}, "kind"),
        "Wait": closed({"kind": {"enum": ["wait"]}, "seconds": INTEGER}, "kind"),
    }
    node = {"anyOf": [ref("Stop"), ref("Wait"), NULL], "discriminator": "kind"}
    text = 'd.OneOf("kind", stop=d.Object(), wait=d.Object(d.Attribute("seconds", d.Int, None)))'
    assert attribute(node, **branches) == f'd.Attribute("x", d.Nullable({text}), None)'


def test_a_branch_whose_tag_is_no_identifier_stands_in_a_dict() -> None:
    branches = {
        "A": closed({"kind": {"enum": ["a-b"]}}, "kind"),
        "B": closed({"kind": {"enum": ["class"]}}, "kind"),
    }
    node = {"anyOf": [ref("A"), ref("B")], "discriminator": "kind"}
    text = 'd.OneOf("kind", **{"a-b": d.Object(), "class": d.Object()})'
    assert attribute(node, **branches) == f'd.Attribute("x", {text}, None)'


def test_a_branch_that_leads_back_to_its_union_is_a_type_without_the_tag() -> None:
    union = {"anyOf": [ref("And"), ref("Not")], "discriminator": "op"}
    found = written(
        {"x": union},
        And=closed({"op": {"enum": ["and"]}, "of": {"type": "array", "items": union}}, "op"),
        Not=closed({"op": {"enum": ["not"]}}, "op"),
    )
    assert flat(found.parts[0]) == 'd.Attribute("x", d.OneOf("op", **{"and": And, "not": Not}), None)'
    assert [type_.name for type_ in found.types] == ["Not", "And"]
    assert flat(found.types[0].text) == 'd.Type("Not", None)'
    assert flat(found.types[1].text).startswith(
        'd.Type("And", None, d.Attribute("of", d.ArrayOf(d.OneOf("op", '
    )


@pytest.mark.parametrize(
    ("properties", "classes"),
    [
        ({"fooBar": STRING, "foo_bar": STRING}, {}),
        ({"a b": STRING}, {}),
        ({"": STRING}, {}),
        ({"x": {"anyOf": [ref("A"), STRING]}}, {"A": closed({"a": STRING})}),
        ({"x": {"anyOf": [{"enum": ["long" * 20, "text" * 20]}, {"enum": [10**40, 10**41]}]}}, {}),
        ({"x": ref("A")}, {"A": closed({"a": ref("A")}, "a")}),
        (
            {"x": {"anyOf": [ref("A"), ref("B")], "discriminator": "k"}},
            {"A": closed({"k": {"enum": ["a", "b"]}}, "k"), "B": closed({"k": {"enum": ["c"]}}, "k")},
        ),
    ],
    ids=["clash", "space", "empty", "untagged", "long", "infinite", "tags"],
)
def test_what_words_cannot_say_is_refused(properties: dict[str, Any], classes: dict[str, Any]) -> None:
    with pytest.raises(NotExpressibleError):
        written(properties, **classes)


def test_types_that_nest_too_deep_are_refused() -> None:
    classes: dict[str, Any] = {f"C{depth}": closed({"next": ref(f"C{depth + 1}")}) for depth in range(60)}
    with pytest.raises(NotExpressibleError, match="nested deeper than"):
        written({"x": ref("C0")}, **classes, C60=closed({"a": STRING}))


def test_two_tools_share_a_type_that_is_the_same() -> None:
    table = TypeTable(DesignNames())
    for tool in ("Find", "Load"):
        user = {"$ref": f"#/$defs/{tool}PayloadUser"}
        classes = {
            f"{tool}Payload": closed({"a": user, "b": user}),
            f"{tool}PayloadUser": closed({"id": STRING}),
        }
        shape = ClauseSource(root={"$ref": f"#/$defs/{tool}Payload"}, classes=classes)
        table.add(table.write(shape, f"{tool}Payload"))
    assert [type_.name for type_ in table.types] == ["User"]


def test_a_second_type_of_one_name_is_called_after_its_tool() -> None:
    table = TypeTable(DesignNames())
    for tool, key in (("Find", "id"), ("Load", "name")):
        user = {"$ref": f"#/$defs/{tool}PayloadUser"}
        classes = {
            f"{tool}Payload": closed({"a": user, "b": user}),
            f"{tool}PayloadUser": closed({key: STRING}),
        }
        shape = ClauseSource(root={"$ref": f"#/$defs/{tool}Payload"}, classes=classes)
        table.add(table.write(shape, f"{tool}Payload"))
    assert [type_.name for type_ in table.types] == ["User", "LoadPayloadUser"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_user", "get_user"),
        ("math.factorial", "math_factorial"),
        ("API-patch-page", "api_patch_page"),
        ("getUser", "get_user"),
        ("3d.render", "tool_3_d_render"),
        ("_private", "private"),
        ("café_ouvert", "cafe_ouvert"),
        ("获取_user", "user"),
        ("获取", "tool"),
    ],
)
def test_the_name_of_a_tool_is_an_identifier(name: str, expected: str) -> None:
    assert identifier(name, "tool") == expected


def test_tools_that_become_one_name_are_numbered() -> None:
    wanted = ["get_user", "get__user", "get_user", "a" * 64, "a" * 64]
    names = DesignNames().assign_all({f"tool {at}": [name] for at, name in enumerate(wanted)})
    assert [*names.values()] == [
        "get_user",
        "get__user_2",
        "get_user_3",
        "a" * 64,
        "a" * 62 + "_2",
    ]


def test_a_type_is_called_like_no_word_of_the_language() -> None:
    assert not is_type_name("Object")
    assert not is_type_name("None")
    assert is_type_name("User")


@pytest.mark.parametrize("text", ["plain", 'a "b"', "it's", "both ' and \"", "\\d\n\t\x00\x7f\u2028é", "🙂"])
def test_literals_read_back_as_they_were(text: str) -> None:
    assert ast.literal_eval(string(text)) == text
    assert ast.literal_eval(pattern(text)) == text
    assert ast.literal_eval(flat(literal([text, {text: None}]))) == [text, {text: None}]


def test_a_long_text_stands_in_pieces_behind_spaces_and_line_feeds() -> None:
    text = "One line.\n\n" + "word " * 40
    written = flat(Text(text))
    assert ast.literal_eval(f"({written})") == text
    first, *others = written.split('" "')
    assert first == '"One line.\\n\\n'
    assert max(map(len, others)) <= 72
