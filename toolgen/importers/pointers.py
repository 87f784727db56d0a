"""JSON Pointers (RFC 6901) into a source."""

from __future__ import annotations

from collections.abc import Iterable


def joined(pointer: str, *tokens: str | int) -> str:
    """Return the pointer, longer by these tokens."""
    return pointer + "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def split(pointer: str) -> list[str]:
    """Return the tokens of a pointer; none of the empty one."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def resolve(document: object, tokens: Iterable[str]) -> object:
    """Return what stands there.

    Raises:
        LookupError: nothing does.
    """
    for token in tokens:
        if isinstance(document, dict):
            document = document[token]
        elif isinstance(document, list) and token.isdecimal():
            document = document[int(token)]
        else:
            raise LookupError(token)
    return document


def is_within(pointer: str, outer: str) -> bool:
    """Return whether one pointer leads to the same place as the other, or into it."""
    return pointer == outer or pointer.startswith(f"{outer}/")
