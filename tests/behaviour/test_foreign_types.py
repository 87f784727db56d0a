"""Types generated for schemas of others: each document is written as it was read."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.golden import write
from toolgen.codegen import generate
from toolgen.contract.json_value import Json
from toolgen.dsl import Args, Attribute, Design, JSONSchema, Service, Tool, Toolset, build
from toolgen.runtime import ToolValidationError
from toolgen.runtime.functions import Codec

PACKAGE = "foreign_types_gen"
OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
MAP = {"type": "object", "additionalProperties": OBJECT}
MIXED = {"type": "object", "properties": {"v": {"type": ["integer", "boolean"]}}, "required": ["v"]}


def _tagged(tag: str, **properties: Json) -> Json:
    return {"type": "object", "properties": {"type": {"const": tag}, **properties}, "required": ["type"]}


PROPERTIES: Mapping[str, Any] = {
    "nested": {"oneOf": [{"type": "string"}, {"type": "string", "minLength": 2}, OBJECT]},
    "pageSize": {"type": ["integer", "null"], "default": 10},
    "anyThing": {},
    "bool": {"type": "boolean"},
    "map": {"anyOf": [{"type": "string"}, MAP]},
    "maps": {"anyOf": [{"type": "string"}, {"type": "array", "items": MAP}]},
    "mixed": {"anyOf": [MIXED, {"type": "null"}, {"type": "string"}]},
    "few": {"type": "array", "items": {"type": "object", "additionalProperties": MAP, "maxProperties": 1}},
    "some": {"anyOf": [{**MAP, "minProperties": 1}, {"type": "null"}]},
    "large": {"enum": [1, 2**63]},
    "amount": {"type": "number", "default": 9007199254740993},
    "whole": {"type": "integer", "default": 3.0},
    "either": {"anyOf": [{"type": "integer"}, {"type": "number", "maximum": 10}]},
    "amounts": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
    "shape": {"oneOf": [_tagged("dot", x={"type": "number"}), _tagged("line", to={"type": "number"})]},
    "tree": {
        "type": "array",
        "items": {
            "anyOf": [{"type": "array", "items": {"$ref": "#/properties/tree"}}, {"$ref": "#/$defs/N"}]
        },
    },
}
SCHEMA = {
    "type": "object",
    "properties": PROPERTIES,
    "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}},
}


@pytest.fixture(scope="module")
def codec(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codec[Any]]:
    tool = Tool("search", "Searches.", Args(JSONSchema(SCHEMA)))
    evaluation = build(Design("d", "D.", Service("others", "Theirs.", Toolset("ts", "Tools.", tool))))
    assert evaluation.design is not None, evaluation.diagnostics
    folder: Path = tmp_path_factory.mktemp("types")
    texts = generate(evaluation.design, module="d")
    write(folder, {f"{PACKAGE}/{path}": text for path, text in texts.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        yield importlib.import_module(f"{PACKAGE}.others.toolsets.ts").SPECS[0].payload
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "document",
    [
        {"nested": {"n": 1, "more": None}},
        {"page_size": 3},
        {"page_size": 3, "pageSize": None},
        {"any_thing": None, "bool_": "x"},
        {"\0page_size": 1, "page_size": 2},
        {"map": {"a": {"n": 1, "more": True}}},
        {"maps": [{"a": {"n": 1}}]},
        {"mixed": {"v": True}},
        {"mixed": {"v": 1}},
        {"few": [{"a": {}}], "some": None},
        {"large": 2**63},
        {"amount": 42},
        {"amount": 42.0},
        {"amount": 2**53 + 1},
        {"either": 5},
        {"either": 5.0},
        {"either": 11},
        {"amounts": {"a": 1, "b": 1.0, "c": None}},
        {"shape": {"type": "dot", "x": 1}},
        {"shape": {"type": "line", "to": 1.0}},
        {"tree": [{"next": {"next": {}}}, [[{}]]]},
    ],
)
def test_a_document_is_written_as_it_was_read(codec: Codec[Any], document: dict[str, Json]) -> None:
    written = json.loads(codec.encode(codec.decode(document)))
    assert json.dumps(written, sort_keys=True) == json.dumps(document, sort_keys=True)


def test_a_default_of_a_number_is_the_one_of_the_schema(codec: Codec[Any]) -> None:
    value = codec.decode("{}")
    assert (type(value.amount), value.amount) == (int, 9007199254740993)
    assert (type(value.whole), value.whole) == (int, 3)


@pytest.mark.parametrize("document", [{"few": [{"a": {}, "b": {}}]}, {"some": {}}, {"large": 2**63 + 1}])
def test_what_the_schema_refuses_is_refused(codec: Codec[Any], document: dict[str, Json]) -> None:
    with pytest.raises(ToolValidationError):
        codec.decode(document)


def test_a_map_whose_keys_and_values_have_limits_is_a_type() -> None:
    values = {"anyOf": [{"type": "string", "maxLength": 512}, {"type": "number"}]}
    schema = {"type": "object", "additionalProperties": values, "propertyNames": {"maxLength": 64}}
    tool = Tool("search", "Searches.", Args(Attribute("notes", JSONSchema(schema), "Notes.")))
    evaluation = build(Design("d", "D.", Service("others", "Theirs.", Toolset("ts", "Tools.", tool))))
    assert evaluation.design is not None
    texts = generate(evaluation.design, module="d")
    assert any("max_length=512" in text and "max_length=64" in text for text in texts.values())
