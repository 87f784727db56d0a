"""Text of a model, or of a foreign schema, made safe to print at a terminal or in a log.

A terminal obeys control characters and escape sequences, reorders text by bidirectional controls and shows
nothing for some characters: whoever reads it would not see what is there (CWE-117, CWE-150, CVE-2021-42574).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_HIDDEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What Python calls printable and no font shows: the rest of Unicode's Default_Ignorable_Code_Point, and the
empty Braille pattern. Python itself tells of controls, formats, separators and surrogates."""

_HIDDEN_CATEGORIES: Final = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
"""Categories of Unicode: controls, formats, surrogates, separators of lines and paragraphs."""
_OF_WORDS: Final = frozenset("\t\n\r\u200c\u200d\ufe0e\ufe0f")
"""What shows by its neighbours: line breaks, joiners of Persian and of emoji, and the forms of emoji."""

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


def hides(text: str) -> bool:
    """Return whether a value holds what no reader sees, or sees in another order: controls, bidi, tags.

    Spaces of any kind, line breaks and what joins characters to a word are seen where they stand.
    """
    if text.isascii() and text.isprintable():
        return False
    return any(_is_hidden(char) for char in text)


def _is_hidden(char: str) -> bool:
    if char in _OF_WORDS:
        return False
    return unicodedata.category(char) in _HIDDEN_CATEGORIES or _HIDDEN.match(char) is not None


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
