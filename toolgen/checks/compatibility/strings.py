"""A few sample texts that match a pattern, short ones first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any, Final

_PARSER: Final = import_module("re._parser")
"""The parser of `re`, which has no public name."""
_MOST: Final = 6
_LONGEST: Final = 200
_CLASSES: Final = {"CATEGORY_DIGIT": "07", "CATEGORY_WORD": "a0", "CATEGORY_SPACE": " "}
_OUTSIDE: Final = "a0- ~é"
"""Characters to try for a negated class."""


@lru_cache(1_024)
def texts_of(pattern: str) -> tuple[str, ...]:
    """Return some strings that probably match; none for unsupported patterns."""
    try:
        parsed: Any = _PARSER.parse(pattern)
        return tuple(islice(dict.fromkeys(_sequence(list(parsed), 0)), _MOST))
    except (re.error, ValueError, OverflowError, RecursionError):
        return ()


def _sequence(parts: list[Any], depth: int) -> Iterator[str]:
    if depth > 40:
        raise ValueError("it is nested too deeply")
    if not parts:
        yield ""
        return
    options = [list(islice(_part(name, value, depth), _MOST)) for name, value in parts]
    if not all(options):
        return
    for at in range(_MOST):  # each step takes another option of each part
        text = "".join(part[at % len(part)] for part in options)
        if len(text) <= _LONGEST:
            yield text


def _part(name: Any, value: Any, depth: int) -> Iterator[str]:
    match str(name):
        case "LITERAL":
            yield chr(value)
        case "NOT_LITERAL":
            yield from (char for char in _OUTSIDE if ord(char) != value)
        case "ANY":
            yield from "a0"
        case "IN":
            yield from _class(value)
        case "AT":
            yield ""
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, inner = value
            for times in dict.fromkeys((least, min(least + 1, most), min(least + 2, most))):
                for text in islice(_sequence(list(inner), depth + 1), 2):
                    yield text * min(times, _LONGEST)
        case "SUBPATTERN":
            yield from _sequence(list(value[-1]), depth + 1)
        case "BRANCH":
            for branch in value[1]:
                yield from islice(_sequence(list(branch), depth + 1), 2)
        case _:
            return


def _class(members: list[Any]) -> Iterator[str]:
    is_negated = str(members[0][0]) == "NEGATE"
    chars = ""
    for name, value in members:
        match str(name):
            case "LITERAL":
                chars += chr(value)
            case "RANGE":
                chars += chr(value[0]) + chr(value[1])
            case "CATEGORY":
                chars += _CLASSES.get(str(value), "")
            case _:
                pass
    yield from (char for char in _OUTSIDE if char not in chars) if is_negated else chars
