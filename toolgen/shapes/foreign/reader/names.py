"""Class names of the objects in a third-party schema."""

from __future__ import annotations

from typing import Final

from toolgen.contract.json_pointer import tokens_of

from ... import naming
from .keywords import NAMED, Schema

_LONGEST: Final = 200
"""Maximum length of a class name, without its number, in characters.

Titles have any length, and names are composed of names.
"""


class ClassNames:
    """Creates class names; a number distinguishes equal ones."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        name = wanted = wanted[:_LONGEST]
        while name in self._taken:
            number = self._numbers[wanted] = self._numbers.get(wanted, 1) + 1
            name = f"{wanted}{number}"
        self._taken.add(name)
        return name

    def of_place(self, pointer: str) -> str:
        """Return the name for the schema at a JSON Pointer."""
        name, path = self.root, tokens_of(pointer)
        while path:
            token = path.pop(0)
            if token in NAMED and path:
                name = naming.class_name(name, path.pop(0))
            elif not path and not token.isdecimal() and pointer.count("/") > 1 and name == self.root:
                # No keyword holds it: `#/components/schemas/User` is named like a definition.
                name = naming.class_name(name, token)
        return name


def branch_name(name: str, number: int, branch: Schema) -> str:
    """Return the name of one object among several: from its title, its first constant, or its number."""
    title = branch.get("title")
    if isinstance(title, str) and title:
        return naming.class_name(name, title)
    for key in branch.get("required", ()):
        schema = branch.get("properties", {}).get(key)
        if isinstance(schema, dict):
            values = schema.get("enum", [schema.get("const")])
            if len(values) == 1 and isinstance(values[0], str) and values[0]:
                return naming.class_name(name, values[0])
    return f"{name}{number}"
