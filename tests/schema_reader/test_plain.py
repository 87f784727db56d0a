"""A schema of which no validator is built has nothing that one could not be built of."""

from __future__ import annotations

from typing import Any

import pytest

from toolgen.schema_reader.schema_index import SchemaIndex
from toolgen.schema_reader.validator import contract_problem

from .shapes import SHAPES

NODE = {
    "$defs": {"N": {"properties": {"next": {"$ref": "#/$defs/N"}, "n": {"minimum": 3}}}},
    "$ref": "#/$defs/N",
}


@pytest.mark.parametrize(
    "schema", [*(make(3) for make in SHAPES.values()), NODE, {"properties": {"a": True}}]
)
def test_a_validator_can_be_built_of_what_is_plain(schema: dict[str, Any]) -> None:
    if SchemaIndex(schema).is_plain:
        assert contract_problem(schema) is None


def test_what_needs_no_validator_is_plain() -> None:
    assert SchemaIndex(NODE).is_plain


@pytest.mark.parametrize(
    "odd",
    [
        {"$ref": "#/$defs/Missing"},
        {"$ref": "#N", "$defs": {"N": {"$anchor": "N"}}},
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": {}}},
        {"$ref": "https://example.com/other"},
        {"items": {"$dynamicRef": "#node"}},
        {"properties": {"a": {"$id": "a"}}},
        {"patternProperties": {"^a": {}}},
        {"maxLength": 2**70},
        {"maxLength": 1e300},
        {"multipleOf": 0.5},
    ],
)
def test_what_a_validator_resolves_compiles_or_counts_with_is_not(odd: dict[str, Any]) -> None:
    assert not SchemaIndex(odd).is_plain
