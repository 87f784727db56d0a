"""Patterns of lists and of long texts: the usual ones are within the steps of a document."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter

from tests.selection import first
from toolgen.shapes.foreign.rules import Rules
from toolgen.shapes.issues import TOO_COMPLEX, FieldIssue
from toolgen.shapes.steps import MOST_STEPS, document_steps
from toolgen.shapes.text_guard import count_patterns

HONEST = {
    "address": (
        r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,63}$",
        "anna.bergmann%d@example-corp.com",
    ),
    "address of HTML": (
        r"^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
        r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
        "anna.bergmann%d@example-corp.com",
    ),
    "ARN": (
        r"^arn:(aws|aws-cn|aws-us-gov):[a-z0-9-]+:[a-z0-9-]*:[0-9]{12}:[a-zA-Z0-9-_/:]{1,2048}$",
        "arn:aws:s3:eu-west-1:123456789012:bucket/%d/object/some",
    ),
    "name in a cluster": (
        r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$",
        "my-service-%d.my-namespace.svc.cluster.local",
    ),
    "version": (
        r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
        r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
        r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$",
        "1.%d.3-beta.1+build.5",
    ),
    "date": (
        r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$",
        "2026-01-01T10:00:00.%04dZ",
    ),
    "words": (r"^\S+(\s+\S+){0,49}$", "the quick brown fox jumped %d"),
    "ends of words": (r"\bTODO\b", "a TODO of the list, number %d"),
    "ends of words, beyond ASCII": (r"\bTODO\b", "ein TODO für die Übung, Nummer %d"),
    "flags": (r"(?i)todo", "a TODO of the list, number %d"),
}
SLOW = "^[ab]*a[ab]{90}c"
BACKTRACKS_AT_WORDS = r"^(?:(a|aa|\b|b{0,20})*)*!$"


def of(pattern: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"l": {"items": {"type": "string", "pattern": pattern}}}}


def spent(schema: Any, document: Any) -> tuple[tuple[FieldIssue, ...], int]:
    with document_steps() as steps:
        issues = Rules(schema).findings(document, 20).issues
        return issues, MOST_STEPS - steps.left


@pytest.mark.parametrize("name", first(HONEST, 2))
def test_two_hundred_usual_texts_are_no_reason_to_refuse_them(name: str) -> None:
    pattern, text = HONEST[name]
    texts = [text % number for number in range(200)]
    issues, steps = spent(of(pattern), {"l": texts})
    assert (issues, steps < MOST_STEPS) == ((), True)
    (issue,), _ = spent(of(pattern), {"l": [*texts[:90], "\n"]})
    assert issue.keys == ("l", 90)
    adapter = TypeAdapter(list[Annotated[str, Field(pattern=pattern)]])
    decode = count_patterns(adapter.validator.validate_json, adapter.core_schema)
    assert decode(json.dumps(texts)) == texts


@pytest.mark.parametrize("pattern", [r"^(?!\s*$).+", r"^(?=.*[a-z])(?=.*\d)"])
def test_usual_texts_whose_pattern_looks_ahead_are_no_reason_to_refuse_them(pattern: str) -> None:
    assert spent(of(pattern), {"l": [f"Some text here {number}" for number in range(9_990)]})[0] == ()


@pytest.mark.parametrize("pattern", [r"\bTODO", r"\b(?:foo|TODO)\b", "(?i)todo"])
def test_a_long_text_is_searched_for_a_word(pattern: str) -> None:
    text = "the quick brown fox " * 5_000
    assert spent(of(pattern), {"l": [text + "TODO"]})[0] == ()
    (issue,), _ = spent(of(pattern), {"l": [text]})
    assert issue.constraint == "invalid_pattern"
    keys = {"patternProperties": {pattern: False}}
    assert [issue.constraint for issue in spent(keys, {text + "TODO": 1})[0]] == ["unknown_field"]


def test_what_would_backtrack_at_ends_of_words_is_matched_without() -> None:
    texts = ["a" * 40 + str(number) for number in range(400)]
    issues, steps = spent(of(BACKTRACKS_AT_WORDS), {"l": texts})
    assert {issue.constraint for issue in issues} == {"invalid_pattern"}
    assert steps <= MOST_STEPS
    assert spent({"patternProperties": {BACKTRACKS_AT_WORDS: False}}, dict.fromkeys(texts, 1))[0] == ()


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        (of(r".{0,9}\bz"), {"l": ["dér lázy föx " * 20_000]}),
        (of(r"[\s\S]{0,900}[\s\S]{0,900}z"), {"l": ["aé€😀" * 530]}),
        (of(SLOW), {"l": ["ab" * 20_000] * 10}),
        ({"patternProperties": {SLOW: False}}, {"ab" * 20_000 + str(number): 1 for number in range(10)}),
    ],
)
def test_what_takes_long_without_backtracking_is_too_complex(schema: Any, document: Any) -> None:
    issues, steps = spent(schema, document)
    assert issues == (TOO_COMPLEX,)
    assert steps <= MOST_STEPS + 1
