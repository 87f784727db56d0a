"""The named types of a design module, each written once."""

from __future__ import annotations

from .clauses import ClauseSource, NamedType, WrittenClauses, plan_types, type_identity, write_clauses
from .clauses_built import NotExpressibleError
from .names import DesignNames, content, is_type_name, type_name


class TypeTable:
    """The types before the tools, in order."""

    def __init__(self, names: DesignNames) -> None:
        self._names = names
        self._types: dict[str, NamedType] = {}

    @property
    def types(self) -> tuple[NamedType, ...]:
        return tuple(self._types.values())

    def write(self, shape: ClauseSource, class_name: str) -> WrittenClauses:
        """Return the clauses of a shape; `add` stores their types.

        A type has the name from its schema, or otherwise the name that generated code would use.

        Raises:
            NotExpressibleError: Clauses cannot express the shape, or its names conflict with others.
        """
        planned = plan_types(shape)
        short = {name: name.removeprefix(class_name) for name in planned.order}
        names = {
            name: self._names.remembered(type_identity(class_name, name))
            or type_name(text if is_type_name(text) else _qualified_name(name, class_name))
            for name, text in short.items()
        }
        for _ in range(len(names) + 2):
            written = write_clauses(shape, planned, class_name, names)
            clashing = self._clashing(written)
            if not clashing:
                return written
            longer = {
                name: type_name(_qualified_name(name, class_name)) if names[name] in clashing else names[name]
                for name in names
            }
            if longer == names:
                break
            names = longer
        raise NotExpressibleError("the names of its classes are already used")

    def add(self, written: WrittenClauses) -> None:
        """Store the types of written clauses, except types that another tool has added already."""
        self._names.claim(written.claims)
        for type_ in written.types:
            self._names.record(type_.name, content(type_.text.flat), type_.identity)
            if not self._is_known(type_):
                self._types[type_.name] = type_
                self._names.claim(type_.claims)

    def _clashing(self, written: WrittenClauses) -> set[str]:
        """Return the types whose names, or whose classes' names, are taken."""
        seen: set[str] = set(written.claims)
        clashing = set() if self._names.are_free(written.claims) else {""}
        for type_ in written.types:
            if self._is_known(type_):
                continue
            name = type_.name
            free = self._names.are_free(type_.claims) and seen.isdisjoint(type_.claims)
            is_reserved = self._names.is_reserved(name, content(type_.text.flat), type_.identity)
            if is_reserved or not free or name in self._types or not is_type_name(name):
                clashing.add(name)
            seen.update(type_.claims)
        return clashing

    def _is_known(self, type_: NamedType) -> bool:
        previous = self._types.get(type_.name)
        return previous is not None and previous.text.flat == type_.text.flat


def _qualified_name(name: str, class_name: str) -> str:
    """Return the name of a type that includes the class of its tool."""
    return f"{class_name}Value" if name == class_name else name
