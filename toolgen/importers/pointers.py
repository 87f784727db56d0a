"""JSON Pointers (RFC 6901) into a source."""

from __future__ import annotations

from toolgen.contract.json_pointer import pointer_of
from toolgen.contract.record import frozen_record


@frozen_record(kw_only=False)
class Place:
    """A place in a source; its pointer is computed only when it is needed."""

    outer: Place | None = None
    token: str | int = ""
    length: int = 0
    """Characters of the pointer, about."""

    @property
    def pointer(self) -> str:
        tokens: list[str | int] = []
        place = self
        while place.outer is not None:
            tokens.append(place.token)
            place = place.outer
        return joined("", *reversed(tokens))


def below(place: Place, token: str | int) -> Place:
    """Return the place of a key or of an item."""
    return Place(place, token, place.length + 1 + (len(token) if isinstance(token, str) else 1))


def joined(pointer: str, *tokens: str | int) -> str:
    """Return the pointer with these tokens added."""
    return pointer + pointer_of(tokens)
