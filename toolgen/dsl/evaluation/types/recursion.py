"""Types that no finite value satisfies."""

from __future__ import annotations

from collections.abc import Iterable

from toolgen.expr import codes
from toolgen.shapes.fields import ArrayType, DataType, Field, MapType, Objects, RefType, UnionType

from ..report import RelatedSource, Report
from .modules import Module


def check_finite(modules: Iterable[Module], report: Report) -> None:
    """Report each cycle of required attributes once, at the attribute that begins it."""
    reported: set[str] = set()
    for module in modules:
        objects = module.objects
        finite = _finite(objects)
        for name in module.classes:
            if name not in finite:
                _report_cycle(name, finite, module, reported, report)


def _finite(objects: Objects) -> set[str]:
    """Return the objects that have a finite value: the least fixed point over their required fields."""
    finite: set[str] = set()
    waiting = dict(objects)
    while True:
        found = [
            name
            for name, object_ in waiting.items()
            if all(_is_finite(field.type, finite, objects) for field in object_.fields if field.required)
        ]
        if not found:
            return finite
        for name in found:
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
