"""ECMA-262 patterns mean in pydantic's Rust regex what they mean in a JSON Schema."""

from __future__ import annotations

import pytest
from pydantic_core import SchemaValidator, ValidationError, core_schema

from toolgen.shapes.patterns import PatternError, to_rust


def matches(pattern: str, text: str) -> bool:
    validator = SchemaValidator(core_schema.str_schema(pattern=to_rust(pattern)))
    try:
        validator.validate_python(text)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"^\d+$", "42", True),
        (r"^\d+$", "٤٢", False),  # \d is ASCII in ECMA-262, all of Unicode in Rust
        (r"^\w+$", "é", False),
        (r"^[\w-]+$", "a-b", True),
        (r"^[^\d]+$", "٤", True),
        (r"^\s$", "\ufeff", True),
        (r"^\s$", "\x85", False),  # Rust's \s has NEL, ECMA-262's has not
        (r"^.$", "\r", False),
        (r"^.$", "x", True),
        (r"\bfoo\b", "éfoo", True),  # no ASCII word character stands before it
        (r"^[[]$", "[", True),  # a class inside a class in Rust
        (r"^[a&&b]$", "&", True),
        (r"^[~-]$", "~", True),
        (r"^\u0041\x42$", "AB", True),
        (r"^a{2,3}$", "aaa", True),
        (r"^\/$", "/", True),
        (r"^a$", "a\n", False),
        (r"^(?:a|b)(c)$", "bc", True),
        (r"^[\D]$", "x", True),
        (r"^[\w-]+$", "-", True),
        (r"^[!--]$", "'", True),  # a range that ends in a dash; Rust reads a difference of sets
        (r"^[--/]$", ".", True),
        (r"^[a^]$", "^", True),
        (r"^[\b]$", "\b", True),
        (r"^a+?b{2}$", "abb", True),
        (r"^<é>$", "<é>", True),
    ],
)
def test_meaning_is_ecma_262(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "does not compile"),
        ("(?=a)b", "look-around"),
        ("(?<!a)b", "look-around"),
        ("(?i)a", "named group or flag"),
        ("(?P<x>a)", "named group or flag"),
        (r"(a)\1", r"`\1`"),
        (r"\p{L}", r"`\p`"),
        (r"\u00", "4 hexadecimal digits"),
        ("[]a]", "empty class"),
        ("a\\", "ends in a backslash"),
        ("a{2,1}", "does not compile"),
        ("a++", "repeats nothing with `+`"),
        ("a{2}{3}", "repeats nothing with `{3}`"),
        ("^*", "repeats nothing with `*`"),
        ("a$+", "repeats nothing with `+`"),
        (r"\b+", "repeats nothing"),
        ("a{", "does not start a quantifier"),
        ("a]", "no opening counterpart"),
        ("a}", "no opening counterpart"),
        (r"\-", r"`\-`"),
        (r"[\w-z]", "range in a class"),
        ("[z-a]", "range in a class"),
        ("[a", "unterminated"),
    ],
)
def test_what_codecs_cannot_hold_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        to_rust(pattern)
    assert reason in str(caught.value)
