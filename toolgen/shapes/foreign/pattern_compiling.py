"""The cost of compiling a pattern, estimated from its text.

An engine creates states for each character and class, multiplied by its repetitions; for a class beyond
ASCII, states for each byte of its ranges, and a Unicode property has some hundred ranges. So
`^\\p{L}{0,170}$` takes as long as 100 kB of letters. Before that, jsonschema-rs expands `\\d` and similar
escapes to their meaning in ECMA-262, and reads the whole text again for each.
"""

from __future__ import annotations

import re
from typing import Final

MOST_PARTS: Final = 100_000
"""Maximum number of parts in all patterns of a schema.

A part takes up to 1 µs to compile, as long as 20 steps of a document.
"""
_RANGES: Final = 4
"""Parts of a class beyond ASCII, in addition to the parts of its characters."""
_REST: Final = 10
"""Parts of a negated class."""
_PROPERTY: Final = 600
"""Parts of a class with Unicode properties; several properties have no more ranges together."""
_FOLDED: Final = 4_500
"""Parts for finding the other cases of the characters in a class beyond ASCII, once."""
_SETS_IN_CLASS: Final = 30
"""Parts for expanding the sets in a class, once."""
_READ: Final = 10
"""Characters that are read again in the time of a part."""
_WRITTEN: Final = {"s": 75, "S": 75, "d": 5, "D": 6, "w": 12, "W": 13}
"""Length of the expansion of a set, in characters."""
_MOST: Final = 10**9
_TERM: Final = re.compile(
    r"(?P<plain>[^\\\[(){.]+)|(?P<property>\\[pP](?:\{[^}]{0,60}\}|.))|(?P<set>\\[sSdDwW])"
    r"|\\(?:[ux]\{[^}]{0,8}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)|(?P<class>\[\^?\]?(?:[^\]\\]|\\.)*+\]?)"
    r"|\((?:\?:)?|\{(?P<least>[0-9]{1,9})(?:,(?P<most>[0-9]{0,9}))?\}|.",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_IGNORES_CASE: Final = re.compile(r"\(\?[a-zA-Z]*i")


def parts_of(pattern: str) -> int:
    """Return the parts for compiling a pattern: the parts of its text and of its states.

    A pattern with more characters than a schema can have parts is not analyzed.
    """
    if len(pattern) > MOST_PARTS:
        return len(pattern)
    return min(parts_of_text(pattern) + parts_of_states(pattern), _MOST)


def parts_of_text(pattern: str) -> int:
    """Return the parts for reading a pattern, which no limit on the size of its states bounds."""
    ignores_case = _IGNORES_CASE.search(pattern) is not None
    parts, sets, size = 0, 0, len(pattern)
    for term in _TERM.finditer(pattern):
        escapes = _ESCAPE.findall(term["class"]) if term["class"] else []
        if term["set"]:
            sets += 1
            size += _WRITTEN[term[0][1]]
        elif written := sum(escape in _WRITTEN for escape in escapes):
            parts += _SETS_IN_CLASS + 2 * written
        if ignores_case and (term["property"] or (term["class"] and (escapes or not term[0].isascii()))):
            parts += _FOLDED
    return min(parts + sets * size // _READ, _MOST)


def parts_of_states(pattern: str) -> int:
    """Return the parts of a pattern with its repetitions expanded; a class has up to a thousand parts.

    `(.{500}){100}` has thirteen characters, and half a million parts.
    """
    sizes = [0]  # sizes of the open groups, the outermost first
    last = 0
    for term in _TERM.finditer(pattern):
        text = term[0]
        if term["plain"]:
            sizes[-1] += len(text)
            last = 1
        elif text in ("(", "(?:"):
            sizes.append(1)  # its beginning and its end
            last = 0
        elif text == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif term["least"]:
            more = last * max(int(term["least"]), int(term["most"] or 0))
            sizes[-1] += more - last
            last = more
        else:
            last = _PROPERTY if term["property"] else _of_class(text) if term["class"] else _of_atom(text)
            sizes[-1] += last
        sizes[-1] = min(sizes[-1], _MOST)
    return min(sum(sizes), _MOST)


def _of_atom(text: str) -> int:
    return _REST if text in (".", r"\s", r"\S", r"\D", r"\W") else 1


def _of_class(text: str) -> int:
    escapes = _ESCAPE.findall(text)
    beyond = sum(not char.isascii() for char in text) + escapes.count("u") + escapes.count("x")
    is_rest = text.startswith("[^") or not {"s", "S", "D", "W"}.isdisjoint(escapes)
    parts = beyond + (_REST if is_rest else _RANGES if beyond else 1)
    return parts + (_PROPERTY if {"p", "P"} & set(escapes) else 0)
