"""Names in a design for parts of its source. Only this module creates and assigns them.

A name is stored with its identity in the source, so that the next import assigns the same name even if the
source lists the part elsewhere.
"""

from __future__ import annotations

import builtins
import hashlib
import keyword
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from toolgen.contract.names import RESERVED_CODES
from toolgen.dsl.evaluation.checks.names import TAKEN_MODULES, surface
from toolgen.dsl.words import PREFIXES
from toolgen.shapes import naming

from .clauses_layout import MODULES

_VARIABLES: Final = ("design", *MODULES, *PREFIXES, *dir(builtins), *keyword.kwlist)
"""Names that variables of a design must not have."""
RENAMED: Final = "is called {0!r}, because {1!r} is the Python name of another tool, or was at its import"
RENAMED_HINT: Final = "rename it in the design if you prefer another name"
_EVERY_TOOLSET: Final = surface("a").keys() & surface("b").keys()
"""Identifiers in the package of every toolset."""
_KEYWORDS: Final = (*keyword.kwlist, *(f"client {each}" for each in keyword.kwlist))
_NEST: Final = re.compile("^([A-Z][A-Za-z0-9]*)Controller_(?=[a-z])")
"""Class name in an id that NestJS derives from a class and a method."""
_DIGITS: Final = 8
"""Number of hexadecimal digits of the digest in a shortened name."""
_ONE_BY_ONE: Final = frozenset(["definition", "object"])
"""Kinds whose names are assigned one by one; names of the last import are reserved for their owners."""
_CLASSES: Final = frozenset(["definition", "object", "type"])
"""Kinds whose names are `LikeThis`, so that a number is appended without `_`."""


class DesignNames:
    """The names of one design: reserved names, names of the last import, and names of this one.

    An identity is a kind, followed by the part of the source that has the name.
    """

    def __init__(self, remembered: Mapping[str, str] | None = None) -> None:
        self.assigned: dict[str, str] = {}
        """Names of this import by identity."""
        self._remembered = dict(remembered or {})
        taken = [*_EVERY_TOOLSET, *_KEYWORDS, *(f"variable {each}" for each in _VARIABLES)]
        taken += [f"code {code}" for code in RESERVED_CODES]
        taken += [f"service {module}" for module in TAKEN_MODULES]
        self._owners: dict[str, str] = dict.fromkeys(taken, "")
        """Taken identifiers of generated code and of the design, with their owners."""
        self._numbers: dict[tuple[str, str], int] = {}
        self._reserved: dict[str, set[str]] = {}
        """Identities of the last import by identifier, for kinds whose names are assigned one by one."""
        for identity, name in self._remembered.items():
            if (kind := identity.partition(" ")[0]) in _ONE_BY_ONE:
                for each in _identifiers(kind, name, ""):
                    self._reserved.setdefault(each, set()).add(identity)

    def assign_all(self, wanted: Mapping[str, Sequence[str]], within: str = "") -> dict[str, str]:
        """Return the names of parts by identity: names of the last import first, then the wanted ones.

        A part gets the first free one of its wanted names, otherwise the last one with a number. `within` is
        the tool of errors and arguments.
        """
        for identity in wanted:
            self._assign(identity, [self._remembered.get(identity, "")], within)
        for identity, names in wanted.items():
            self._assign(identity, self._numbered(identity, names), within)
        return {identity: self.assigned[identity] for identity in wanted}

    def assign(self, identity: str, *wanted: str, also: str = "") -> str:
        """Return the name of one part; the last import can also have known it by the identity `also`."""
        names = [self._remembered.get(each, "") for each in (identity, also)]
        self._assign(identity, [*names, *wanted], "", also)
        self._assign(identity, self._numbered(identity, wanted), "", also)
        if also:
            self.assigned.setdefault(also, self.assigned[identity])
        return self.assigned[identity]

    def remembered(self, identity: str) -> str:
        """Return the name from the last import; "" if there is none."""
        return self._remembered.get(identity, "")

    def record(self, name: str, *identities: str) -> None:
        """Record a name that was created elsewhere from free identifiers."""
        self.assigned.update(dict.fromkeys(identities, name))

    def are_free(self, identifiers: Iterable[str]) -> bool:
        """Return whether identifiers are free and distinct."""
        each = list(identifiers)
        return len(set(each)) == len(each) and self._owners.keys().isdisjoint(each)

    def is_reserved(self, identifier: str, *identities: str) -> bool:
        """Return whether an identifier is reserved for a part of the last import other than these."""
        owners = self._reserved.get(identifier)
        return owners is not None and owners.isdisjoint(identities)

    def claim(self, identifiers: Iterable[str], owner: str = "object") -> None:
        """Take identifiers; those of objects until the next `restart`."""
        for each in identifiers:
            self._owners.setdefault(each, owner)

    def restart(self) -> None:
        """Release the names of objects and variables, because they are written again."""
        self._owners = {each: owner for each, owner in self._owners.items() if not _is_written(owner)}
        self.assigned = {each: name for each, name in self.assigned.items() if not _is_written(each)}
        self._numbers.clear()

    def claim_arguments(self, keys: Iterable[str], tool: str) -> None:
        """Take the names of arguments that are not renamed."""
        self.claim((each for key in keys for each in _identifiers("argument", key, tool)), tool)

    def _assign(self, identity: str, names: Iterable[str], within: str, also: str = "") -> None:
        """Assign the first free name to a part that has none yet."""
        kind = identity.partition(" ")[0]
        for name in names if identity not in self.assigned else ():
            identifiers = [*_identifiers(kind, name, within)] if name else []
            owners = identity, also
            is_taken = kind in _ONE_BY_ONE and any(self.is_reserved(each, *owners) for each in identifiers)
            if identifiers and not is_taken and self.are_free(identifiers):
                self.claim(identifiers, identity)
                self.assigned[identity] = name
                return

    def _numbered(self, identity: str, names: Sequence[str]) -> Iterator[str]:
        """Yield the names, then the last one with increasing numbers."""
        yield from names
        kind, last = identity.partition(" ")[0], names[-1]
        while True:
            number = self._numbers[kind, last] = self._numbers.get((kind, last), 1) + 1
            end = f"{number}" if kind in _CLASSES else f"_{number}"
            yield last[: naming.LONGEST_NAME - len(end)].rstrip("_") + end


def _is_written(identity: str) -> bool:
    """Return whether an identity belongs to a part that is written in several rounds."""
    return identity.partition(" ")[0] in ("object", "variable")


def _identifiers(kind: str, name: str, within: str) -> Iterator[str]:
    """Yield the identifiers that generated code and the design derive from a name.

    Class names are used as they are; other identifiers have a word as prefix.
    """
    match kind:
        case "tool":
            yield from (naming.class_name(name, part) for part in ("payload", "result"))
            constants = (
                naming.constant(name),
                naming.constant(name, "payload"),
                naming.constant(name, "result"),
            )
            yield from (f"constant {each}" for each in constants)
        case "error":
            yield from (f"error {within} {name}", f"constant {naming.constant(within, name)}")
            if name in RESERVED_CODES:
                yield f"code {name}"
        case "argument":
            yield f"argument {within} {naming.field_name(name)}"
        case "toolset":
            yield f"toolset {naming.module_name(name)}"
            yield from surface(name).keys() - _EVERY_TOOLSET
        case "service":
            yield from (f"service {naming.module_name(name)}", naming.class_name(name))
        case "package":
            yield from (f"service {naming.module_name(name)}", f"client {naming.class_name(name)}")
        case "type" | "object":
            yield from (name, f"variable {name}")
        case "scheme":
            yield f"variable {name}"
        case _:
            yield f"{kind} {name}"


def identifier(name: str, otherwise: str) -> str:
    """Return the name in the form `like_this`.

    Use `otherwise` as a prefix if it would not start with a letter.
    Capitals begin words, unless the name would get too long.
    """
    if naming.TOOL_NAME.fullmatch(name):
        return name
    text = _in_words(name)
    if len(text) > naming.LONGEST_NAME:
        text = "_".join(re.findall("[a-z0-9]+", _without_accents(name).lower()))
    return _begun(text, otherwise)


def _in_words(name: str) -> str:
    return "_".join(word for word in naming.words(_without_accents(name)) if word.isascii())


def _without_accents(name: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))


def _begun(text: str, otherwise: str) -> str:
    if not text:
        return otherwise
    return text if text[0].isalpha() else f"{otherwise}_{text}"


def is_type_name(name: str) -> bool:
    """Return whether a type can have the name: it is a class name and not the name of a clause."""
    is_plain = name.isascii() and name.isidentifier() and naming.class_name(name) == name
    return is_plain and name not in PREFIXES and not keyword.iskeyword(name)


def type_name(name: str) -> str:
    """Return a valid name for a type; if it exceeds 64 characters, its beginning and a digest."""
    name = name if is_type_name(name) else f"{name}Value"
    if len(name) <= naming.LONGEST_NAME:
        return name
    return f"{name[: naming.LONGEST_NAME - _DIGITS]}{digest(name)}"


def operation_name(operation_id: str, path: str, method: str) -> str:
    """Return the name of a tool for an operation, without parts that frameworks add to its id."""
    function = _function(operation_id, path, method)
    name = identifier(function, "tool")
    return name if len(name) <= naming.LONGEST_NAME else full_name(operation_id, path, method)


def full_name(operation_id: str, path: str, method: str) -> str:
    """Return the name of a tool for the complete id of an operation.

    If it exceeds 64 characters, return its beginning and a digest.
    """
    name = identifier(operation_id, "tool")
    if len(name) <= naming.LONGEST_NAME:
        return name
    start = _begun(_in_words(_function(operation_id, path, method)), "tool")
    return f"{start[: naming.LONGEST_NAME - _DIGITS - 1].rstrip('_')}_{digest(operation_id)}"


def _function(operation_id: str, path: str, method: str) -> str:
    """Return an id without the path and method that FastAPI adds, and without the `Controller` of NestJS."""
    derived_name = re.sub(r"\W", "_", path) + f"_{method}"
    function = operation_id.removesuffix(derived_name)
    if not function.strip("_"):
        return operation_id
    return _NEST.sub(r"\1_", function)


def digest(text: str, digits: int = _DIGITS) -> str:
    """Return a short digest that distinguishes texts with the same beginning."""
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def content(of: object) -> str:
    """Return the identity of content that is the same at any place: the text of a type, or a schema."""
    return f"object {digest(str(of), 2 * _DIGITS)}"
