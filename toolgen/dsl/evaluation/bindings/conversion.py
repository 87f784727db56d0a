"""Conversions of values between two types, and whether there is one.

Python values are meant: where two types are not the same Python type although every value fits, as
lists of Int and lists of Float, the container is built again.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Final

from toolgen.expr.tree import Assignment, Choose, Conversion, Each, ObjectMapping, OrNone, Rebuild, Same
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    Field,
    MapType,
    NullableType,
    NumberType,
    Objects,
    ObjectType,
    RefType,
    ScalarType,
    StringType,
    UnionType,
    may_be_none,
    null_is_a_value,
)

from ..types.modules import UNKNOWN
from ..types.subtypes import is_subtype
from .pairs import ReportPair, report_excess, report_mismatch

SAME: Final = Same()


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchHandlers:
    """Callbacks for fields that do not fit; paths lead from the outermost object."""

    misfit: Callable[[str, Field, Field, ReportPair], None]
    """Reports a pair of fields: one whose types do not go together, or whose source allows more."""
    unfilled: Callable[[str, Field], None]
    lost: Callable[[str, Field], None] | None
    """None where a source may have more fields than its target."""
    unkept: Callable[[str], None]
    """An open object is built again without the keys beyond its fields, and they would be missed."""


class Converter:
    """Finds conversions in one direction and keeps the mappings of nested objects."""

    def __init__(
        self, sources: Objects, targets: Objects, shared: Container[str], complaints: MismatchHandlers
    ) -> None:
        self._sources = sources
        self._targets = targets
        self._shared = shared
        self._complaints = complaints
        self._mappings: dict[tuple[str, str], ObjectMapping] = {}

    @property
    def mappings(self) -> tuple[ObjectMapping, ...]:
        """The mappings of nested objects, in order of first use."""
        return tuple(self._mappings.values())

    def field(self, source: Field, target: Field, path: str) -> Conversion:
        """Return the conversion of a field's value; a mismatch is reported, and treated as a fit."""
        none_comes = may_be_none(source)
        none_goes = not target.required or null_is_a_value(target.type)
        conversion = self._value(_inner(source.type), _inner(target.type), path)
        if conversion is None or (none_comes and not none_goes and UNKNOWN not in (source.type, target.type)):
            self._complaints.misfit(path, source, target, report_mismatch)
            return SAME
        if not is_subtype(source.type, target.type):
            self._complaints.misfit(path, source, target, report_excess)
        return OrNone(of=conversion) if none_comes and conversion != SAME else conversion

    def _value(self, source: DataType, target: DataType, path: str) -> Conversion | None:
        """Return how the value converts; None when it does not fit."""
        if UNKNOWN in (source, target):
            return SAME
        match source, target:
            case NullableType(), NullableType():
                inner = self._value(source.inner, target.inner, path)
                return OrNone(of=inner) if inner and inner != SAME else inner
            case _, NullableType():
                return self._value(source, target.inner, path)
            case ArrayType(), ArrayType():
                return self._each(ArrayType, source.items, target.items, f"{path}[]")
            case MapType(), MapType():
                return self._each(MapType, source.values, target.values, f"{path}[]")
            case RefType(), RefType():
                return self._object(source, target, path)
            case UnionType(), UnionType():
                return self._union(source, target, path)
            case _:
                return SAME if _fits(source, target) else None

    def _each(
        self, kind: type[ArrayType] | type[MapType], source: DataType, target: DataType, path: str
    ) -> Conversion | None:
        conversion = self._value(source, target, path)
        if conversion is None or (conversion == SAME and _python_type(source) == _python_type(target)):
            return conversion
        return Each(of=conversion, container="array" if kind is ArrayType else "map")

    def _object(self, source: RefType, target: RefType, path: str) -> Conversion | None:
        if source.name == target.name and source.name in self._shared:
            return SAME
        if self._sources[source.name].foreign or self._targets[target.name].foreign:
            return None  # only a named type that both sides use is one class
        key = source.name, target.name
        if key not in self._mappings:
            self._mappings[key] = ObjectMapping(source=source.name, target=target.name, assignments=())
            self._mappings[key] = self._mapping(source.name, target.name, path)
        return Rebuild(source=source.name, target=target.name)

    def _mapping(self, source_name: str, target_name: str, path: str) -> ObjectMapping:
        source, target = self._sources[source_name], self._targets[target_name]
        assignments = []
        for field in target.fields:
            inner = f"{path}.{field.name}"
            supplied = source.field(field.name)
            if supplied:
                conversion = self.field(supplied, field, inner)
                assignments.append(Assignment(target=field, source=supplied, conversion=conversion))
            elif field.required:
                self._complaints.unfilled(inner, field)
        if self._complaints.lost:
            for field in source.fields:
                if target.field(field.name) is None:
                    self._complaints.lost(f"{path}.{field.name}", field)
        if loses_keys(source, target, may_lose=self._complaints.lost is None):
            self._complaints.unkept(path)
        return ObjectMapping(source=source_name, target=target_name, assignments=tuple(assignments))

    def _union(self, source: UnionType, target: UnionType, path: str) -> Conversion | None:
        targets = dict(target.branches)
        if source.tag != target.tag or any(value not in targets for value, _ in source.branches):
            return None
        branches = [(value, self._object(ref, targets[value], path)) for value, ref in source.branches]
        rebuilt = tuple(branch for _, branch in branches if isinstance(branch, Rebuild))
        if not rebuilt:
            return SAME
        unchanged = tuple(
            Rebuild(source=ref.name, target=ref.name)
            for (value, ref), (_, branch) in zip(source.branches, branches, strict=True)
            if branch == SAME
        )
        return Choose(branches=(*rebuilt, *unchanged))


def loses_keys(source: ObjectType, target: ObjectType, *, may_lose: bool) -> bool:
    """Return whether an object that is built again lacks keys that its reader was promised.

    `may_lose` says that a source may have more fields than its target.
    """
    return source.open and (target.open or not may_lose)


def _inner(type_: DataType) -> DataType:
    return type_.inner if isinstance(type_, NullableType) else type_


def _fits(source: DataType, target: DataType) -> bool:
    match source, target:
        case StringType(), StringType():
            return True
        case NumberType(), NumberType():
            return source.integer or not target.integer
        case ScalarType(kind="url"), StringType():
            return True
        case ScalarType(), ScalarType():
            return source.kind == target.kind
        case EnumType(), EnumType():
            return set(source.values) <= set(target.values)
        case EnumType(), StringType():
            return isinstance(source.values[0], str)
        case EnumType(), NumberType():
            return isinstance(source.values[0], int)
        case _:
            return False


def _python_type(type_: DataType) -> object:
    """Return something that is equal for types whose Python types are the same."""
    match type_:
        case StringType():
            return "str"
        case NumberType():
            return "int" if type_.integer else "float"
        case EnumType():
            return frozenset(type_.values)
        case ScalarType():
            return "str" if type_.kind == "url" else type_.kind
        case ArrayType():
            return "list", _python_type(type_.items)
        case MapType():
            return "dict", _python_type(type_.values)
        case NullableType():
            return "nullable", _python_type(type_.inner)
        case _:
            return type_
