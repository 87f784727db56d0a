"""Text of a model, or of a foreign schema, made safe to print at a terminal or in a log.

A terminal obeys control characters and escape sequences, reorders text by bidirectional controls and shows
nothing for some characters: whoever reads it would not see what is there (CWE-117, CWE-150, CVE-2021-42574).
"""

from __future__ import annotations

import re
from typing import Final

_HIDDEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What Python calls printable and no font shows: the rest of Unicode's Default_Ignorable_Code_Point, and the
empty Braille pattern. Python itself tells of controls, formats, separators and surrogates."""

_SHORT: Final = {"\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: str) -> str:
    """Return the text on one line, with control and invisible characters escaped.

    The escapes are those of JSON, so that JSON text without line breaks stays the same JSON.
    """
    if text.isprintable() and not _HIDDEN.search(text):
        return text
    return "".join(map(_shown, text))


def printable_lines(text: str) -> str:
    """Return the text with its line feeds, each line made printable; for texts that are made of lines."""
    return "\n".join(map(printable, text.split("\n")))


def _shown(char: str) -> str:
    if char.isprintable() and not _HIDDEN.match(char):
        return char
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
