"""Names in a design for names of its source: tools, types, and the classes made of both."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from toolgen import dsl
from toolgen.dsl.evaluation.checks.names import surface
from toolgen.shapes import naming

CLAUSE_NAMES: Final = frozenset(dsl.__all__)
"""What a design module may import."""


def identifier(name: str, otherwise: str) -> str:
    """Return the name in the form `like_this`; it begins with `otherwise` where no other start is left.

    Capitals begin words, unless the name would get too long by that.
    """
    if naming.TOOL_NAME.fullmatch(name):
        return name
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    text = "_".join(word for word in naming.words(plain) if word.isascii())
    if len(text) > naming.LONGEST_NAME:
        text = "_".join(re.findall("[a-z0-9]+", plain.lower()))
    if not text:
        return otherwise
    return text if text[0].isalpha() else f"{otherwise}_{text}"


class Names:
    """The identifiers that the generated package of one toolset has so far."""

    def __init__(self, toolset: str) -> None:
        self._constants: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._classes = set(surface(toolset))

    def tool(self, name: str) -> str:
        """Reserve a name for a tool: this one, or with the first number after it that makes it free."""
        free = name
        while not self._take_tool(free):
            number = self._numbers[name] = self._numbers.get(name, 1) + 1
            suffix = f"_{number}"
            free = name[: naming.LONGEST_NAME - len(suffix)].rstrip("_") + suffix
        return free

    def _take_tool(self, name: str) -> bool:
        classes = {naming.class_name(name, part) for part in ("payload", "result")}
        constants = {naming.constant(name), naming.constant(name, "payload"), naming.constant(name, "result")}
        if not self.are_free(classes) or constants & self._constants:
            return False
        self._constants |= constants
        self.take(classes)
        return True

    def are_free(self, classes: Iterable[str]) -> bool:
        """Return whether all names are free and differ from each other."""
        names = list(classes)
        return len(set(names)) == len(names) and self._classes.isdisjoint(names)

    def take(self, classes: Iterable[str]) -> None:
        self._classes.update(classes)


def is_type_name(name: str) -> bool:
    """Return whether a type of a design can have the name, which no clause has."""
    is_plain = name.isascii() and name.isidentifier() and naming.class_name(name) == name
    return is_plain and name not in CLAUSE_NAMES and not keyword.iskeyword(name)
