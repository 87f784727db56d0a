"""What it takes to compile a pattern, in parts: all that the text of a pattern may cost."""

from __future__ import annotations

import pytest

from toolgen.shapes.foreign.pattern_compiling import MOST_PARTS, parts_of, parts_of_states, parts_of_text


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("", 0),
        ("^[a-z]{3}$", 5),
        (r"\d{4}-\d{2}", 7),
        ("(.{500}){100}", 500_100),
        ("((a{0,30}){0,30}){0,30}", 27_930),
        ("(((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9})", 10**9),
        ("[^]x]{2}|[[{]", 22),
        ("a{2,}b{x}", 6),
        ("){5}", 5),
        ("(" * 2_000 + "a" + "){9}" * 2_000, 10**9),
        (r"\p{L}{0,170}", 102_000),
        (r"\P{L}\pN", 1_200),
        (r"[^\p{L}\p{N}]{2}", 1_220),
        (r"\\p{3}[\\p]{2}", 6),
        ("[à-ÿ]{3}", 18),
        (r"[\u0100-\uFFFF]{3}", 18),
        (r"[\S]\S\D\W.", 50),
        ("(?:(?:ab)(c)){2}", 12),
    ],
)
def test_the_parts_of_the_states_are_counted_with_their_repetitions(pattern: str, parts: int) -> None:
    assert parts_of_states(pattern) == parts


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("^[a-z]+@[^.]{1,60}$", 0),
        (r"^\d{4}-\d\d$", 8),
        (r"\d" * 100, 7_000),
        (r"\S" * 400, 1_232_000),
        (r"[\w-]", 32),
        ("[à-ÿ]", 0),
        ("(?i)[a-z]x", 0),
        ("(?i)[à-ÿ]x", 4_500),
        (r"(?mi:\p{L}[\u0100-\uFFFF])", 9_000),
    ],
)
def test_the_parts_of_the_text_are_those_of_writing_it_out(pattern: str, parts: int) -> None:
    assert parts_of_text(pattern) == parts
    assert parts_of(pattern) == parts + parts_of_states(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-zA-Z0-9-]{1,63}(?:\.[a-zA-Z0-9-]{1,63})*$",
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
        "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        r"^(\p{Extended_Pictographic}|\p{Emoji_Component})+$",
        r"^[\p{L}\p{M}' -]{1,64}$",
        r"^[\s\S]{1,2000}$",
        "(?i)^https?://[^ ]+$",
    ],
)
def test_patterns_that_people_write_take_a_part_of_the_budget(pattern: str) -> None:
    assert parts_of(pattern) * 2 < MOST_PARTS
