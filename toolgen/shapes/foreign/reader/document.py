"""A copy of a schema that is valid JSON, and neither too deep nor too large."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, TypeAlias, cast

from toolgen.contract.json_pointer import pointer_of
from toolgen.contract.json_value import Json

from .problems import SchemaProblem

DEEPEST: Final = 100
"""Maximum nesting depth of objects and arrays."""
MOST_VALUES: Final = 100_000
MOST_CHARACTERS: Final = 5_000_000
LONGEST_POINTER: Final = 2_000
"""Approximate maximum length of the pointer to an object or a list, in characters.

The longest one in the public corpora has 214. Locations and classes are named after the pointer, so one long
key would be repeated for everything below it.
"""

_LONGEST_INTEGER: Final = 10_000
"""Maximum size of an integer, in bits; Python does not print integers that are much longer."""

_Trail: TypeAlias = "tuple[_Trail, str | int] | None"


class _Stop(Exception):
    """Raised to stop reading the document."""


def copied(document: object) -> tuple[Json, list[SchemaProblem]]:
    """Return a copy of the document with lists instead of tuples, and its values that are not JSON.

    An enum member, and any text or number of a subclass, becomes a plain one. The document is read in a loop,
    so that its depth cannot cause a RecursionError.
    """
    reader = _Reader()
    try:
        return reader.run(document), reader.problems
    except _Stop:
        return None, reader.problems


class _Reader:
    def __init__(self) -> None:
        self.problems: list[SchemaProblem] = []
        self._values = 0
        self._characters = 0

    def run(self, document: object) -> Any:
        root_slot: list[Any] = [None]
        waiting: list[tuple[Any, Any, Any, _Trail, int, int]] = [(document, root_slot, 0, None, 0, 0)]
        while waiting:
            value, parent, key, trail, depth, length = waiting.pop()
            self._count(trail, depth)
            if not isinstance(value, (dict, list, tuple)):
                parent[key] = self._scalar(value, trail)
                continue
            if length > LONGEST_POINTER:
                message = f"is below keys of more than {LONGEST_POINTER} characters"
                self._report(trail, message, "shorten the keys, or use $defs", stop=True)
            is_object = isinstance(value, dict)
            new: Any = cast("Any", {} if is_object else [None] * len(value))
            parent[key] = new
            parts = cast(
                "Iterable[tuple[Any, Any]]", value.items() if isinstance(value, dict) else enumerate(value)
            )
            is_flat = depth < DEEPEST
            values = characters = 0
            for name, inner in parts:
                size = 2
                if is_object:
                    if type(name) is str and name.isascii():
                        characters += len(name)
                    elif self._is_text(name, trail):
                        name = str.__str__(name)
                    else:
                        continue
                    size = len(name) + 1
                    characters += len(name)
                kind = type(inner)
                if is_flat and kind is str and inner.isascii():
                    new[name] = inner
                    values += 1
                    characters += len(inner)
                elif is_flat and (kind is bool or inner is None):
                    new[name] = inner
                    values += 1
                else:
                    new[name] = None
                    waiting.append((inner, new, name, (trail, name), depth + 1, length + size))
            self._values += values
            self._characters += characters
        self._count(None, 0)
        return root_slot[0]

    def _count(self, trail: _Trail, depth: int) -> None:
        self._values += 1
        if depth > DEEPEST:
            self._report(
                trail,
                f"is nested more than {DEEPEST} levels deep",
                "give inner schemas a name in $defs",
                stop=True,
            )
        if self._values > MOST_VALUES or self._characters > MOST_CHARACTERS:
            limit = f"{MOST_VALUES} values or {MOST_CHARACTERS} characters"
            self._report(None, f"has more than {limit}", "split it, or remove what no tool uses", stop=True)

    def _is_text(self, name: object, trail: _Trail) -> bool:
        if isinstance(name, str):
            self._scalar(name, trail)
            return True
        self._report(trail, f"has the key {name!r:.80}, which is not a string", "write it in quotes")
        return False

    def _scalar(self, value: object, trail: _Trail) -> object:
        match value:
            case str():
                self._characters += len(value)
                if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
                    self._report(trail, "has a lone surrogate in its text", "write the complete character")
                return str.__str__(value)
            case int() if value.bit_length() > _LONGEST_INTEGER:
                self._report(trail, "has an integer of thousands of digits", "write a smaller one")
            case None | bool():
                return value
            case int():
                return int.__int__(value)
            case float() if math.isfinite(value):
                return float.__float__(value)
            case float():
                self._report(
                    trail, f"has the number {value!r}, which JSON does not allow", "write a finite number"
                )
            case _:
                kind = type(value).__name__
                self._report(trail, f"has a Python {kind}, which is not JSON", "write it as JSON")
        return None

    def _report(self, trail: _Trail, message: str, hint: str, *, stop: bool = False) -> None:
        tokens: list[str] = []
        while trail is not None:
            trail, token = trail
            tokens.append(str(token))
        problem = SchemaProblem(pointer=pointer_of(reversed(tokens)), message=message, hint=hint)
        self.problems.append(problem)
        if stop:
            raise _Stop
