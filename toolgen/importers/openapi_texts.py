"""Texts about an OpenAPI document, for the design and for findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from toolgen.shapes import naming
from toolgen.shapes.foreign.normal_form import safe_text

from .clauses_layout import Named, literal
from .openapi_document import mapping, text

_MOST_NAMED: Final = 20
"""Maximum number of names in a finding."""


def own_title(schema: object, name: str) -> list[Named]:
    """Return the title of a component if a type with this name would have another one."""
    title = safe_text(text(mapping(schema).get("title")))
    return [Named("title", literal(title))] if title and naming.words(title) != naming.words(name) else []


def place_count(places: Sequence[str]) -> str:
    """Return the number of places: `1 place`, `3 places`."""
    return f"{len(places):,} place{'' if len(places) == 1 else 's'}"


def first_of(names: Sequence[str], between: str = ", ") -> str:
    """Return the first names of a list, and the number of the others."""
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return between.join(names[:_MOST_NAMED]) + more


def tally(words: Iterable[str]) -> str:
    """Return each word with its number of occurrences: `title (2), xml (1)`."""
    return ", ".join(f"{word} ({count:,})" for word, count in Counter(words).items())
