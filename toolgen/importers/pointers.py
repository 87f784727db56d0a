"""JSON Pointers (RFC 6901) into a source."""

from __future__ import annotations

from toolgen.contract.json_pointer import escaped


def joined(pointer: str, *tokens: str | int) -> str:
    """Return the pointer with these tokens appended."""
    for token in tokens:
        text = str(token)
        pointer = f"{pointer}/{escaped(text) if '~' in text or '/' in text else text}"
    return pointer
