"""Types that require themselves, or are nested too deeply for Python's stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    Field,
    MapType,
    NullableType,
    Objects,
    RefType,
    UnionType,
    inner_types,
)

from ...expr import codes
from ..report import RelatedSource, Report
from .modules import Module

_DEEPEST: Final = 50
"""Maximum nesting depth.

pydantic needs about fourteen stack frames for a level, and Python has a thousand in total.
"""

_HOLDING: Final = (ArrayType, MapType, NullableType, UnionType, RefType)
"""Types that contain other types."""


class _Step(NamedTuple):
    """A nested type, and the field that leads to it."""

    type: DataType
    level: int
    owner: str
    field: Field


def check_depth(modules: Iterable[Module], report: Report) -> bool:
    """Return whether the nesting of all types is within the limit; report the first that exceeds it."""
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
    """Yield the nested types below an object, as a recursion that enters each object once."""
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
        elif inner := inner_types(step.type):
            yield step
            waiting += (step._replace(type=type_, level=step.level + 1) for type_ in reversed(inner))


def _fields(name: str, level: int, objects: Objects) -> Iterator[_Step]:
    for field in reversed(objects[name].fields):
        if isinstance(field.type, _HOLDING):
            yield _Step(type=field.type, level=level + 1, owner=name, field=field)


def _report(step: _Step, root: str, module: Module, report: Report) -> None:
    source = module.source_of(step.owner, step.field)
    if source is None:
        raise AssertionError(f"{step.field} was never written; please report this as a bug of toolgen")
    report.add(
        codes.NESTED_TOO_DEEP,
        source,
        what=f"attribute {step.field.name!r} of {step.owner!r}",
        fault=f"is more than {_DEEPEST} levels deep in {root!r}",
        hint="replace the nested object with its identifier, and add a tool that looks it up",
    )


def check_finite(modules: Iterable[Module], report: Report) -> None:
    """Report each cycle of required attributes once, at the attribute where it begins."""
    reported: set[str] = set()
    shared: dict[int, set[str]] = {}
    """Finite objects of a module that other modules share, by its identity."""
    for module in modules:
        finite = shared[id(module)] = _finite(module, shared.get(id(module.shared), set()))
        for name in module.classes:
            if name not in finite:
                _report_cycle(name, finite, module, reported, report)


def _finite(module: Module, of_shared: set[str]) -> set[str]:
    """Return the objects that have a finite value: the least fixed point over their required fields.

    `of_shared` are the finite objects of the shared types, which refer to no other module.
    """
    objects = module.objects
    finite = {name for name in of_shared if name not in module.classes}
    waiting = dict(module.classes)
    while True:
        newly_finite = [
            name
            for name, object_ in waiting.items()
            if all(_is_finite(field.type, finite, objects) for field in object_.fields if field.required)
        ]
        if not newly_finite:
            return finite
        for name in newly_finite:
            finite.add(name)
            del waiting[name]


def _is_finite(type_: DataType, finite: set[str], objects: Objects) -> bool:
    match type_:
        case ArrayType():
            return not type_.min_length or _is_finite(type_.items, finite, objects)
        case MapType():
            return not type_.min_length or _is_finite(type_.values, finite, objects)
        case UnionType():
            return any(_is_finite(branch, finite, objects) for _, branch in type_.branches)
        case RefType():
            return type_.name in finite or type_.name not in objects
        case _:
            return True


def _report_cycle(name: str, finite: set[str], module: Module, reported: set[str], report: Report) -> None:
    """Follow required fields until an object repeats, and report the cycle of that object."""
    objects = module.objects
    chain: dict[str, Field] = {}
    while name not in chain:
        if name in reported:
            return
        chain[name] = next(
            field
            for field in objects[name].fields
            if field.required and not _is_finite(field.type, finite, objects)
        )
        name = _first_infinite(chain[name].type, finite, objects)
    names = list(chain)[list(chain).index(name) :]
    reported.update(chain)
    required = [repr(chain[each].name) for each in names]
    places = [module.source_of(each, chain[each]) for each in names]
    if places[0] is not None:
        report.add(
            codes.INFINITE_TYPE,
            places[0],
            related=[
                RelatedSource(message=f"it requires {attribute} here", source=place)
                for attribute, place in zip(required[1:], places[1:], strict=True)
                if place
            ],
            name=name,
            path=f"{', which requires '.join(required)}, which is {name!r} again",
            attributes=" or ".join(required),
        )


def _first_infinite(type_: DataType, finite: set[str], objects: Objects) -> str:
    match type_:
        case ArrayType():
            return _first_infinite(type_.items, finite, objects)
        case MapType():
            return _first_infinite(type_.values, finite, objects)
        case UnionType():
            return next(ref.name for _, ref in type_.branches if not _is_finite(ref, finite, objects))
        case RefType():
            return type_.name
        case _:
            raise AssertionError(f"{type_} is finite; please report this as a bug of toolgen")
