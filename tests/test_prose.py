"""Names and docstrings that `tests/prose.py` refuses; `tests/test_layers.py` holds that they become fewer."""

from __future__ import annotations

import pytest

from tests.prose import is_fragment, is_refused, places_of
from tests.sources import source_of


@pytest.mark.parametrize("name", ["found", "_found", "_BECAME", "is_told", "Heart", "_Told", "one"])
def test_a_name_that_says_nothing(name: str) -> None:
    assert is_refused(name)


@pytest.mark.parametrize("name", ["is_found", "once", "tool", "givens", "hearts", "claims"])
def test_a_name_of_the_field(name: str) -> None:
    assert not is_refused(name)


@pytest.mark.parametrize(
    "text", ["Of every token.", "\n    By name.", "for each call", "Whose tools these are."]
)
def test_a_fragment(text: str) -> None:
    assert is_fragment(text)


@pytest.mark.parametrize("text", ["Return the tools.", "Official names.", "", "Whether it is one.", "Bytes."])
def test_a_docstring_that_stands_alone(text: str) -> None:
    assert not is_fragment(text)


def test_each_place_is_counted_once() -> None:
    text = '''
"""By hand."""
limit = 1
"""Of a call."""

class Heart:
    def one(self, given: int, *, tool: str) -> int:
        """Of the tool."""
        found, self.told = given, tool
        return [one for one in found if (known := one)]
'''
    places = [(place.line, place.kind, place.text) for place in places_of(source_of(text), "a.py")]
    assert places == [
        (2, "docstring", "By hand."),
        (4, "docstring", "Of a call."),
        (6, "name", "Heart"),
        (7, "name", "given"),
        (7, "name", "one"),
        (8, "docstring", "Of the tool."),
        (9, "name", "found"),
        (9, "name", "told"),
        (10, "name", "known"),
        (10, "name", "one"),
    ]
