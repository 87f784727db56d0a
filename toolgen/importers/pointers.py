"""JSON Pointers (RFC 6901) into a source."""

from __future__ import annotations

from toolgen.contract.json_pointer import pointer_of


def joined(pointer: str, *tokens: str | int) -> str:
    """Return the pointer with these tokens added."""
    return pointer + pointer_of(tokens)
