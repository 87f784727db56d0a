"""The form of a schema of somebody else: known keywords, clean texts, names and values as they are."""

from __future__ import annotations

from typing import Any

import pytest

from toolgen.contract.printable import hides
from toolgen.shapes.foreign.normal_form import KEYWORDS, UnsafeError, normal_form, safe_text
from toolgen.shapes.foreign.reader import keywords


def test_every_keyword_that_is_read_is_known() -> None:
    read = {
        *keywords.CONSTRAINTS,
        *keywords.ANNOTATIONS,
        *keywords.ONE_SCHEMA,
        *keywords.SEVERAL,
        *keywords.NAMED,
    }
    assert read <= KEYWORDS


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {
            "type": ["string", "null"],
            "enum": ["a\tb", "👨‍👩‍👧", "❤️", "می‌خواهم", "\u00a0", None, 1],
            "default": "a\n",
        },
        {
            "properties": {"title": {"enum": ["x"]}, "x-a": {"minimum": 3}, "const": False},
            "required": ["x-a"],
        },
        {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"items": [{"type": "array"}], "additionalItems": False}}},
        {
            "properties": {"⚙️ Status": {}, "👨‍👩‍👧": {}, "می‌خواهم": {}, "全角\u3000名": {}, "10\u202fkm": {}},
            "required": ["⚙️ Status"],
            "$defs": {"❤️": {}},
            "allOf": [{"$ref": "#/$defs/❤️"}],
        },
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}, "dependentRequired": {"a": ["b"]}},
        {"patternProperties": {"^[^\\s]+$": {"pattern": "\\d{3}"}}, "propertyNames": {"format": "uuid"}},
        {"if": {"const": {"x-y": 1}}, "then": {"not": {}}, "else": {"oneOf": [{"x-minimum": "2026-01-01"}]}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://a.example", "$anchor": "a"},
    ],
)
def test_what_is_known_and_seen_stays(schema: Any) -> None:
    assert normal_form(schema) == schema
    if isinstance(schema, dict):
        assert list(normal_form(schema)) == list(schema)


@pytest.mark.parametrize(
    ("schema", "normal"),
    [
        ({"x-a": 1, "type": "object", "markdownDescription": "m", "$comment": "c"}, {"type": "object"}),
        ({"title": 3, "description": {"of": "text"}, "examples": {}}, {}),
        (
            {"properties": {"a": {"description": " a\u200b\nb "}}},
            {"properties": {"a": {"description": "a\\u200b\nb"}}},
        ),
        ({"default": "a\u202e", "examples": ["\x1b", {"\u2066": 1}], "format": "\u200b"}, {}),
        ({"pattern": "[\u202a-\u202e\\\\]"}, {"pattern": "[\\u202a-\\u202e\\\\]"}),
        ({"description": "x" * 5_000}, {"description": "x" * 4_096 + "…"}),
        (
            {"$ref": "#/components/a%20b", "components": {"a b": {"$ref": "#/x"}, "c": 1}, "x": {"y": 1}},
            {"$ref": "#/components/a%20b", "components": {"a b": {"$ref": "#/x"}}, "x": {}},
        ),
        (
            {"$ref": "#/x/0", "x": [{"title": "a\u200b", "y": 1}]},
            {"$ref": "#/x/0", "x": [{"title": "a\\u200b"}]},
        ),
        ({"$ref": "#/nowhere/else"}, {"$ref": "#/nowhere/else"}),
    ],
)
def test_what_is_not_is_left_out_or_escaped(schema: Any, normal: Any) -> None:
    assert normal_form(schema) == normal


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": {"a\u200b": {}}}, "/properties/a"),
        ({"properties": {"a\n": {}}}, "/properties/a"),
        ({"properties": {"a\tb": {}}}, "/properties/a"),
        ({"properties": {"a" * 300: {}}}, "/properties/aaa"),
        ({"required": ["a\u2066"]}, "/required"),
        ({"dependentRequired": {"a": ["\u2066"]}}, "/dependentRequired"),
        ({"dependencies": {"a": ["\u2066"]}}, "/dependencies/a"),
        ({"items": {"enum": ["a", "b\U000e0041"]}}, "/items/enum"),
        ({"const": {"a\u200b": 1}}, "/const"),
        ({"enum": ["x" * 5_000]}, "/enum"),
        ({"pattern": "\\\u202e"}, "/pattern"),
        ({"patternProperties": {"\U000e0041": {}}}, "/patternProperties/"),
        ({"pattern": "x" * 5_000}, "/pattern"),
        ({"type": "a\u200b"}, "/type"),
        ({"$ref": "#/a\u200b"}, "/$ref"),
        ({"$ref": "#/x/a%E2%80%8B", "x": {"a\u200b": {}}}, "/x/a"),
        ({"allOf": [{}, {"anyOf": [{"const": "\x00"}]}]}, "/allOf/1/anyOf/0/const"),
    ],
)
def test_a_name_or_a_value_that_nobody_sees_in_full_is_refused(schema: Any, place: str) -> None:
    with pytest.raises(UnsafeError) as refused:
        normal_form(schema)
    assert refused.value.pointer.startswith(place)
    assert not hides(str(refused.value))
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See https://a.example or http://b.example: fine.", None),
        ("Note: this. Times 10:30, a::b, C:\\x, key:value, data: none", None),
        ("[x](javascript:alert(1))", "[x]([no web page] javascript:alert(1))"),
        (
            "JavaScript:void(0) ftp://h/ vscode://x",
            "[no web page] JavaScript:void(0) [no web page] ftp://h/ [no web page] vscode://x",
        ),
        ("data:text/html,hi", "[no web page] data:text/html,hi"),
    ],
)
def test_addresses_of_no_web_page_are_marked(text: str, shown: str | None) -> None:
    assert safe_text(text) == (text if shown is None else shown)


def test_a_deep_schema_is_left_to_its_reader() -> None:
    schema: Any = {}
    for _ in range(3_000):
        schema = {"items": schema}
    assert normal_form(schema)
