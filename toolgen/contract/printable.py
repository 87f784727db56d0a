"""Makes text from a model or a third-party schema safe to print in a terminal or a log.

A terminal executes control characters and escape sequences, reorders text with bidirectional controls and
hides some characters, so that a reader would not see the actual text (CWE-117, CWE-150, CVE-2021-42574).
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
"""Ranges that Python calls printable but no font shows.

They are the rest of Unicode's Default_Ignorable_Code_Point, and the empty Braille pattern. `str.isprintable`
covers controls, formats, separators, surrogates and unassigned code points. `tests/escape_table.py` generates
the table of the explorer from this table.
"""

SHORT_ESCAPES: Final = {"\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
"""JSON escapes that are shorter than the escapes by code point."""

_HIDDEN: Final = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSEEN) + "]")

_HIDDEN_CATEGORIES: Final = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
"""Unicode categories: controls, formats, surrogates, line and paragraph separators."""
_BREAKS: Final = frozenset("\t\n\r")
_LINE_ENDS: Final = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_INDENTS: Final = re.compile(r"^\t+", re.MULTILINE)
_BLANKS: Final = re.compile("[\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""A tab, and the Unicode spaces (category Zs) other than the plain space."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Joiners, which affect their neighbors: in Persian and Indic scripts, and in emoji."""
_FORMS: Final = frozenset("\ufe0e\ufe0f")
"""Variation selectors for emoji and for characters with an emoji form, for example `1` and `#`."""
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
"""Prefixes of the Unicode names of letters that no joiner changes."""
_VIRAMA: Final = 9
"""Combining class of the sign that a joiner can follow at the end of a word."""


def plain_spaces(text: str) -> str:
    """Return a text for readers whose only white space is line feeds and plain spaces.

    Every Unicode line end becomes a line feed, a tab that indents a line becomes four spaces, and any other
    blank becomes one space. Values and patterns are part of a contract and must not be passed to this
    function.
    """
    if text.isprintable():
        return text
    text = _INDENTS.sub(lambda tabs: "    " * len(tabs[0]), _LINE_ENDS.sub("\n", text))
    return _BLANKS.sub(" ", text)


def printable(text: str) -> str:
    """Return the text on one line, with control and invisible characters and backslashes escaped.

    The result is unambiguous: if a text contains a literal escape sequence, its backslash is doubled.
    """
    return visible(text.replace("\\", "\\\\"))


def printable_lines(text: str) -> str:
    """Return the text with its line feeds, each line made printable; for texts that consist of lines."""
    return "\n".join(map(printable, text.split("\n")))


def visible(text: str) -> str:
    """Return the text on one line, with control and invisible characters escaped; backslashes stay.

    It is for texts whose backslashes are already escaped: JSON, which stays the same JSON, Python literals,
    and sentences in which each third-party text is such a literal or was made printable.
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
    """Return whether a value has characters that readers do not see, or see out of order: bidi, tags.

    Spaces of any kind and line breaks are visible. Joiners and variation selectors are visible next to
    characters that they change.
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
    """Return whether a joiner can change a character: a letter or a mark of some scripts, or an emoji."""
    if char.isascii():  # true for "" too
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
