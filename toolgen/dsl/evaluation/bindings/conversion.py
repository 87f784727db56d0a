"""Conversions of values between two types, and the findings if no conversion exists.

Conversions are between Python values: if two types are not the same Python type although every value fits,
for example lists of Int and lists of Float, the container is rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from fractions import Fraction
from typing import Final, TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.shapes.constraints import FLAGS, LIMITS, constraints_in, exact_number
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
    without_null,
)
from toolgen.shapes.tree.validator import Validator

from ...expr import codes
from ...expr.source import Source
from ...expr.tree import Assignment, Choose, Conversion, Each, ObjectMapping, OrNone, Rebuild, Same
from ..report import RelatedSource, Report
from ..types.modules import UNKNOWN
from ..types.spelling import field_text, type_text

SAME: Final = Same()


@frozen_record
class FieldMismatch:
    """Two fields of which one fills the other although it does not fit."""

    path: str
    source: Field
    target: Field
    what: str
    giver: str
    taker: str
    related: tuple[RelatedSource, ...]
    may_be_required: bool = True
    """Whether the source can be made required without breaking another rule."""
    may_be_optional: bool = True
    """Whether the target can be made optional without breaking another rule."""


ReportPair: TypeAlias = Callable[[FieldMismatch, Source, Report], None]


def _report_mismatch(pair: FieldMismatch, place: Source, report: Report) -> None:
    """Report types that are incompatible, or an optional field that fills a required one."""
    supplied, taken = type_text(pair.source.type), type_text(pair.target.type)
    name, where = pair.target.name, pair.taker.partition(" ")[0]
    hint = f"make {name!r} {supplied} in the {where}, or change the type of the {pair.what}"
    if supplied == taken:
        fixes = [f"add required=True or a default to the {pair.what}"] if pair.may_be_required else []
        fixes += [f"make {name!r} optional in the {where}"] if pair.may_be_optional else []
        supplied, taken, hint = field_text(pair.source), f"required {taken}", ", or ".join(fixes)
    _report(pair, supplied, taken, hint, place, report)


def _report_excess(pair: FieldMismatch, place: Source, report: Report) -> None:
    """Report a field whose constraints allow values that its target does not allow."""
    supplied = type_text(pair.source.type, constraints=True)
    taken = type_text(pair.target.type, constraints=True)
    giver, taker = pair.giver.partition(" ")[0], pair.taker.partition(" ")[0]
    _report(
        pair, supplied, taken, f"write {taken} in the {giver}, or {supplied} in the {taker}", place, report
    )


def _report(pair: FieldMismatch, supplied: str, taken: str, hint: str, place: Source, report: Report) -> None:
    is_nested = "." in pair.path or "[" in pair.path
    report.add(
        codes.BIND_MISMATCH,
        place,
        related=pair.related,
        given=f"{pair.what} {pair.path!r} of {pair.giver}",
        given_type=supplied,
        taken=f"{(pair.path if is_nested else pair.target.name)!r} of {pair.taker}",
        taken_type=taken,
        hint=hint,
    )


@frozen_record
class MismatchHandlers:
    """Callbacks for fields that do not fit; paths start at the outermost object."""

    misfit: Callable[[str, Field, Field, ReportPair], None]
    """Reports a pair of fields with incompatible types, or with a source that allows more."""
    unfilled: Callable[[str, Field], None]
    lost: Callable[[str, Field], None] | None
    """Reports a field of the source that its target lacks; None if such fields are allowed."""
    lost_keys: Callable[[str], None]
    """Reports an open object that is rebuilt without its additional keys although they are needed."""


class Converter:
    """Finds conversions in one direction and collects the mappings of nested objects."""

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
        """Return the conversion of a field's value; a mismatch is reported, and then treated as a fit."""
        none_comes = may_be_none(source)
        none_goes = not target.required or null_is_a_value(target.type)
        conversion = self._value(without_null(source.type), without_null(target.type), path)
        if conversion is None or (none_comes and not none_goes and UNKNOWN not in (source.type, target.type)):
            self._complaints.misfit(path, source, target, _report_mismatch)
            return SAME
        if not is_subtype(source.type, target.type):
            self._complaints.misfit(path, source, target, _report_excess)
        return OrNone(of=conversion) if none_comes and conversion != SAME else conversion

    def _value(self, source: DataType, target: DataType, path: str) -> Conversion | None:
        """Return the conversion of a value; None if it does not fit."""
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
        supplied, wanted = self._sources[source.name].foreign, self._targets[target.name].foreign
        if supplied or wanted:  # one class only if both sides share a named type or use no classes
            is_plain = supplied and wanted and not supplied.classes and supplied.schema == wanted.schema
            return SAME if is_plain else None
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
            self._complaints.lost_keys(path)
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
    """Return whether a rebuilt object lacks keys that its type promises.

    `may_lose` means that a source can have more fields than its target.
    """
    return source.open and (target.open or not may_lose)


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
    """Return a value that is equal for types with the same Python type."""
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


def is_subtype(source: DataType, target: DataType) -> bool:
    """Return whether every value of the source type is a value of the target type.

    A pattern or a format is only a subtype of itself. Objects and unions are not entered: their fields are
    compared one by one.
    """
    match source, target:
        case NullableType(), _:
            return is_subtype(source.inner, target)
        case _, NullableType():
            return is_subtype(source, target.inner)
        case EnumType(), StringType() | NumberType():
            validator = Validator(target, {})
            return not any(validator.issues(value) for value in source.values)
        case ScalarType(), StringType():
            return target == StringType()
        case ScalarType(), ScalarType():
            return _within_limits(source, target)
        case StringType(), StringType():
            forms = (target.pattern, target.format)
            return _within_limits(source, target) and forms in ((None, None), (source.pattern, source.format))
        case NumberType(), NumberType():
            return _within_limits(source, target)
        case ArrayType(), ArrayType():
            return _within_limits(source, target) and is_subtype(source.items, target.items)
        case MapType(), MapType():
            parts = (source.keys, target.keys), (source.values, target.values)
            return _within_limits(source, target) and all(is_subtype(*part) for part in parts)
        case _:
            return True


def _within_limits(source: DataType, target: DataType) -> bool:
    """Return whether every value within the limits of the source is within the limits of the target."""
    if any(not getattr(source, row.name) for row, _ in constraints_in(target, FLAGS)):
        return False
    for row, _ in constraints_in(target, LIMITS):
        if row.side is None:
            continue
        inner, outer = _outermost(source, row.side), _outermost(target, row.side)
        if inner is None or outer is None or (inner < outer if row.side == "low" else inner > outer):
            return False
    return all(
        _step(source) % exact_number(step) == 0
        for row, step in constraints_in(target, LIMITS)
        if row.takes == "step"
    )


def _outermost(type_: DataType, side: str) -> tuple[object, bool] | None:
    """Return the stricter limit on a side, with a flag; None if there is none.

    The flag orders limits of equal value: an exclusive limit comes later on the low side, and earlier on the
    high side.
    """
    is_integer = isinstance(type_, NumberType) and type_.integer
    limits = []
    for row, limit in constraints_in(type_, LIMITS):
        if row.side == side:
            exact = exact_number(limit) if isinstance(limit, int | float) else limit
            if is_integer and row.is_exclusive:
                limits.append((exact + (1 if side == "low" else -1), side == "high"))
            else:
                limits.append((exact, row.is_exclusive == (side == "low")))
    if side == "high":
        return min(limits, default=None)
    sizes = isinstance(type_, StringType | ArrayType | MapType)
    return max(limits, default=(0, False) if sizes else None)


def _step(type_: DataType) -> Fraction | float:
    """Return the number of which every value is a multiple; NaN if there is no such step."""
    step = next((step for row, step in constraints_in(type_, LIMITS) if row.takes == "step"), None)
    if step is None:
        return 1 if isinstance(type_, NumberType) and type_.integer else float("nan")
    return exact_number(step)
