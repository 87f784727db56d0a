"""JSON for the terminal: indented, and coloured where the terminal takes colours. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_INDENT: Final = "  "
_KEY: Final = "34"
_STRING: Final = "32"
_OTHER: Final = "36"
"""Terminal styles of keys, of strings, and of numbers and literals."""


def indented(document: str, *, colour: bool = False) -> str:
    """Return a JSON document on several lines; no value is read, so that numbers stay as they are written."""
    lines: list[str] = []
    line, depth, tokens = "", 0, [*_TOKEN.findall(document), ""]
    for token, following in pairwise(tokens):
        if token in ("{", "["):
            line += token
            if following not in ("}", "]"):
                depth += 1
                lines.append(line)
                line = _INDENT * depth
        elif token in ("}", "]"):
            if line.strip() and not line.rstrip().endswith(("{", "[")):
                depth -= 1
                lines.append(line)
                line = _INDENT * depth
            line += token
        elif token == ",":
            lines.append(f"{line},")
            line = _INDENT * depth
        elif token == ":":
            line += ": "
        else:
            line += _painted(token, is_key=following == ":") if colour else token
    return "\n".join([*lines, line])


def _painted(token: str, *, is_key: bool) -> str:
    style = _KEY if is_key else _STRING if token.startswith('"') else _OTHER
    return f"\x1b[{style}m{token}\x1b[0m"
