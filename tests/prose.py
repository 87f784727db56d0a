"""Counts names and docstrings that the house style refuses, by room.

`python -m tests.prose` counts, with the name of a room (a package of toolgen) it lists the places, and with
`--lower` it keeps the numbers that fell.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.sources import ROOT, Source, sources

KEPT = Path(__file__).with_name("prose.json")
"""The most that each room may have; a number may only fall."""

NAMES = frozenset(
    "beside beating became been begun bell doomed excess found given heart hiding kept known one said talk "
    "ticket told whom".split()
)
"""Names that say nothing of the value; a field's own word does: `tool`, `claims`, `issues`, `previous`."""
PARTS = frozenset("beating became beside doomed heart said ticket told".split())
"""The same as parts of names: `is_told`, `_TOLD_ALREADY`."""
OPENINGS = frozenset(
    "about according after against among and as at because before beside between but by during for from in "
    "inside into like of on or outside over so than that through to under until upon whom whose "
    "with within without".split()
)
"""Words that begin a fragment: a phrase that only its neighbours complete."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The binding of a refused name, or a refused docstring."""

    file: str
    line: int
    kind: str
    """`name` or `docstring`."""
    text: str


def places() -> Iterator[Place]:
    """Yield the places in all files of toolgen, in order."""
    for file, source in sources().items():
        yield from places_of(source, file)


def places_of(source: Source, file: str) -> list[Place]:
    """Return the places in a file."""
    names = {Place(file, line, "name", name) for line, name in source.bound if is_refused(name)}
    fragments = {
        Place(file, line, "docstring", text.strip().partition("\n")[0])
        for line, text in source.docstrings
        if is_fragment(text)
    }
    return sorted(names | fragments)


@cache
def is_refused(name: str) -> bool:
    """Return whether a name is one of `NAMES`, or has one of `PARTS`."""
    words = re.findall(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*", name)
    return name.strip("_").lower() in NAMES or any(word.lower() in PARTS for word in words)


def is_fragment(docstring: str) -> bool:
    """Return whether a docstring begins with a preposition or a relative pronoun."""
    first = re.match(r"\w*", docstring.strip())
    return first is not None and first[0].lower() in OPENINGS


def room(place: Place) -> str:
    return place.file.partition("/")[0]


def counts() -> dict[str, dict[str, int]]:
    """Return the numbers of places by room and kind, of all rooms that there are."""
    counted = Counter((room(place), place.kind) for place in places())
    rooms = sorted(file.parent.name for file in ROOT.glob("*/__init__.py"))
    return {name: {kind: counted[name, kind] for kind in ("name", "docstring")} for name in rooms}


def main(rooms: list[str]) -> None:
    if rooms == ["--lower"]:
        kept = json.loads(KEPT.read_text("utf-8"))
        lower = {
            name: {
                kind: min(number, kept.get(name, numbers).get(kind, number))
                for kind, number in numbers.items()
            }
            for name, numbers in counts().items()
        }
        KEPT.write_text(json.dumps(lower, indent=1) + "\n", "utf-8")
        return
    for place in places():
        if room(place) in rooms:
            print(f"toolgen/{place.file}:{place.line}: {place.kind} {place.text}")
    if not rooms:
        print(json.dumps(counts(), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
