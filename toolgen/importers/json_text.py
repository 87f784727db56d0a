"""JSON (RFC 8259) from text, nested to any depth, with duplicate keys and non-numbers reported."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NoReturn

from toolgen.schema_reader.document import LONGEST_POINTER

from .pointers import Place, below

DEEPEST: Final = 100
"""Levels of a document; the deepest schema in the public corpora has 30."""
TOO_DEEP: Final = "\x00too deep"
"""Stands in the place of what is nested deeper."""

_TOKENS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
"""A string, also one that never ends, or a bracket. At each quote it takes something and never looks back, so
that no character is looked at twice."""


class _DuplicateKeys(dict[str, object]):
    """An object of which some keys stand twice."""

    __slots__ = ("keys_twice",)
    keys_twice: list[str]


def read_json(text: str) -> tuple[object, list[str]]:
    """Return the value, and a pointer to each key that stands twice in its object.

    An integer of more digits than Python reads is infinity, as a float of such an exponent is.

    Raises:
        ValueError: it is no JSON; says why and where. NaN and Infinity are none.
    """
    seen_twice = False

    def object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal seen_twice
        entries = dict(pairs)
        if len(entries) == len(pairs):
            return entries
        seen_twice = True
        doubled = _DuplicateKeys(entries)
        times = Counter(key for key, _ in pairs)
        doubled.keys_twice = [key for key in entries if times[key] > 1]
        return doubled

    with suppress(ValueError, RecursionError):  # said below, of the text without what is too deep
        value: object = json.loads(text, object_pairs_hook=object_of, parse_constant=_refuse)
        if _is_shallow(value):
            return value, list(_duplicate_pointers(value)) if seen_twice else []
    seen_twice = False
    shallow = _cut_below_deepest(text)
    try:
        try:
            value = json.loads(shallow, object_pairs_hook=object_of, parse_constant=_refuse)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of too many digits; asking for each takes three times as long
            value = json.loads(
                shallow, object_pairs_hook=object_of, parse_constant=_refuse, parse_int=_integer
            )
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value, list(_duplicate_pointers(value)) if seen_twice else []


def _is_shallow(value: object) -> bool:
    """Return whether no part of a value is below the deepest level."""
    level = [value]
    for _ in range(DEEPEST + 1):
        inner = [part for part in level if isinstance(part, dict | list)]
        if not inner:
            return True
        level = [part for held in inner for part in (held.values() if isinstance(held, dict) else held)]
    return False


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more than sys.get_int_max_str_digits()
        return math.inf


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _cut_below_deepest(text: str) -> str:
    """Return the text with everything below the deepest level replaced by `TOO_DEEP`; lines stay lines."""
    depth, cut_from, end = 0, 0, 0
    pieces: list[str] = []
    for token in _TOKENS.finditer(text):
        char = text[token.start()]
        if char in "[{":
            depth += 1
            if depth == DEEPEST + 1:
                cut_from = token.start()
        elif char in "]}":
            depth -= 1
            if depth == DEEPEST:
                pieces += [text[end:cut_from], json.dumps(TOO_DEEP)]
                pieces.append("\n" * text.count("\n", cut_from, token.end()))
                end = token.end()
    if depth > DEEPEST:  # it never ends: leave the rest out, so that the parser says what is missing
        return "".join([*pieces, text[end:cut_from]])
    return "".join([*pieces, text[end:]]) if pieces else text


def _duplicate_pointers(value: object) -> Iterator[str]:
    waiting: list[tuple[object, Place]] = [(value, Place())]
    while waiting:
        part, place = waiting.pop()
        if place.length > LONGEST_POINTER:
            continue  # what stands there cannot be imported
        if isinstance(part, _DuplicateKeys):
            yield from (below(place, key).pointer for key in part.keys_twice)
        if isinstance(part, dict):
            waiting += [(child, below(place, key)) for key, child in part.items()]
        elif isinstance(part, list):
            waiting += [(child, below(place, index)) for index, child in enumerate(part)]
