"""JSON (RFC 8259) from text, with nesting of any depth and with what `json` passes over in silence."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NoReturn

from .pointers import joined

DEEPEST: Final = 100
"""Levels of a document; the deepest schema in the public corpora has 30."""
TOO_DEEP: Final = "\x00too deep"
"""Stands in the place of what is nested deeper."""

_TOKENS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]', re.DOTALL)


class _Doubled(dict[str, object]):
    """An object of which some keys stand twice."""

    __slots__ = ("keys_twice",)
    keys_twice: list[str]


def read_json(text: str) -> tuple[object, list[str]]:
    """Return the value, and a pointer to each key that stands twice in its object.

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
        doubled = _Doubled(entries)
        times = Counter(key for key, _ in pairs)
        doubled.keys_twice = [key for key in entries if times[key] > 1]
        return doubled

    shallow = _shallow(text)
    try:
        value: object = json.loads(shallow, object_pairs_hook=object_of, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value, list(_twice(value)) if seen_twice else []


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _shallow(text: str) -> str:
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


def _twice(value: object) -> Iterator[str]:
    waiting: list[tuple[object, str]] = [(value, "")]
    while waiting:
        part, pointer = waiting.pop()
        if isinstance(part, _Doubled):
            yield from (joined(pointer, key) for key in part.keys_twice)
        if isinstance(part, dict):
            waiting += [(child, joined(pointer, key)) for key, child in part.items()]
        elif isinstance(part, list):
            waiting += [(child, joined(pointer, index)) for index, child in enumerate(part)]
