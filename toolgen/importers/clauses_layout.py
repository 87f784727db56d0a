"""Expressions of a design: calls of clauses and values, each as text on one line; ruff breaks the lines.

Ruff does not break strings, so long strings are written in pieces here, which ruff joins if they fit.
"""

from __future__ import annotations

import datetime as dt
import keyword
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.dsl.words import IMPORTS, spelling
from toolgen.shapes.values import decimal_text

MODULES: Final = {"dt": "import datetime as dt", "decimal": "import decimal", **IMPORTS}
"""Import statements by the name that they bind, in the order of a module."""
_LONGEST_PIECE: Final = 72
"""Maximum length of a piece of a long string, with quotes: it fits a line of 100 in an attribute."""
_QUOTED: Final = frozenset("\\\"'")
_ESCAPES: Final = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@frozen_record(kw_only=False)
class Text:
    """A string that is written in consecutive pieces if it is long."""

    value: str

    @property
    def flat(self) -> str:
        return _in_pieces(self.value)


@frozen_record(kw_only=False)
class CodeValue:
    """A value, and the Python expression that creates it."""

    value: object
    flat: str


@frozen_record(kw_only=False)
class Named:
    """A keyword argument, whose name does not need to be an identifier."""

    keyword: str
    value: Part

    @property
    def flat(self) -> str:
        return f"{self.keyword}={flat(self.value)}"

    @property
    def is_plain(self) -> bool:
        return _is_plain(self.keyword)


@lru_cache(4_096)
def _is_plain(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name)


class ClauseCall:
    """A clause with its arguments."""

    __slots__ = ("clause", "flat", "parts")

    def __init__(self, clause: str, parts: Iterable[Part | Named]) -> None:
        self.clause = clause
        self.parts = tuple(parts)
        self.flat = f"{spelling(clause)}({', '.join(_arguments(self.parts))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClauseCall) and self.flat == other.flat

    def __hash__(self) -> int:
        return hash(self.flat)


class Items:
    """A tuple of expressions."""

    __slots__ = ("flat", "parts")

    def __init__(self, parts: Iterable[Part]) -> None:
        self.parts = tuple(parts)
        self.flat = f"({', '.join(map(flat, self.parts))}{',' if len(self.parts) == 1 else ''})"


Part: TypeAlias = "str | Text | CodeValue | ClauseCall | Items"
"""A piece of an expression; a plain str is the name of a clause or of a type."""


def flat(part: Part | Named) -> str:
    """Return the part on one line."""
    return spelling(part) if isinstance(part, str) else part.flat


def call(clause: str, *parts: Part | Named) -> ClauseCall:
    return ClauseCall(clause, parts)


def parts_in(part: Part | Named) -> Iterator[Part]:
    """Yield an expression and all its inner expressions."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Named):
            part = part.value
        yield part
        waiting += part.parts if isinstance(part, (ClauseCall, Items)) else ()


def _arguments(parts: tuple[Part | Named, ...]) -> Iterator[str]:
    """Yield arguments as text; starting with the first keyword that is not an identifier, use one dict."""
    for at, part in enumerate(parts):
        if isinstance(part, Named) and not part.is_plain:
            odd = [each for each in parts[at:] if isinstance(each, Named)]
            yield f"**{{{', '.join(f'{string(each.keyword)}: {flat(each.value)}' for each in odd)}}}"
            return
        yield flat(part)


def string(value: str) -> str:
    """Return a Python literal of the string: double quotes, unless single ones need no escapes."""
    quote = "'" if '"' in value and "'" not in value else '"'
    if value.isprintable() and quote not in value and "\\" not in value:
        return f"{quote}{value}{quote}"
    escaped = "".join(_escaped(char, quote) for char in value)
    return f"{quote}{escaped}{quote}"


def pattern(value: str) -> str:
    """Return a literal for a regular expression, raw if backslashes would have to be doubled."""
    raw = "\\" in value and value.isprintable() and not value.endswith("\\")
    if raw and '"' not in value:
        return f'r"{value}"'
    if raw and "'" not in value:
        return f"r'{value}'"
    return string(value)


def literal(value: object) -> CodeValue:
    """Return the expression for a value that a design allows: JSON, bytes, a date, a decimal, a tuple."""
    return CodeValue(value, _expression(value))


def _expression(value: object) -> str:
    match value:
        case str():
            return string(value)
        case list():
            return f"[{', '.join(map(_expression, value))}]"
        case tuple():
            return f"({', '.join(map(_expression, value))}{',' if len(value) == 1 else ''})"
        case dict():
            return f"{{{', '.join(f'{string(key)}: {_expression(part)}' for key, part in value.items())}}}"
        case bytes():
            return repr(value)
        case Decimal():
            return f"decimal.Decimal({string(decimal_text(value))})"
        case dt.datetime():
            value = value.replace(tzinfo=dt.timezone(value.utcoffset() or dt.timedelta(0)))
            return repr(value).replace("datetime.timezone.utc", "dt.UTC").replace("datetime.", "dt.")
        case _:
            return repr(value).replace("datetime.", "dt.")


@lru_cache(4_096)
def _in_pieces(value: str) -> str:
    """Return a string as literals in pieces; cached, because many operations share texts."""
    return " ".join(map(string, _pieces(value)))


def _pieces(value: str) -> list[str]:
    """Return the string cut after spaces and line feeds."""
    if not _is_long(value):
        return [value]
    pieces = [""]
    for chunk in re.findall(r"\n+|[^ \n]+ *| +", value):
        grown = pieces[-1] + chunk
        is_new_line = pieces[-1].endswith("\n") and chunk[0] != "\n"
        if pieces[-1] and (is_new_line or _is_long(grown)):
            pieces.append(chunk)
        else:
            pieces[-1] = grown
    return pieces


def _is_long(text: str) -> bool:
    """Return whether a string with its quotes exceeds a piece; one character needs at most ten."""
    if len(text) + 2 > _LONGEST_PIECE:
        return True
    is_plain = 10 * len(text) + 2 <= _LONGEST_PIECE or (text.isprintable() and _QUOTED.isdisjoint(text))
    return not is_plain and len(string(text)) > _LONGEST_PIECE


def _escaped(char: str, quote: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == quote:
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
