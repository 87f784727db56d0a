"""JSON Pointers (RFC 6901): from tokens to text, and back."""

from __future__ import annotations

from collections.abc import Iterable


def escaped(token: str) -> str:
    """Return a token as it stands in a JSON Pointer (RFC 6901, section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def pointer_of(tokens: Iterable[str | int]) -> str:
    """Return the JSON Pointer of these keys and places in arrays; "" for none of them."""
    return "".join([f"/{escaped(str(token))}" for token in tokens])


def tokens_of(pointer: str) -> list[str]:
    """Return the tokens of a JSON Pointer; what stands before its first slash is none of them."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
