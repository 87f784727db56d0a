"""What every provider, store and engine takes: text in UTF-8, and arguments that are JSON objects. Pure."""

from __future__ import annotations


def portable_text(text: str) -> str:
    """Return the text with question marks in the place of lone surrogates, which UTF-8 cannot encode."""
    return text.encode(errors="replace").decode()
