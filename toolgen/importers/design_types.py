"""The named types of a design module, each written once, and names in a design for names of its source."""

from __future__ import annotations

import hashlib
import keyword
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from toolgen import dsl
from toolgen.dsl.evaluation.checks.names import surface
from toolgen.shapes import naming

from .clauses import ClauseSource, NamedType, WrittenClauses, plan_types, write_clauses
from .clauses_built import NotExpressibleError

CLAUSE_NAMES: Final = frozenset(dsl.__all__)
"""What a design module may import."""


DIGITS: Final = 8
"""Hexadecimal digits of the digest in a shortened name."""


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


def short_name(name: str) -> str:
    """Return the name of a type: of more than 64 characters, its beginning and a digest."""
    if len(name) <= naming.LONGEST_NAME:
        return name
    return f"{name[: naming.LONGEST_NAME - DIGITS]}{digest(name)}"


def digest(text: str) -> str:
    """Return what tells names apart that begin alike."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


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

    def free_class(self, wanted: str) -> str:
        """Reserve a name for a class: this one, or with the first number after it that makes it free."""
        name, number = wanted, 1
        while not self.are_free([name]):
            number += 1
            name = f"{wanted}{number}"
        self.take([name])
        return name

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


class TypeTable:
    """The types above the tools, in order."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._types: dict[str, NamedType] = {}

    @property
    def types(self) -> tuple[NamedType, ...]:
        return tuple(self._types.values())

    def write(self, shape: ClauseSource, class_name: str) -> WrittenClauses:
        """Return the clauses of a shape; `add` keeps their types.

        A type is called what its schema calls it, or else what generated code would call it.

        Raises:
            NotExpressibleError: the words cannot say it, or its names cannot stand beside the others.
        """
        planned = plan_types(shape)
        short = {name: name.removeprefix(class_name) for name in planned.order}
        names = {
            name: short_name(text if is_type_name(text) else _qualified_name(name, class_name))
            for name, text in short.items()
        }
        for _ in range(len(names) + 2):
            written = write_clauses(shape, planned, class_name, names)
            clashing = self._clashing(written)
            if not clashing:
                return written
            longer = {
                name: short_name(_qualified_name(name, class_name))
                if names[name] in clashing
                else names[name]
                for name in names
            }
            if longer == names:
                break
            names = longer
        raise NotExpressibleError("names of its classes are taken")

    def add(self, written: WrittenClauses) -> None:
        """Keep the types of what was written; those that another tool has too are there already."""
        self._names.take(written.claims)
        for type_ in written.types:
            if not self._is_known(type_):
                self._types[type_.name] = type_
                self._names.take(type_.claims)

    def _clashing(self, written: WrittenClauses) -> set[str]:
        """Return the types whose names, or whose classes' names, are taken."""
        seen: set[str] = set(written.claims)
        clashing = set() if self._names.are_free(written.claims) else {""}
        for type_ in written.types:
            if self._is_known(type_):
                continue
            free = self._names.are_free(type_.claims) and seen.isdisjoint(type_.claims)
            if not free or type_.name in self._types or not is_type_name(type_.name):
                clashing.add(type_.name)
            seen.update(type_.claims)
        return clashing

    def _is_known(self, type_: NamedType) -> bool:
        previous = self._types.get(type_.name)
        return previous is not None and previous.text.flat == type_.text.flat


def _qualified_name(name: str, class_name: str) -> str:
    """Return the name of a type that says which tool it belongs to."""
    return f"{class_name}Value" if name == class_name else name
