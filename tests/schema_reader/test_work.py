"""Reading a schema, and finding words for it, is linear in its width."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from tests.selection import first
from tests.work import lines_run
from toolgen.shapes.foreign.reader import read

from .shapes import SHAPES


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", first(SHAPES, 8))
def test_a_schema_is_read_in_linear_work(shape: str) -> None:
    def work(number: int) -> int:
        schema = SHAPES[shape](number)
        return lines_run(lambda: read(schema, name="Payload", arguments=True))

    assert work(60) < 2.3 * work(30)


@pytest.mark.exhaustive
def test_patterns_that_would_take_minutes_to_compile_are_one_problem() -> None:
    schema = {"properties": {f"p{n}": {"type": "string", "pattern": r"^\S{1,400}$"} for n in range(9_000)}}
    [problem] = read(schema, name="Payload", arguments=True).problems
    assert problem.pointer == "/properties/p24/pattern"
    assert (
        problem.message == "brings all patterns together to more than 100000 parts, counting each repetition"
    )


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\p{L}{0,10%s}$",
        r"^[^%sx]{0,999}$",
        "(?i)" + "[\U00010000-\U0010ffff]" * 10 + "%s",
        r"\S" * 90 + "%s",
    ],
)
def test_few_bytes_of_patterns_that_take_seconds_to_compile_are_one_problem(pattern: str) -> None:
    texts = [pattern.replace("%s", str(number)) for number in range(10, 50)]
    schema: dict[str, Any]
    for schema in (
        {"properties": {text: {"pattern": text} for text in texts}},
        {"patternProperties": {text: {} for text in texts}},
        {"items": {"anyOf": [{"type": "string", "pattern": text} for text in texts]}},
    ):
        [problem] = read(schema, name="Payload").problems
        assert "100000 parts" in problem.message
        assert "maxLength" in problem.hint


def test_a_pattern_that_no_type_can_hold_counts_once_however_often_it_occurs() -> None:
    name = {"type": "string", "pattern": r"^[\p{L}\p{M}' -]{1,100}$"}
    assert read({"properties": {f"p{n}": name for n in range(50)}}, name="Payload").problems == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": r"^\p{L}a+$"},
        {"enum": [f"{number}" for number in range(100)], "pattern": r"^\p{Nd}+$"},
        {"enum": [f"{number}" for number in range(100)], "pattern": r"^[0-9]+$"},
        {"properties": {f"p{number}": {"pattern": r"^\p{Lu}+$"} for number in range(100)}},
    ],
)
def test_a_pattern_is_compiled_a_few_times_whatever_there_is_of_values(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = 0
    make = jsonschema_rs.Draft202012Validator

    def counted(schema: Any, **options: Any) -> object:
        nonlocal compiled
        compiled += "pattern" in str(schema) and "keywords" not in options
        return make(schema, **options)

    monkeypatch.setattr(jsonschema_rs, "Draft202012Validator", counted)
    assert read(schema, name="Payload").problems == ()
    assert compiled <= 2
