"""The words of the language, and how a design writes them: `d.Tool`, and `http.GET` for an API."""

from __future__ import annotations

import re
import sys
from typing import Any, Final

from . import http

IMPORTS: Final = {"d": "from toolgen import dsl as d", "http": "from toolgen.dsl import http"}
"""The import statements of a design by the name that they bind, in their order."""
_MODULES: Final = {"d": sys.modules["toolgen.dsl"], "http": http}
"""Modules by name. Importing the package here would be circular, because its `build` needs this module."""
PREFIXES: Final = {word: name for name, module in _MODULES.items() for word in module.__all__}
"""The module prefix of each word in a design."""
_PART: Final = re.compile(r"""(?<!\w)'[^']*'|"[^"]*"|[\w.]++(?!=)|[()]""")
"""A quoted text, a name that is not a keyword argument, or a bracket."""


def spelling(name: str) -> str:
    """Return a word as a design writes it; any other name is returned unchanged."""
    return f"{PREFIXES[name]}.{name}" if name in PREFIXES else name


def code_spelling(text: str) -> str:
    """Return a text with the words in its code as a design writes them: `write d.ArrayOf(d.Int)`.

    A word is code if it is called, if it is an argument of a word, or if it follows `write`.
    """
    parts: list[str] = []
    calls: list[bool] = []
    end, is_word = 0, False
    for match in _PART.finditer(text):
        part, before, end = match[0], text[end : match.start()], match.end()
        if part == "(":
            calls.append(is_word)
        elif part == ")" and calls:
            calls.pop()
        is_word = part in PREFIXES
        is_code = text.startswith("(", end) or any(calls[-1:]) or text.endswith("write ", 0, match.start())
        parts += (before, spelling(part) if is_code else part)
    return "".join((*parts, text[end:]))


def value_of(word: str) -> Any:
    """Return the object of a word."""
    return getattr(_MODULES[PREFIXES[word]], word)
