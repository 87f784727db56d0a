"""Types that are nested so deeply that Python's stack cannot follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from toolgen.expr import codes
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    Field,
    MapType,
    NullableType,
    Objects,
    RefType,
    UnionType,
)

from ..report import Report
from .modules import Module

_DEEPEST: Final = 50
"""pydantic needs about fourteen frames for a level, and Python has a thousand for everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A type on the way down, and the field that leads to it."""

    type: DataType
    level: int
    owner: str
    field: Field


def check_depth(modules: Iterable[Module], report: Report) -> bool:
    """Return whether all types can be followed; the first that cannot is reported."""
    if report.has(codes.NESTED_TOO_DEEP):
        return False
    for module in modules:
        seen: set[str] = set()
        for root in module.classes:
            for step in _below(root, module.objects) if root not in seen else ():
                if step.level > _DEEPEST:
                    _report(step, root, module, report)
                    return False
                if isinstance(step.type, RefType):
                    seen.add(step.type.name)
    return True


def _below(root: str, objects: Objects) -> Iterator[_Step]:
    """Yield the arrays, objects and so on below an object, as a recursion that enters each once."""
    entered = {root}
    waiting = list(_fields(root, 1, objects))
    while waiting:
        step = waiting.pop()
        if isinstance(step.type, RefType):
            name = step.type.name
            if name in entered or name not in objects:
                continue
            entered.add(name)
            yield step
            waiting += _fields(name, step.level, objects)
        elif inner := _inner(step.type):
            yield step
            waiting += (replace(step, type=type_, level=step.level + 1) for type_ in reversed(inner))


def _fields(name: str, level: int, objects: Objects) -> Iterator[_Step]:
    for field in reversed(objects[name].fields):
        yield _Step(type=field.type, level=level + 1, owner=name, field=field)


def _inner(type_: DataType) -> tuple[DataType, ...]:
    match type_:
        case ArrayType():
            return (type_.items,)
        case MapType():
            return (type_.values,)
        case NullableType():
            return (type_.inner,)
        case UnionType():
            return tuple(branch for _, branch in type_.branches)
        case _:
            return ()


def _report(step: _Step, root: str, module: Module, report: Report) -> None:
    source = module.source_of(step.owner, step.field)
    if source is None:
        raise AssertionError(f"{step.field} was never written; please report this as a bug of toolgen")
    report.add(
        codes.NESTED_TOO_DEEP,
        source,
        what=f"attribute {step.field.name!r} of {step.owner!r}",
        fault=f"stands more than {_DEEPEST} levels deep in {root!r}",
        hint="give it the identifier of what it holds, and let a tool look that up",
    )
