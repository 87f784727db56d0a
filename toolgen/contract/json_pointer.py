"""JSON Pointers (RFC 6901): from tokens to text, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

ABSENT: Final = object()
"""Result for a pointer without a target. It is not JSON."""
_PLACE: Final = re.compile(r"0|[1-9][0-9]{0,9}")


def escaped(token: str) -> str:
    """Return a token as written in a JSON Pointer (RFC 6901, section 3)."""
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def pointer_of(tokens: Iterable[str | int]) -> str:
    """Return the JSON Pointer of these keys and array indexes; "" if there are none."""
    return "".join([f"/{escaped(str(token))}" for token in tokens])


def tokens_of(pointer: str) -> list[str]:
    """Return the tokens of a JSON Pointer; text before its first slash is ignored."""
    tokens = pointer.split("/")[1:]
    return [token.replace("~1", "/").replace("~0", "~") for token in tokens] if "~" in pointer else tokens


def resolved(document: object, pointer: str) -> Any:
    """Return the value at a JSON Pointer, or `ABSENT` (RFC 6901, section 4)."""
    at: Any = document
    for token in tokens_of(pointer):
        if isinstance(at, (dict, Mapping)) and token in at:
            at = at[token]
        elif isinstance(at, list) and _PLACE.fullmatch(token) and int(token) < len(at):
            at = at[int(token)]
        else:
            return ABSENT
    return at


def referred(document: object, reference: object) -> Any:
    """Return the target of a reference into its own document; None if it is not one, or has no target.

    It is a URI whose fragment is a JSON Pointer (RFC 6901, section 6).
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    target = resolved(document, unquote(reference[1:]))
    return None if target is ABSENT else target


def definition_of(reference: object) -> str:
    """Return the name in `$defs` that a reference refers to; "" if it refers to anything else."""
    match tokens_of(unquote(reference)) if isinstance(reference, str) and reference[:1] == "#" else ():
        case ["$defs", name]:
            return name
        case _:
            return ""
