"""Defaults and examples of a design, checked against their types.

They are read when their field is created, and checked when all types are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.shapes.constraints import LIMITS, constraints_in
from toolgen.shapes.fields import (
    MISSING,
    DataType,
    EnumType,
    Field,
    Missing,
    NumberType,
    Objects,
    RefType,
    ScalarType,
    UnionType,
    parts,
    without_null,
)
from toolgen.shapes.issues import FieldIssue
from toolgen.shapes.tree.validator import Validator
from toolgen.shapes.values import plain

from ...attributes import Attribute, Example
from ...composites import Type
from ...expr import codes
from ...expr.source import Source
from ..clause_lookup import clauses_of_kind
from ..report import RelatedSource, Report, closest, listed, source_text
from .jsonvalues import NoJsonError, check_aware, json_value
from .modules import UNKNOWN, Module

_SIDES: Final = {
    ("low", False): ("below", "raise the default or lower the {}"),
    ("low", True): ("not above", "raise the default or lower the {}"),
    ("high", False): ("above", "lower the default or raise the {}"),
    ("high", True): ("not below", "lower the default or raise the {}"),
}
"""Position of a default outside a bound, and the hint, by the bound's side and whether it is exclusive."""


@frozen_record
class _Check:
    """A value and the type that it must fit."""

    value: Json
    type: DataType
    module: Module
    report: Callable[[str, Sequence[RelatedSource]], None]
    """Receives the issues as text, and the sources of the values they concern."""


class ValueChecks:
    """Collects the values of a design; `run` checks them once every type is complete."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._checks: list[_Check] = []
        self._validators: dict[tuple[DataType, int], Validator] = {}
        """The validators, by type and by the module with the objects of the type."""

    def field(self, field: Field, attribute: Attribute, module: Module) -> Field:
        """Return the field with the default and the examples of its attribute."""
        default: Json | Missing = MISSING
        if attribute.default is not MISSING and not field.required:
            default = self._default(field, attribute, module)
        examples: list[Json] = []
        for example in attribute.examples:
            what = f"attribute {attribute.name!r}"
            value = self.example(example, field.type, module, what, attribute.source)
            if value is not MISSING:
                examples.append(value)
        if default is MISSING and not examples:
            return field
        return replace(field, default=default, examples=tuple(examples))

    def _default(self, field: Field, attribute: Attribute, module: Module) -> Json:
        """Return the default as JSON; a wrong default is reported, but stays a default."""

        def report(issues: str, related: Sequence[RelatedSource] = ()) -> None:
            self._report.add(
                codes.DEFAULT_MISMATCH,
                attribute.source,
                related=related,
                default=source_text(attribute.default),
                name=attribute.name,
                issues=issues,
                hint="remove default=None: without required=True the attribute can be absent"
                if attribute.default is None
                else "write a default that its type accepts, or remove it",
            )

        try:
            value = json_value(attribute.default)
            check_aware(attribute.default)
        except NoJsonError as error:
            report(str(error))
            return None
        if self._out_of_range(value, field.type, attribute) or self._not_in_enum(
            value, field.type, attribute
        ):
            return value
        self._checks.append(_Check(value=value, type=field.type, module=module, report=report))
        if isinstance(value, float) and isinstance(field.type, NumberType) and field.type.integer:
            return int(value) if value.is_integer() else value
        return value

    def _out_of_range(self, value: Json, type_: DataType, attribute: Attribute) -> bool:
        inner = without_null(type_)
        if (number := _comparable(value, inner)) is None:
            return False
        for row, limit in constraints_in(inner, LIMITS):
            if row.takes == "bound" and row.side is not None and not row.passes(number, limit):
                side, hint = _SIDES[row.side, row.is_exclusive]
                bound = row.name.replace("_", " ")
                self._report.add(
                    codes.DEFAULT_OUT_OF_RANGE,
                    attribute.source,
                    default=value,
                    name=attribute.name,
                    side=side,
                    bound=bound,
                    limit=plain(limit),
                    hint=hint.format(bound),
                )
                return True
        return False

    def _not_in_enum(self, value: Json, type_: DataType, attribute: Attribute) -> bool:
        if not isinstance(type_, EnumType) or type(value) is not type(type_.values[0]):
            return False
        if value in type_.values:
            return False
        meant = (
            closest(value, [each for each in type_.values if isinstance(each, str)])
            if isinstance(value, str)
            else None
        )
        self._report.add(
            codes.DEFAULT_NOT_IN_ENUM,
            attribute.source,
            default=source_text(value),
            name=attribute.name,
            values=listed(type_.values),
            hint=f"did you mean {meant!r}?" if meant else "write one of the values, or add it to the enum",
        )
        return True

    def example(
        self, example: object, type_: DataType, module: Module, what: str, source: Source
    ) -> Json | Missing:
        """Return an example as JSON, `MISSING` if it has no JSON form; it is checked later."""

        def report(issues: str, related: Sequence[RelatedSource] = ()) -> None:
            self._report.add(codes.EXAMPLE_MISMATCH, source, related=related, what=what, issues=issues)

        try:
            value = json_value(example)
            check_aware(example)
        except NoJsonError as error:
            report(str(error))
            return MISSING
        self._checks.append(_Check(value=value, type=type_, module=module, report=report))
        return value

    def type_examples(self, clause: Type, class_name: str, module: Module) -> tuple[Json, ...]:
        """Return the examples in a named type; they are checked later."""
        what = f"type {clause.name!r}"
        examples = []
        for child in clauses_of_kind(clause.children, Example):
            value = self.example(dict(child.args), RefType(name=class_name), module, what, child.source)
            if not isinstance(value, Missing):
                examples.append(value)
            if child.result is not None:
                issues = "a type has no result"
                self._report.add(codes.EXAMPLE_MISMATCH, child.source, what=what, issues=issues)
        return tuple(examples)

    def run(self) -> None:
        """Check all collected values, then discard them."""
        checks, self._checks = self._checks, []  # they refer to this object, which would be a reference cycle
        for check in checks:
            if not _is_sound(check.type, check.module.objects, set()):
                continue
            issues = self._validator(check).issues(check.value)
            if issues:
                check.report("; ".join(_text(issue) for issue in issues), _attributes(check, issues))

    def _validator(self, check: _Check) -> Validator:
        is_closed = _is_closed(check.type)
        key = check.type, 0 if is_closed else id(check.module)
        if key not in self._validators:
            self._validators[key] = Validator(check.type, {} if is_closed else check.module.objects)
        return self._validators[key]


def _attributes(check: _Check, issues: Iterable[FieldIssue]) -> list[RelatedSource]:
    """Return the sources of the outermost attributes that the issues concern."""
    if not isinstance(check.type, RefType):
        return []
    names = dict.fromkeys(str(issue.keys[0]) for issue in issues if issue.keys)
    places = {name: check.module.source_of(check.type.name, name) for name in names}
    return [
        RelatedSource(message=f"attribute {name!r} is defined here", source=place)
        for name, place in places.items()
        if place
    ]


def _comparable(value: Json, type_: DataType) -> object:
    """Return the value in the form that the limits of its type compare; None if they do not compare it."""
    if isinstance(type_, NumberType):
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if not isinstance(type_, ScalarType):
        return None
    unlimited = Validator(ScalarType(kind=type_.kind), {})
    return None if unlimited.issues(value) else unlimited.parse(value)


def _text(issue: FieldIssue) -> str:
    return issue.message if issue.path == "$" else f"{issue.path} {issue.message}"


def _is_closed(type_: DataType) -> bool:
    """Return whether the type refers to no object, so that one validator serves all modules."""
    return not any(isinstance(part, RefType | UnionType) for part in parts(type_))


def _is_sound(type_: DataType, objects: Objects, seen: set[str]) -> bool:
    """Return whether no part of the type was reported."""
    for name in [part.name for part in parts(type_) if isinstance(part, RefType)]:
        if name == UNKNOWN.name or name not in objects:
            return False
        if name not in seen:
            seen.add(name)
            if not all(_is_sound(field.type, objects, seen) for field in objects[name].fields):
                return False
    return True
