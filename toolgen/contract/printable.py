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
_BREAKS: Final = frozenset("\t\n\r")
_JOINERS: Final = frozenset("\u200c\u200d")
"""What shows by its neighbours: in Persian and the scripts of India, and in emoji."""
_FORMS: Final = frozenset("\ufe0e\ufe0f")
"""The forms of emoji, and of the characters that have one, such as `1` and `#`."""
_UNJOINED: Final = (
    "LATIN",
    "GREEK",
    "CYRILLIC",
    "ARMENIAN",
    "GEORGIAN",
    "CJK",
    "HANGUL",
    "HIRAGANA",
    "KATAKANA",
)
"""Beginnings of the names of letters that no joiner changes."""
_VIRAMA: Final = 9
"""Combining class of the sign that a joiner may follow at the end of a word."""

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

    Spaces of any kind and line breaks are seen where they stand, and so is what joins characters, or gives
    one its form, between those that it changes.
    """
    if text.isascii() and text.isprintable():
        return False
    around = zip(("", *text), text, (*text[1:], ""), strict=False)
    return any(_is_hidden(before, char, after) for before, char, after in around)


def _is_hidden(before: str, char: str, after: str) -> bool:
    if char in _BREAKS:
        return False
    if char in _JOINERS:
        is_last = before != "" and unicodedata.combining(before) == _VIRAMA
        return not (_is_joined(before) and (is_last or _is_joined(after)))
    if char in _FORMS:
        is_symbol = unicodedata.category(before or " ")[0] in "SP" and (
            not before.isascii() or before in "#*"
        )
        return before in _FORMS or not (before.isdigit() or is_symbol or _is_joined(before))
    return unicodedata.category(char) in _HIDDEN_CATEGORIES or _HIDDEN.match(char) is not None


def _is_joined(char: str) -> bool:
    """Return whether a joiner may change a character: a letter or a mark of some scripts, or an emoji."""
    if char.isascii():  # "" is, too
        return False
    if char in _FORMS or not char.isalpha():
        return char in _FORMS or unicodedata.category(char) in ("Mn", "Mc", "Me", "So", "Sk")
    return not unicodedata.name(char, "").startswith(_UNJOINED)


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
