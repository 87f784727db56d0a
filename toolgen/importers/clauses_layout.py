"""Python text of a design: calls, strings and JSON values, each on one line; ruff breaks the lines.

Ruff breaks no strings, so a long one is written in pieces here, which ruff joins where they fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolgen.contract.json_value import Json

_LONGEST_PIECE: Final = 72
"""Characters of a piece of a long string, with its quotes: a line of 100 holds it where attributes stand."""
_ESCAPES: Final = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@dataclass(frozen=True, slots=True)
class Text:
    """A string that is written in pieces, one behind the other, where it is long."""

    value: str

    @property
    def flat(self) -> str:
        return " ".join(map(string, _pieces(self.value)))


@dataclass(frozen=True, slots=True)
class Named:
    """A keyword argument."""

    keyword: str
    value: Part

    @property
    def flat(self) -> str:
        return f"{self.keyword}={flat(self.value)}"


class Group:
    """Parts between brackets: a call, a list, a tuple or a dict."""

    __slots__ = ("closing", "flat", "opening", "parts")

    def __init__(self, opening: str, parts: Iterable[Part], closing: str) -> None:
        self.opening = opening
        self.parts = tuple(parts)
        self.closing = closing
        held = ", ".join(flat(part) for part in self.parts)
        comma = "," if opening == "(" and len(self.parts) == 1 else ""
        self.flat = f"{opening}{held}{comma}{closing}"


Part: TypeAlias = "str | Text | Named | Group"
"""A piece of an expression; a plain str is printed as it is."""


def flat(part: Part) -> str:
    """Return the part on one line."""
    return part if isinstance(part, str) else part.flat


def call(word: str, *parts: Part) -> Group:
    return Group(f"{word}(", parts, ")")


def star_star(items: dict[str, Part]) -> Part:
    """Return keyword arguments whose names are no identifiers."""
    return Group("**{", (_item(key, value) for key, value in items.items()), "}")


def string(value: str) -> str:
    """Return a Python literal of the string: double quotes, unless single ones need no escapes."""
    quote = "'" if '"' in value and "'" not in value else '"'
    escaped = "".join(_escaped(char, quote) for char in value)
    return f"{quote}{escaped}{quote}"


def pattern(value: str) -> str:
    """Return a literal of a regular expression, raw where backslashes would double."""
    raw = "\\" in value and value.isprintable() and not value.endswith("\\")
    if raw and '"' not in value:
        return f'r"{value}"'
    if raw and "'" not in value:
        return f"r'{value}'"
    return string(value)


def literal(value: Json) -> Part:
    """Return a Python literal of a JSON value."""
    match value:
        case str():
            return string(value)
        case list():
            return Group("[", (literal(item) for item in value), "]")
        case dict():
            return Group("{", (_item(key, literal(held)) for key, held in value.items()), "}")
        case _:
            return repr(value)


def values(items: Iterable[Json]) -> Part:
    """Return a tuple of the values; unlike a list, it fits where a type checker expects a wider one."""
    return Group("(", (literal(item) for item in items), ")")


def _item(key: str, value: Part) -> Part:
    lead = f"{string(key)}: "
    if isinstance(value, Group):
        return Group(lead + value.opening, value.parts, value.closing)
    return lead + flat(value)


def _pieces(value: str) -> list[str]:
    """Return the string cut behind spaces and line feeds."""
    if len(string(value)) <= _LONGEST_PIECE:
        return [value]
    pieces = [""]
    for chunk in re.findall(r"\n+|[^ \n]+ *| +", value):
        grown = pieces[-1] + chunk
        is_new_line = pieces[-1].endswith("\n") and chunk[0] != "\n"
        if pieces[-1] and (is_new_line or len(string(grown)) > _LONGEST_PIECE):
            pieces.append(chunk)
        else:
            pieces[-1] = grown
    return pieces


def _escaped(char: str, quote: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == quote:
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
