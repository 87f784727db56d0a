"""The budget of a document, in steps: whatever a foreign schema and a model send, they do not exceed it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter

from tests.selection import first
from toolgen.calls.errors import ToolValidationError
from toolgen.contract.limits import UNLIMITED
from toolgen.runtime.functions import SchemaCodec, func_tool
from toolgen.runtime.generated import SchemaModel
from toolgen.shapes.foreign.counted_patterns import Match
from toolgen.shapes.foreign.rules import Rules
from toolgen.shapes.issues import TOO_COMPLEX, FieldIssue, TooComplexError
from toolgen.shapes.pattern_steps import may_backtrack, parts_a_character
from toolgen.shapes.steps import MOST_STEPS, Steps, document_steps, take_steps
from toolgen.shapes.text_guard import count_patterns

LOOK_AROUND = r"^((?=a)a|(?!b)a)+$"
BACK_REFERENCE = r"^(?:(a+)\1?)+$"
STATES = "^[ab]*a[ab]{90}c"
"""An automaton that is built anew at each character."""
BAD = "a" * 40 + "!"


def of(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern}


def unevaluated(levels: int) -> dict[str, Any]:
    """Return a schema in which each level tries what is inside it two or three times."""
    schema: dict[str, Any] = {"type": "object"}
    for number in range(levels):
        schema = {
            "allOf": [schema, {"properties": {f"k{number}": {}}}],
            "unevaluatedProperties": {"type": "integer"},
        }
    return schema


def spent(schema: Any, document: Any) -> tuple[tuple[FieldIssue, ...], int]:
    """Return the issues of a document, and the steps that were taken for them."""
    with document_steps() as steps:
        issues = Rules(schema).findings(document, 20).issues
        return issues, MOST_STEPS - steps.left


TEXTS = [f"{BAD}{number}" for number in range(400)]
ATTACKS: dict[str, tuple[Any, Any]] = {
    "look-around": ({"items": of(LOOK_AROUND)}, TEXTS),
    "back-references": ({"items": of(BACK_REFERENCE)}, TEXTS),
    "in a union": ({"items": {"oneOf": [of(BACK_REFERENCE), {"const": 1}]}}, TEXTS),
    "under not": ({"items": {"not": of(BACK_REFERENCE)}}, TEXTS),
    "as a condition": ({"items": {"if": of(LOOK_AROUND), "then": False}}, TEXTS),
    "names of keys": ({"propertyNames": of(BACK_REFERENCE)}, dict.fromkeys(TEXTS, 1)),
    "patterns of keys": ({"patternProperties": {LOOK_AROUND: {}}}, dict.fromkeys(TEXTS, 1)),
    "look-around over a long text": (of("(?=.*c)[ab]*"), "ab" * 500_000),
    "many states": ({"items": of(STATES)}, ["ab" * 20_000] * 10),
    "a thousand patterns of keys": (
        {"patternProperties": {f"^[a-z]*{number}$": {} for number in range(1_000)}},
        {f"k{number}": 1 for number in range(5_000)},
    ),
    "a pattern again and again": (
        {"allOf": [{"$ref": "#a"}] * 1_000, "$defs": {"a": {"$anchor": "a", **of("^[ab]*")}}},
        "ab" * 200_000,
    ),
    "what is unevaluated": (unevaluated(14), {f"k{number}": 1 for number in range(100)}),
    "long conjunctions": (
        {"items": {"allOf": [{"minimum": number} for number in range(1_001)]}},
        [10**6] * 9_000,
    ),
    "options that are objects": (
        {"items": {"enum": [{"a": number} for number in range(3_000)]}},
        [{"a": 2_999}] * 4_900,
    ),
    "divisions": ({"items": {"multipleOf": 1e-300}}, [1e300] * 9_000),
    "integers of many digits": ({"items": {"minimum": 3}}, [10**4_000] * 900),
}
FAULTS: dict[str, tuple[Any, Any]] = {
    "100,000 wrong items": ({"items": {"type": "integer", "minimum": 0}}, ["x"] * 100_000),
    "absent keys": ({"items": {"required": [f"k{number}" for number in range(900)]}}, [{}] * 900),
    "errors that copy objects": (
        {"propertyNames": {"maxLength": 1}},
        {f"k{number}": "x" * 13_000 for number in range(300)},
    ),
    "wrong again and again": (
        {"items": {"allOf": [{"minimum": number} for number in range(900)]}},
        [-1.5 - number for number in range(900)],
    ),
}


@pytest.mark.parametrize("name", first(ATTACKS, 4))
def test_what_takes_too_many_steps_is_one_issue_that_a_model_can_repair(name: str) -> None:
    issues, steps = spent(*ATTACKS[name])
    assert issues == (TOO_COMPLEX,)
    assert steps <= MOST_STEPS + 1
    assert "send less of it in one call" in TOO_COMPLEX.message


@pytest.mark.parametrize("name", FAULTS)
def test_the_issues_of_a_document_are_made_within_its_steps(name: str) -> None:
    (issue,), steps = spent(*FAULTS[name])
    assert issue.keys == ()
    assert steps <= MOST_STEPS + 1


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (LOOK_AROUND, "aaa", "aab"),
        (BACK_REFERENCE, "aaaa", "b"),
        (r"^(?!\.)(?!.*\.\.)[a-z.]+@[a-z]+\.[a-z]{2,}$", "a.b@c.de", "a..b@c.de"),
        (r"^(?=.*[A-Z])(?=.*\d).{8,}$", "Passw0rd", "password"),
        (STATES, "a" * 92 + "c", "a" * 40),
    ],
)
def test_within_the_budget_a_counted_pattern_means_what_it_says(pattern: str, good: str, bad: str) -> None:
    rules = Rules({"items": of(pattern)})
    assert rules.issues([*[good] * 200]) == ()
    (issue,) = rules.issues([*[good] * 50, bad])
    assert str(issue) == f"$[50] must match {pattern}"
    assert (issue.constraint, issue.expected) == ("invalid_pattern", pattern)
    by_key = Rules({"patternProperties": {pattern: False}})
    assert [str(issue) for issue in by_key.issues({good: 1, bad: 1})] == [
        f"$.{good} is not a field here"
        if good.isidentifier()
        else f"$[{json.dumps(good)}] is not a field here"
    ]


def test_a_match_takes_as_many_steps_as_it_needed_about() -> None:
    with document_steps() as steps:
        assert Match(LOOK_AROUND).fits("aaaa")
        assert MOST_STEPS - steps.left == 56
    with document_steps() as steps:
        with pytest.raises(TooComplexError):
            Match(LOOK_AROUND).fits(BAD)
        assert steps.left < 0
    with document_steps() as steps:
        assert Match("^a+$").fits("a" * 1_600)
        assert MOST_STEPS - steps.left == 140


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("^[a-z0-9]{8}-[a-z0-9]{32}$", 1),
        (r"^[\s\S]{1,5000}$", 1),
        (r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$", 1),
        (r"\S", 1),
        (STATES, 320 + 4 * 93),
        ("[ab]{900}c", 320 + 4 * 901),
        ("^(x{900})*y", 320 + 4 * 901),
        ("^(?:[ab]{1,30}){30}c", 320 + 4 * 901),
        ("^a|b{50}$", 320 + 4 * 51),
        ("^.*b{50}$", 320 + 10 * 51),
        (r"\bTODO\b", 4 * 5),
        ("(?i)todo", 1),
        ("(?x)[ab]#(\n{900}", 320 + 4 * 10**9),
        ("((a{100}){100}){100}b", 320 + 4 * 1_000_001),
    ],
)
def test_a_pattern_takes_what_its_live_states_say(pattern: str, parts: int) -> None:
    assert parts_a_character(pattern) == parts


@pytest.mark.parametrize("pattern", [r"(?=a)", r"(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", "(?>a)", "a++"])
def test_what_backtracks_is_known(pattern: str) -> None:
    assert may_backtrack(pattern)
    assert not may_backtrack(r"^(?:a|\.)+[+*]+?\?$")


@pytest.mark.exhaustive
def test_a_long_document_of_a_plain_schema_is_no_reason_to_refuse_it() -> None:
    row = {"properties": {"price": {"type": "number", "multipleOf": 0.25}, "name": of("^[a-z]+$")}}
    (issues, steps) = spent({"items": row}, [{"price": 1.25, "name": "abc"} for _ in range(100_000)])
    assert (issues, steps <= MOST_STEPS // 2) == ((), True)


class Noted(SchemaModel):
    notes: list[Annotated[str, Field(pattern=STATES)]]


SCHEMA = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": of(STATES)}},
    "required": ["notes"],
}
GOOD = "a" * 92 + "c"


async def note(notes: list[Annotated[str, Field(pattern=STATES)]]) -> int:
    """Note what is told."""
    return len(notes)


@pytest.fixture(params=["exact", "checked", "function"])
def codec(request: pytest.FixtureRequest) -> Any:
    if request.param == "function":
        return func_tool(note).spec.payload
    return SchemaCodec(
        None, __name__, "Noted", {"Noted": json.dumps(SCHEMA)}, is_exact=request.param == "exact"
    )


def test_patterns_that_types_hold_take_steps_of_the_same_budget(codec: Any) -> None:
    assert codec.decode(json.dumps({"notes": [GOOD] * 100}))
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(json.dumps({"notes": ["ab" * 10_000] * 10}), UNLIMITED)
    assert caught.value.issues == (TOO_COMPLEX,)
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(json.dumps({"notes": [GOOD] * 60 + ["b"]}))
    assert [issue.path for issue in caught.value.issues] == ["$.notes[60]"]


def test_types_without_costly_patterns_are_not_guarded() -> None:
    adapter = TypeAdapter(Annotated[str, Field(pattern="^[a-z]+$")])
    validate = adapter.validator.validate_json
    assert count_patterns(validate, adapter.core_schema) is validate


@pytest.fixture
def steps() -> Iterator[Steps]:
    with document_steps() as steps:
        yield steps


def test_what_is_checked_inside_a_document_takes_from_its_budget(steps: Steps) -> None:
    steps.left = 50
    assert Rules({"items": of(LOOK_AROUND)}).issues(["aaa"]) == (TOO_COMPLEX,)
    with pytest.raises(TooComplexError):
        take_steps(1)


def test_of_no_document_there_is_no_budget() -> None:
    take_steps(MOST_STEPS + 1)
