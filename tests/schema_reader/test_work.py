"""Reading a schema, and finding words for it, is linear in its width."""

from __future__ import annotations

import pytest

from tests.work import lines_run
from toolgen.schema_reader import read
from toolgen.schema_reader.reading import expanded_size

from .shapes import SHAPES


@pytest.mark.parametrize("shape", SHAPES)
def test_a_schema_is_read_in_linear_work(shape: str) -> None:
    def work(number: int) -> int:
        schema = SHAPES[shape](number)
        return lines_run(lambda: read(schema, name="Payload", arguments=True))

    assert work(60) < 2.3 * work(30)


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("", 0),
        ("^[a-z]{3}$", 5),
        (r"\d{4}-\d{2}", 7),
        ("(.{500}){100}", 50_000),
        ("((a{0,30}){0,30}){0,30}", 27_000),
        ("(((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9})", 10**9),
        ("[^]x]{2}|[[{]", 4),
        ("a{2,}b{x}", 6),
        ("){5}", 5),
        ("(" * 2_000 + "a" + "){9}" * 2_000, 10**9),
    ],
)
def test_the_parts_of_a_pattern_are_counted_with_their_repetitions(pattern: str, size: int) -> None:
    assert expanded_size(pattern) == size


def test_patterns_that_would_take_minutes_to_compile_are_one_problem() -> None:
    schema = {"properties": {f"p{n}": {"type": "string", "pattern": r"^\S{1,400}$"} for n in range(9_000)}}
    [problem] = read(schema, name="Payload", arguments=True).problems
    assert problem.pointer == "/properties/p248/pattern"
    assert problem.message == "brings all patterns to more than 100000 parts, repetitions written out"
