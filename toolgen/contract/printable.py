"""Text of a model, or of a foreign schema, made safe to print at a terminal or in a log.

A terminal executes control characters and escape sequences, reorders text by bidirectional controls and hides
some characters, so that a reader would not see the actual text (CWE-117, CWE-150, CVE-2021-42574).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

UNSEEN: Final = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180D),
    (0x180F, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)
"""Ranges that Python calls printable and no font shows: the rest of Unicode's Default_Ignorable_Code_Point,
and the empty Braille pattern. `str.isprintable` covers controls, formats, separators, surrogates and code
points that are not assigned. `tests/escape_table.py` generates the table of the explorer from this one."""

SHORT_ESCAPES: Final = {"\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
"""Escapes of JSON that are shorter than those by code point."""

_HIDDEN: Final = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSEEN) + "]")

_HIDDEN_CATEGORIES: Final = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
"""Categories of Unicode: controls, formats, surrogates, separators of lines and paragraphs."""
_BREAKS: Final = frozenset("\t\n\r")
_LINE_ENDS: Final = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_INDENTS: Final = re.compile(r"^\t+", re.MULTILINE)
_BLANKS: Final = re.compile("[\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""A tab, and the spaces of Unicode (category Zs) other than the plain one."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Characters that are visible through their neighbours: in Persian and the scripts of India, and in emoji."""
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


def plain_spaces(text: str) -> str:
    """Return a text for readers whose white space is line feeds and plain spaces.

    Every line end of Unicode becomes a line feed, a tab that indents a line four spaces, and any other blank
    one space. Values and patterns are part of a contract: they keep theirs.
    """
    if text.isprintable():
        return text
    text = _INDENTS.sub(lambda tabs: "    " * len(tabs[0]), _LINE_ENDS.sub("\n", text))
    return _BLANKS.sub(" ", text)


def printable(text: str) -> str:
    """Return the text on one line, with control and invisible characters and backslashes escaped.

    No two texts look the same: a text that spells an escape out has two backslashes there.
    """
    return visible(text.replace("\\", "\\\\"))


def printable_lines(text: str) -> str:
    """Return the text with its line feeds, each line made printable; for texts that are made of lines."""
    return "\n".join(map(printable, text.split("\n")))


def visible(text: str) -> str:
    """Return the text on one line, with control and invisible characters escaped; backslashes stay.

    It is for texts that have escaped their backslashes: JSON, which stays the same JSON, literals of Python,
    and sentences in which each text of somebody else is such a literal or was made printable.
    """
    if text.isprintable() and not _HIDDEN.search(text):
        return text
    return "".join(map(_shown, text))


def visible_lines(text: str) -> str:
    """Return the text with its line feeds, each line made visible."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "\n".join(map(visible, text.split("\n")))


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
    if char in SHORT_ESCAPES:
        return SHORT_ESCAPES[char]
    code = ord(char)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
