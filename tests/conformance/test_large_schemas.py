"""Schemas at the limits of what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.schema_reader.reader import errors, foreign
from toolgen.shapes.foreign.reader import read


def test_a_large_schema_is_refused() -> None:
    assert errors({"enum": list(range(100_001))})[0][1].startswith("has more than 100000 values")
    assert errors({"description": "x" * 5_000_001})[0][1].startswith("has more than 100000 values")


@pytest.mark.parametrize(
    "link",
    [
        {"$ref": "#/$defs/d{}"},
        {"$ref": "#/$defs/d{}", "minLength": 1},
        {"type": "array", "items": {"$ref": "#/$defs/d{}"}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/d{}"}}},
    ],
)
def test_a_long_chain_of_references_is_read(link: dict[str, Any]) -> None:
    definitions = {f"d{at}": json.loads(json.dumps(link).replace("d{}", f"d{at + 1}")) for at in range(3000)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**definitions, "d3000": {"type": "string"}}, "default": 1}
    assert [problem.pointer for problem in read(schema, name="Root").problems] == ["/default"]
    foreign(schema)
