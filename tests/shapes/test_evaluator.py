"""What one evaluator decides of a value by a schema, and what each policy makes of the rest."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import jsonschema_rs
import pytest

from tests.schema_reader.random_schemas import Draws
from toolgen.shapes.evaluator import Evaluator, Undecided, may_fit
from toolgen.shapes.steps import MOST_STEPS, Steps

SCHEMA: Final[dict[str, Any]] = {
    "$defs": {
        "a b": {"type": "integer", "minimum": 1},
        "short": {"maxLength": 1},
        "both": {"$ref": "#/$defs/short", "type": "string"},
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
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, True),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, False),
        ({"$ref": "#/$defs/both"}, 5, False),
        ({"$ref": "#/$defs/both"}, "a", True),
    ],
)
def test_what_a_schema_plainly_says_is_in_no_doubt(schema: Any, value: Any, fits: bool) -> None:
    assert (
        Evaluator(SCHEMA, Undecided.AS_MISFIT).fits(schema, value) is may_fit(SCHEMA, schema, value) is fits
    )


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
        ({"items": {"$id": "https://example.org/a", "items": {"$ref": "#/$defs/tree"}}}, [["a"]]),
    ],
)
def test_whoever_asks_says_what_doubt_means(schema: Any, value: Any) -> None:
    assert may_fit(SCHEMA, schema, value)
    assert not Evaluator(SCHEMA, Undecided.AS_MISFIT).fits(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1),
        ({"prefixItems": [{"type": "integer"}]}, ["a"]),
        ({"pattern": "^a", "maxLength": 1}, "ab"),
        ({"maximum": 3, "exclusiveMaximum": True, "multipleOf": 2}, 1),
        ({"not": {"type": "integer"}}, 1),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, 4),
    ],
)
def test_doubt_about_one_keyword_is_none_about_another(schema: Any, value: Any) -> None:
    assert not may_fit(SCHEMA, schema, value)


def test_a_value_is_looked_at_once_by_what_is_referred_to() -> None:
    tree: Any = 1
    for _ in range(60):
        tree = {"left": tree, "right": tree, "kind": "product"}
    assert Evaluator(SCHEMA, Undecided.AS_MISFIT).fits({"$ref": "#/$defs/tree"}, tree)
    assert not may_fit(SCHEMA, {"$ref": "#/$defs/tree"}, {**tree, "left": "x"})


@pytest.mark.parametrize("most", [1, 3])
def test_issues_are_yielded_until_nobody_wants_more(most: int) -> None:
    steps = Steps()
    texts: list[Any] = ["x"] * 1_000
    schema = {"items": {"$ref": "#/$defs/tree"}}
    evaluator = Evaluator(SCHEMA, Undecided.LEFT_TO_TOOL, steps=steps, most=most)
    paths = [issue.path for issue in evaluator.issues(schema, texts)]
    assert paths == [f"$[{place}]" for place in range(most)]
    assert MOST_STEPS - steps.left < 20


def test_no_policy_says_of_a_random_value_what_a_validator_denies() -> None:
    surely, excluded = Counter[bool](), Counter[bool]()
    for seed in range(400):
        draws = Draws(seed)
        schema = draws.root(draft_7=False)
        validator = jsonschema_rs.Draft202012Validator(schema)
        for _ in range(8):
            value = draws.instance(schema, schema)
            is_valid = validator.is_valid(value)
            left, may, must = (Evaluator(schema, policy).fits(schema, value) for policy in Undecided)
            if is_valid:
                assert (may, left) == (True, True), (schema, value)
            else:
                assert not must, (schema, value)
            assert may or not must
            surely[must] += is_valid
            excluded[not may] += not is_valid
    assert surely[True] > surely[False] / 4
    assert excluded[True] > 10 * excluded[False]
