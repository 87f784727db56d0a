"""Finds child clauses by their class, all nested clauses of a clause, and the named types of a design."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

from ..clause import Clause
from ..composites import Enum, JSONSchema, OneOf, Type
from ..expr import codes
from .checks.arguments import clause_label
from .report import RelatedSource, Report

Named: TypeAlias = Type | Enum[Any] | OneOf | JSONSchema
"""Clauses that are shared by name. A union or a schema can be unnamed; then it is not shared."""
_W = TypeVar("_W", bound=Clause)

_HOLDING: Final = (
    *("children", "type", "items", "inner", "keys", "values", "branches"),
    *("payload", "ack", "progress", "toolset"),
)
"""Arguments that can contain clauses; all others contain plain values."""


def clauses_of_kind(children: Iterable[object], kind: type[_W]) -> list[_W]:
    """Return the child clauses of one class, in order."""
    return [child for child in children if isinstance(child, kind)]


def single_clause(parent: Clause, children: Iterable[object], kind: type[_W], report: Report) -> _W | None:
    """Return the only child clause of a class; report any further ones."""
    first: _W | None = None
    for child in children:
        if not isinstance(child, kind):
            continue
        if first is None:
            first = child
            continue
        report.add(
            codes.DUPLICATE_CLAUSE,
            child.source,
            related=[RelatedSource(message="first written here", source=first.source)],
            parent=clause_label(parent),
            clause=kind.__name__,
            hint=f"merge it into the first {kind.__name__}, or remove it",
        )
    return first


def walk(clause: Clause, seen: set[int], leaves: tuple[type[Clause], ...] = ()) -> Iterator[Clause]:
    """Yield the clause and every nested clause once, outer before inner; `leaves` are not entered."""
    waiting = [clause]
    while waiting:
        clause = waiting.pop()
        if (key := id(clause)) in seen:
            continue
        seen.add(key)
        yield clause
        if not isinstance(clause, leaves):
            waiting += reversed(_held(clause))


def named_types(design: Clause) -> list[Named]:
    """Return every named type that the design lists or uses, in order of first use."""
    named: dict[int, Named] = {}
    for clause in walk(design, set()):
        if isinstance(clause, (Type, Enum)) or (
            isinstance(clause, (OneOf, JSONSchema)) and clause.name is not None
        ):
            named.setdefault(id(clause), clause)
    return list(named.values())


def _held(clause: Clause) -> list[Clause]:
    """Return the direct children of a clause."""
    clauses: list[Clause] = []
    for name in _holding(type(clause)):  # type: ignore[arg-type]  # mypy takes the `__hash__` of the instances
        value = vars(clause).get(name)
        if isinstance(value, Clause):
            clauses.append(value)
        elif isinstance(value, tuple | dict):
            parts = value.values() if isinstance(value, dict) else value
            clauses += [inner for inner in parts if isinstance(inner, Clause)]
    return clauses


@cache
def _holding(kind: type[Clause]) -> tuple[str, ...]:
    """Return the arguments of a class that can contain clauses."""
    if issubclass(kind, Enum):
        return ()
    arguments = {name for each in kind.__mro__ for name in vars(each).get("__annotations__", ())}
    return tuple(name for name in _HOLDING if name in arguments)
