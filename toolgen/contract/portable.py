"""Portable text: without the lone surrogates that Python strings may hold and UTF-8 cannot encode.

They come out of file names that are not UTF-8 (PEP 383), and out of JSON with half of an escaped character.
"""

from __future__ import annotations


def portable_text(text: str) -> str:
    """Return the text with question marks in the place of lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode(errors="replace").decode()
