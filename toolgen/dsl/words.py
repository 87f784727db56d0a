"""The words of the language, and how a design writes them: `d.Tool`, and `http.GET` for an API."""

from __future__ import annotations

from typing import Any, Final

from toolgen import dsl

from . import http

IMPORTS: Final = {"d": "from toolgen import dsl as d", "http": "from toolgen.dsl import http"}
"""The imports of a design by the name that they bind, in their order."""
_MODULES: Final = {"d": dsl, "http": http}
PREFIXES: Final = {word: name for name, module in _MODULES.items() for word in module.__all__}
"""The module of each word, as a design calls it."""


def spelling(name: str) -> str:
    """Return a word as a design writes it; any other name as it is."""
    return f"{PREFIXES[name]}.{name}" if name in PREFIXES else name


def value_of(word: str) -> Any:
    """Return what a word is."""
    return getattr(_MODULES[PREFIXES[word]], word)
