"""Random schemas with rules that no type holds: codecs, which check what types leave, accept the same."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.conformance import oracle
from tests.conformance.agreement import compare
from tests.golden import write
from tests.selection import volume
from toolgen.codegen import generate
from toolgen.dsl import Args, Design, JSONSchema, Return, Service, Tool, Toolset, build

BATCHES, TOOLS, DOCUMENTS = volume(2, lab=40), 25, 40
KEYS = ("a", "b", "c-d", "id", "x")
LEAVES: tuple[dict[str, Any], ...] = (
    *({"type": "string"}, {"type": "string", "minLength": 1, "maxLength": 3, "description": "Text."}),
    *({"type": "integer"}, {"type": "integer", "minimum": 1}, {"type": "number", "exclusiveMaximum": 9}),
    *({"type": "boolean"}, {"type": "string", "enum": ["x", "yz"]}, {"enum": ["x", 1]}, {"const": "x"}),
    *({}, {"type": ["string", "null"]}, {"type": ["integer", "null"], "maximum": 4}, {"type": "null"}),
    *(
        {"type": "integer", "default": 3},
        {"type": "string", "pattern": "^x"},
        {"type": ["string", "integer"]},
    ),
    *({"not": {"type": "string"}}, {"$ref": "#/$defs/Own"}, {"type": "object"}, {"multipleOf": 2}),
)
ODD: tuple[Any, ...] = (
    1,
    2,
    2.0,
    2.5,
    12,
    "x",
    "yz",
    "long text",
    "",
    True,
    None,
    [],
    ["x", "x"],
    {},
    {"a": 1},
)


class Shape:
    """A schema, and documents that nearly fit it."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        own = self._object(1)
        self.schema = {**self._object(2), "$defs": {"Own": own}}

    def _object(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        keys = chance.sample(KEYS, chance.randint(1, 4))
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {key: self._schema(depth - 1) for key in keys},
            "required": [key for key in keys if chance.random() < 0.3],
        }
        if chance.random() < 0.6:
            schema["additionalProperties"] = chance.choice([False, False, True, {"type": "string"}])
        if chance.random() < 0.5:
            schema |= self._rule(chance.choice(keys), chance.choice(KEYS))
        return schema

    def _rule(self, one: str, other: str) -> dict[str, Any]:
        return self.chance.choice(
            (
                *({"dependentRequired": {one: [other]}}, {"dependentRequired": {other: [one]}}),
                *({"not": {"required": [one]}}, {"not": {"required": [one, other]}}, {"minProperties": 2}),
                *({"anyOf": [{"required": [one]}, {"required": [other]}]}, {"maxProperties": 1}),
                *({"required": [other]}, {"propertyNames": {"maxLength": 1}}),
                {"if": {"required": [one]}, "then": {"required": [other]}},
                {"if": {"properties": {one: {"const": "x"}}}, "then": {"required": [other]}},
                {"if": {"properties": {one: {"minProperties": 1}}}, "then": {"properties": {other: {}}}},
                {"patternProperties": {"^[xa]$": {"type": "string"}}},
                {"dependentSchemas": {one: {"properties": {other: {"type": "integer"}}}}},
                {"unevaluatedProperties": False, "allOf": [{"properties": {other: {}}}]},
                {"oneOf": [{"required": [one]}, {"properties": {one: {"type": "boolean"}}}]},
            )
        )

    def _schema(self, depth: int) -> dict[str, Any]:
        kind = self.chance.random()
        if kind < 0.25 and depth > 0:
            return self._object(depth)
        if kind < 0.4:
            rule = self.chance.choice(
                ({}, {"uniqueItems": True}, {"maxItems": 1}, {"contains": {"type": "string"}})
            )
            return {"type": "array", "items": self._schema(depth - 1), **rule}
        return self.chance.choice(LEAVES)

    def document(self, schema: dict[str, Any]) -> Any:
        if self.chance.random() < 0.04:
            return self.chance.choice(ODD)
        if "$ref" in schema:
            schema = self.schema["$defs"]["Own"]
        if "properties" in schema:
            members = [*schema["properties"].items(), ("x", {})]
            needed = schema.get("required", ())
            return {
                key: self.document(part)
                for key, part in members
                if key in needed or self.chance.random() < 0.4
            }
        if "items" in schema:
            return [self.document(schema["items"]) for _ in range(self.chance.randint(0, 2))]
        fitting = [value for value in ODD if oracle.validator(schema).is_valid(value)]
        return self.chance.choice(fitting or ODD)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        patch.setattr(sys, "dont_write_bytecode", True)
        yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "ruled_gen"]:
        del sys.modules[name]


@pytest.mark.volume
@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_codec_accepts_what_a_schema_with_rules_accepts(batch: int, folder: Path) -> None:
    shapes = [Shape(batch * TOOLS + number) for number in range(TOOLS)]
    tools = [
        Tool(f"t{at}", "A tool.", Args(JSONSchema(shape.schema)), Return(JSONSchema(shape.schema)))
        for at, shape in enumerate(shapes)
    ]
    evaluation = build(Design("ruled", "R.", Service("others", "Theirs.", Toolset("tools", "T.", *tools))))
    assert evaluation.design is not None, evaluation.diagnostics
    texts = generate(evaluation.design, module="ruled")
    write(folder, {f"ruled_gen/{path}": text for path, text in texts.items()})
    specs = importlib.import_module("ruled_gen.others.toolsets.tools").SPECS
    seen = Counter[str]()
    for shape, spec in zip(shapes, specs, strict=True):
        judge = oracle.validator(spec.payload.schema)
        for _ in range(DOCUMENTS):
            document = shape.document(shape.schema)
            compare(spec.payload, judge, document, seen)
            compare(spec.result, judge, document, seen)
    assert min(seen["valid and not empty"], seen["invalid"]) > TOOLS * DOCUMENTS // 4, seen
