"""What a schema plainly says of a value, and what is in doubt."""

from __future__ import annotations

from typing import Any, Final

import pytest

from toolgen.shapes.foreign.plain_fit import PlainFit, may_fit

SCHEMA: Final[dict[str, Any]] = {
    "$defs": {
        "a b": {"type": "integer", "minimum": 1},
        "loop": {"allOf": [{"$ref": "#/$defs/loop"}]},
        "tree": {
            "anyOf": [
                {
                    "properties": {
                        "left": {"$ref": "#/$defs/tree"},
                        "right": {"$ref": "#/$defs/tree"},
                        "kind": {"const": kind},
                    },
                    "required": ["kind"],
                    "type": "object",
                }
                for kind in ("sum", "product")
            ]
            + [{"type": "integer"}]
        },
    }
}


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, True, False),
        ({"type": ["string", "null"]}, None, True),
        ({"enum": [[1]]}, [True], False),
        ({"const": 1}, 1.0, True),
        ({"uniqueItems": True}, [1, 1.0], False),
        ({"multipleOf": 2}, 3, False),
        ({"minProperties": 1}, {}, False),
        ({"items": False}, [1], False),
        ({"additionalProperties": False, "properties": {"a": {}}}, {"b": 1}, False),
        ({"$ref": "#/$defs/a%20b"}, 0, False),
        ({"$ref": "#/$defs/a%20b"}, 1, True),
        ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, 2, False),
        (False, 1, False),
    ],
)
def test_what_a_schema_plainly_says_is_in_no_doubt(schema: Any, value: Any, fits: bool) -> None:
    assert PlainFit(SCHEMA).fits(schema, value) is may_fit(SCHEMA, schema, value) is fits


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "^a"}, "a"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "a"),
        ({"not": {"type": "string"}}, 1),
        ({"prefixItems": [{"type": "integer"}]}, [1, "a"]),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, {"x": 1}),
        ({"type": "string", "nullable": True}, None),
        ({"maximum": 3, "exclusiveMaximum": True}, 2),
        ({"$ref": "#/$defs/none"}, 1),
        ({"$ref": "#/$defs/loop"}, 1),
        ({"type": 7}, 1),
        (7, 1),
    ],
)
def test_whoever_asks_says_what_doubt_means(schema: Any, value: Any) -> None:
    assert may_fit(SCHEMA, schema, value)
    assert not PlainFit(SCHEMA).fits(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1),
        ({"prefixItems": [{"type": "integer"}]}, ["a"]),
        ({"pattern": "^a", "maxLength": 1}, "ab"),
    ],
)
def test_doubt_about_one_keyword_is_none_about_another(schema: Any, value: Any) -> None:
    assert not may_fit(SCHEMA, schema, value)


def test_a_value_is_looked_at_once_by_what_is_referred_to() -> None:
    tree: Any = 1
    for _ in range(60):
        tree = {"left": tree, "right": tree, "kind": "product"}
    assert PlainFit(SCHEMA).fits({"$ref": "#/$defs/tree"}, tree)
    assert not may_fit(SCHEMA, {"$ref": "#/$defs/tree"}, {**tree, "left": "x"})
