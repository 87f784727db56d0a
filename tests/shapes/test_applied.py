"""What a validator applies of a schema is counted, in each draft, and no reference hides it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import jsonschema_rs
import pytest

from tests.selection import covering
from toolgen.calls.functions.foreign_codec import json_schema_codec
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.shapes.foreign.rule_paths import VisitCounter, count_errors
from toolgen.shapes.foreign.rules import Rules
from toolgen.shapes.foreign.targets import Targets
from toolgen.shapes.issues import TooComplexError
from toolgen.shapes.steps import MOST_STEPS, Steps

DRAFTS: Final = {
    "http://json-schema.org/draft-04/schema#": jsonschema_rs.Draft4Validator,
    "http://json-schema.org/draft-06/schema#": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}
WORDS: Final = (
    "additionalItems additionalProperties allOf anyOf contains contentSchema dependencies dependentSchemas "
    "else extends if items not oneOf patternProperties prefixItems properties propertyNames then "
    "unevaluatedItems unevaluatedProperties"
).split()
NEVER: Final[dict[str, Any]] = {"not": {}}
BESIDE: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "additionalItems": ({"items": [{}]},),
    "if": ({"then": NEVER},),
    "then": ({"if": {}},),
    "else": ({"if": NEVER},),
}
DOCUMENTS: Final[tuple[Any, ...]] = ({"a": 1}, [1, 1], 1)
LEVELS: Final = 30


def shapes(word: str, inner: Any) -> Iterator[dict[str, Any]]:
    """Yield the schemas in which a keyword may apply another one."""
    for beside, value in product(BESIDE.get(word, ({},)), (inner, [inner], {"a": inner})):
        yield {**beside, word: value}


def doubling(schema: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    """Return the schema, where what it calls `d0` looks at a value 2 to the power of the levels times."""
    steps = {f"d{at}": {"allOf": [{"$ref": f"#/definitions/d{at + 1}"}] * 2} for at in range(LEVELS)}
    return {**schema, "definitions": {**steps, f"d{LEVELS}": end}}


def applied() -> Iterator[tuple[str, str, dict[str, Any], Any]]:
    """Yield each draft, keyword and schema, and a document to which it is applied."""
    for (dialect, validator), word in product(DRAFTS.items(), WORDS):
        for yes, no, attack in zip(
            shapes(word, {}), shapes(word, NEVER), shapes(word, {"$ref": "#/definitions/d0"}), strict=True
        ):
            for document in DOCUMENTS:
                try:
                    answers = {validator(schema).is_valid(document) for schema in (yes, no)}
                except ValueError:
                    continue
                if len(answers) == 2:
                    yield dialect, word, attack, document


APPLIED: Final = [*applied()]


def test_the_table_has_the_keywords_of_all_drafts() -> None:
    found = {(dialect, word) for dialect, word, _, _ in APPLIED}
    words = {word for _, word in found}
    assert words == {*WORDS} - {"contentSchema", "extends"}
    assert {dialect for dialect, word in found if word == "dependencies"} >= {*DRAFTS} - {[*DRAFTS][-1]}


@pytest.mark.parametrize(
    ("dialect", "word", "attack", "document"), covering(APPLIED, lambda one: (one[0], one[1]))
)
def test_a_keyword_that_is_applied_is_counted(dialect: str, word: str, attack: Any, document: Any) -> None:
    with pytest.raises(TooComplexError):
        VisitCounter(doubling({"$schema": dialect, **attack}, {"type": "integer"})).take(document, 9, Steps())


D4, D7 = (f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 7))


@pytest.mark.parametrize(
    ("schema", "target"),
    [
        ({"a": {"$ref": "#/b"}, "b": {"type": "null"}}, {"type": "null"}),
        ({"a": {"$ref": "#x"}, "b": {"$anchor": "x"}}, {"$anchor": "x"}),
        ({"$schema": D4, "a": {"$ref": "#x"}, "b": {"id": "#x"}}, {"id": "#x"}),
        ({"$schema": D7, "a": {"$ref": "#x"}, "b": {"$id": "#x"}}, {"$id": "#x"}),
        ({"$id": "http://a.b/q/r", "a": {"$ref": "s"}, "b": {"$id": "s"}}, {"$id": "s"}),
        ({"$id": "urn:a", "a": {"$ref": "urn:a#/b"}, "b": {"type": "null"}}, {"type": "null"}),
        ({"a": {"$ref": "d"}, "b": {"$id": "yd"}, "c": {"$id": "d"}}, {"$id": "d"}),
        ({"a": {"$ref": "d"}, "c": {"$id": "d"}, "b": {"$id": "yd"}}, {"$id": "d"}),
        ({"a": {"$dynamicRef": "#x"}, "b": {"$dynamicAnchor": "x"}}, {"$dynamicAnchor": "x"}),
    ],
)
def test_a_reference_leads_to_what_it_names(schema: Any, target: Any) -> None:
    targets = Targets(schema)
    assert [*targets.of(schema["a"])] == [target]
    assert not targets.fault


AMBIGUOUS: Final = [
    {"a": {"$ref": "#x"}, "b": {"$anchor": "x"}, "c": {"$anchor": "x"}},
    {"a": {"$ref": "d"}, "b": {"$id": "d"}, "c": {"$id": "d"}},
    {"a": {"$ref": "d"}, "b": {"$id": "./d"}},
    {"a": {"$ref": "d"}, "b": {"$id": "%64"}},
    {"$id": "http://a.b:80/r", "a": {"$ref": "d"}, "b": {"$id": "http://a.b/d"}, "c": {"$id": "d"}},
    {"a": {"$ref": "#/b/c"}, "b": {"$id": "d", "c": {}}},
    {"a": {"$ref": "#/b/-1"}, "b": [{}]},
    {"a": {"$ref": "#/default/b"}, "default": {"b": {"$id": "d"}}},
    {"a": {"$recursiveRef": "#"}, "b": {"$id": "d", "$recursiveAnchor": True}},
    {"a": {"$ref": D7}},
    {"a": {}, "b": {"$schema": D4, "id": "d"}},
]


@pytest.mark.parametrize("schema", AMBIGUOUS)
def test_a_reference_that_may_lead_to_several_places_is_a_fault(schema: Any) -> None:
    targets = Targets(schema)
    assert len([*targets.of(schema["a"])]) == ("$ref" in schema["a"] or "$recursiveRef" in schema["a"])
    assert targets.fault


def test_a_schema_with_such_a_reference_is_refused_of_a_server_and_checked_of_a_file() -> None:
    two = {"b": {"$anchor": "x"}, "c": {"$anchor": "x", "minProperties": 0}}
    schema = {"properties": {"a": {"$ref": "#x"}}, "$defs": two}
    with pytest.raises(ToolgenError, match="can point to more than one place"):
        json_schema_codec(schema, "Lookup", bounds_patterns=True)
    assert Rules(schema).issues({"a": {}}) == ()


@pytest.mark.parametrize("word", ["dependentRequired", "dependencies"])
def test_the_errors_of_absent_keys_are_counted(word: str) -> None:
    schema = {word: {f"k{key}": [f"q{name}" for name in range(90)] for key in range(100)}}
    document: Json = {f"k{key}": 1 for key in range(100)}
    count, _ = count_errors(schema, document, Steps())
    assert count > MOST_STEPS


@pytest.mark.parametrize("word", ["const", "enum", "not"])
def test_what_an_error_copies_of_a_schema_is_counted(word: str) -> None:
    schema = {"items": {word: [f"option {number}" for number in range(5_000)]}}
    count, _ = count_errors(schema, [*range(900)], Steps())
    assert count > MOST_STEPS


KINDS: Final = [f"kind{number}" for number in range(10)]
TREE: Final = {
    "$defs": {
        "node": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "type": {"const": kind},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                    "required": ["type"],
                    "additionalProperties": False,
                }
                for kind in KINDS
            ]
        }
    },
    "$ref": "#/$defs/node",
}
NESTED: Final = {
    "items": {
        "oneOf": [
            {
                "properties": {
                    "type": {"const": kind},
                    "v": {
                        "anyOf": [
                            {"properties": {"x": {"anyOf": [{"required": ["y"]}, {"required": ["z"]}]}}},
                            {"type": "object", "required": ["q"]},
                            {"type": "string"},
                        ]
                    },
                }
            }
            for kind in KINDS
        ]
    }
}


def tree(nodes: int) -> Any:
    """Return a tree of blocks of all kinds, five below each."""
    blocks: list[Any] = [{"type": KINDS[at % 10], "children": []} for at in range(nodes)]
    for at in range(1, nodes):
        blocks[(at - 1) // 5]["children"].append(blocks[at])
    return blocks[0]


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        (TREE, tree(2_400)),
        (NESTED, [{"type": KINDS[at % 10], "v": {"x": {"y": at}}} for at in range(2_000)]),
        ({"items": {"type": "number"}}, [1.5e18 + at * 1e9 for at in range(9_900)]),
        ({"items": {"enum": [*map(str, range(240)), None]}}, [*map(str, range(240))] * 40),
    ],
    ids=["recursive blocks", "alternatives in alternatives", "large numbers", "options or null"],
)
def test_a_long_document_of_many_kinds_fits(schema: Any, document: Any) -> None:
    assert Rules(schema).issues(document) == ()


def test_kinds_that_hold_one_another_are_few_looks() -> None:
    kinds = {
        f"d{at}": {"properties": {f"p{key}": {"$ref": f"#/$defs/d{(at + 7 * key) % 100}"} for key in (1, 2)}}
        for at in range(100)
    }
    assert VisitCounter({"$ref": "#/$defs/d0", "$defs": kinds}).value_steps < 10
