"""Patterns that nobody has vetted: they are matched in a bounded time, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.selection import diagonal
from toolgen.shapes.foreign import bounded_patterns
from toolgen.shapes.foreign.bounded_patterns import is_quick, work_to_compile
from toolgen.shapes.foreign.rules import Rules

LONG = "ab" * 2_000_000
QUADRATIC = "(?=.*c)[ab]*"
"""With look-around: some hours for a text of four million characters."""
EMAIL = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
"""As zod writes it for an address."""


def of(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern}


def bounded(schema: Any) -> Rules:
    return Rules(schema, reads_dialect=True, bounds_patterns=True)


def codes(schema: Any, document: Any) -> list[str]:
    return [issue.constraint for issue in bounded(schema).issues(document)]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (QUADRATIC, LONG),
        (r"(a*)*\1b", "a" * 100_000),
        ("(?<=a)a*b", "a" * 1_000_000),
        ("^[ab]*a[ab]{1000}c", LONG),
        ("^[ab]*a[ab]{100000}c", LONG),
        ("((a{100}){100}){100}b", LONG),
    ],
)
def test_a_pattern_that_takes_long_is_an_annotation(pattern: str, text: str) -> None:
    assert codes(of(pattern), text) == []
    assert codes(of(pattern), 5) == ["invalid_type"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ({"patternProperties": {QUADRATIC: False}, "additionalProperties": False}, {LONG: 1}),
        ({"propertyNames": of(QUADRATIC)}, {LONG: 1}),
        ({"items": of(QUADRATIC)}, ["ab" * 500] * 4_000),
        ({"items": of("^[ab]*a[ab]{1000}c")}, ["ab" * 500] * 4_000),
        ({"allOf": [of(f"^[ab]*a[ab]{{900}}{n}") for n in range(150)]}, "ab" * 20_000),
        ({"allOf": [{"$ref": "#/$defs/a"}] * 1_000, "$defs": {"a": of("^[ab]*a[ab]{900}")}}, "ab" * 20_000),
        (
            {"allOf": [{"$ref": "#a"}] * 1_000, "$defs": {"a": {"$anchor": "a", **of("^[ab]*c")}}},
            "ab" * 20_000,
        ),
    ],
)
def test_patterns_in_all_places_are_bounded(schema: Any, document: Any) -> None:
    assert codes(schema, document) == []


@pytest.mark.exhaustive
def test_very_many_patterns_take_little_memory() -> None:
    schema = {"properties": {f"p{n}": of(rf"(\w{{100}}){{40}}{n}") for n in range(5_000)}}
    assert codes(schema, {"p1": "x", "p2": 3}) == ["invalid_type"]


@pytest.mark.parametrize(
    "schema",
    [
        {"not": of(EMAIL)},
        {"oneOf": [of(EMAIL), of(r"^(?=x)")]},
        {"if": of(EMAIL), "then": False},
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"anyOf": [of(EMAIL)]}}}},
    ],
)
def test_what_a_pattern_decides_refuses_nothing_without_it(schema: Any) -> None:
    assert codes(schema, "x") == []


def test_other_rules_are_checked_beside_a_pattern_that_is_not() -> None:
    schema = {
        "properties": {
            "to": {**of(EMAIL), "maxLength": 9},
            "id": of("^[a-z]+$"),
            "pattern": {"type": "integer"},
        },
        "required": ["id"],
        "default": {"pattern": EMAIL},
    }
    assert codes(schema, {"to": "no address", "id": "A", "pattern": "x"}) == [
        "invalid_length",
        "invalid_pattern",
        "invalid_type",
    ]
    assert codes(schema, {}) == ["missing_field"]


@pytest.mark.parametrize(
    ("pattern", "text"),
    diagonal(
        ["^[a-z]{1,64}$", r"^\d+\s\w\b", "^.$", r"^[^\s@]+@[\w.-]{1,255}$", "^$", "é|[à-ü]"],
        ["", "a", "abc", "٣ x", "3 x", "\n", "\u2028", "a@b.c", "é", "\u00a0"],
    ),
)
def test_a_quick_pattern_means_what_it_means_elsewhere(pattern: str, text: str) -> None:
    assert bounded(of(pattern)).issues(text) == Rules(of(pattern)).issues(text)


def test_a_text_of_usual_length_is_matched() -> None:
    assert codes(of("^[ -~]*$"), "x" * 400_000 + "\n") == ["invalid_pattern"]
    assert codes(of("^[ab]*a[ab]{90}c"), "x" * 20_000) == ["invalid_pattern"]
    assert codes(of("^[ab]*a[ab]{90}c"), "x" * 30_000) == []
    assert codes({"properties": {"a": {"maxLength": 3}}}, {"a": LONG}) == ["invalid_length"]


@pytest.mark.parametrize(
    "pattern",
    [r"\s" * 41, r"\W" * 2_000, r"(?i)[\x{0}-\x{10FFFF}]" * 100, r"a(?i:" + r"\p{L}" * 700 + ")"],
    ids=["spaces", "words", "ranges", "folded"],
)
def test_a_pattern_that_takes_long_to_compile_is_not_tried(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """jsonschema-rs compiles 2,000 `\\S` in 18 s, and each large class where case does not count in 5 ms."""
    tried = []

    def compiled(schema: Any, **options: Any) -> None:
        tried.append(schema)

    monkeypatch.setattr(bounded_patterns, "Draft202012Validator", compiled)
    assert not is_quick(pattern)
    assert tried == []
    assert is_quick(r"\s" * 40)
    assert len(tried) == 1


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        ("a" * 1_000, 100),
        ("^[a-z]{1000}$", 15),
        (r"\p{L}{1,20}", 40),
        ("(?:.{30}){30}", 60),
        (r"\s" * 40, 200),
        (r"(?i)[\x{0}-\x{10FFFF}]", 200),
    ],
)
def test_the_work_of_a_pattern_is_read_off_its_text(pattern: str, least: int) -> None:
    assert least <= work_to_compile(pattern) <= 2 * least
