"""Texts without sensitive values, however large these are: what is looked for is counted, and bounded."""

from __future__ import annotations

import json
import random
import string

import pytest

from toolgen.contract.secrets import HIDDEN, Secrets

LARGE = "".join(random.Random(1).choices(string.ascii_letters, k=87 * 1024))
PIECE, ALL_PIECES, STRIDE = 12, 16_384, 12


def knowing(*values: object) -> Secrets:
    secrets = Secrets()
    secrets.add(values)
    return secrets


def test_a_large_value_is_looked_for_by_few_pieces() -> None:
    secrets = knowing(LARGE)
    assert secrets.term_count <= ALL_PIECES + len(LARGE) // STRIDE
    assert secrets.scrubbed("nothing of it") == "nothing of it"
    assert secrets.scrubbed(f"<{LARGE}>") == f"<{HIDDEN}>"
    assert secrets.scrubbed(f"<{LARGE[ALL_PIECES - 40 : ALL_PIECES + 60]}>") == f"<{HIDDEN}>"
    assert secrets.scrubbed(f"< {LARGE[100:112]} >") == f"< {HIDDEN} >"
    assert secrets.scrubbed(f"< {LARGE[100:111]} >") == f"< {LARGE[100:111]} >"


@pytest.mark.parametrize("start", [20_000, 20_007, 60_011, len(LARGE) - 23])
def test_23_characters_in_a_row_tell_what_the_rest_of_a_large_value_is_of(start: int) -> None:
    quoted = knowing(LARGE).scrubbed(f"failed: {LARGE[start : start + 23]}!")
    assert HIDDEN in quoted
    assert LARGE[start : start + PIECE] not in quoted


def test_a_value_is_hidden_at_the_end_of_a_text_and_cut_off() -> None:
    secrets = knowing(LARGE[:1_000])
    for length in (PIECE, 13, 999, 1_000):
        assert secrets.scrubbed("it is " + LARGE[:length]) == "it is " + HIDDEN
        assert secrets.scrubbed(LARGE[1_000 - length : 1_000] + " it is") == HIDDEN + " it is"


@pytest.mark.parametrize("values", [["x" * 100_001], [f"value {number} of many" for number in range(7_000)]])
def test_what_is_not_searched_is_not_shown(values: list[str]) -> None:
    secrets = knowing(values)
    assert secrets.knows_any
    assert secrets.term_count <= 100_000
    assert secrets.scrubbed("disk full") == HIDDEN
    assert secrets.scrubbed("no") == "no"


@pytest.mark.exhaustive
def test_forms_that_escape_much_are_bounded() -> None:
    secrets = knowing("\n".join(f"line {number} '\"\\ é" for number in range(6_000)))
    assert secrets.term_count <= 150_000
    assert secrets.scrubbed("disk full") == HIDDEN


@pytest.mark.exhaustive
def test_a_text_that_is_too_long_to_be_searched_is_hidden() -> None:
    secrets = knowing("4111-OTTER")
    assert secrets.scrubbed("a" * 1_000_000) == "a" * 1_000_000
    assert secrets.scrubbed("a" * 1_000_001) == HIDDEN
    assert Secrets().scrubbed("a" * 1_000_001) == "a" * 1_000_001


def test_thousands_of_short_values_are_found_by_how_they_begin() -> None:
    secrets = knowing([f"v{number:04}" for number in range(9_000)])
    assert secrets.term_count == 9_000
    assert secrets.scrubbed("v0001 v9001 xv0002 v0003y v0004") == f"{HIDDEN} v9001 xv0002 v0003y {HIDDEN}"
    assert secrets.scrubbed("v000" * 10_000) == "v000" * 10_000


def test_the_longest_value_that_begins_at_a_place_is_hidden() -> None:
    secrets = knowing("abc", "abc-def", "abc-def-ghi-jkl")
    text = "abc abc-def abc-def-ghi-jkl abcd"
    assert secrets.scrubbed(text) == f"{HIDDEN} {HIDDEN} {HIDDEN} abcd"


def test_lines_and_quoted_forms_of_a_value_are_found() -> None:
    value = 'first\nsecond line that is long enough\n"é" \x1b'
    secrets = knowing(value)
    for text in (value, json.dumps(value), repr(value), json.dumps(json.dumps(value)), "  first"):
        scrubbed = secrets.scrubbed(f"[{text}]")
        assert "first" not in scrubbed
        assert "second" not in scrubbed
