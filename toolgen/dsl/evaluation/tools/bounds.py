"""Bounded results: the fields about the total number of results, and the cursors to the rest."""

from __future__ import annotations

from typing import Any as Anything
from typing import Final

from toolgen.contract.bounds import Bounds, bounds_fault
from toolgen.contract.json_value import Json
from toolgen.contract.names import BOUNDS_FIELDS
from toolgen.contract.tool_facts import Bounded
from toolgen.shapes import naming
from toolgen.shapes.fields import (
    MISSING,
    ArrayType,
    DataType,
    EnumType,
    Field,
    NumberType,
    ScalarType,
    StringType,
    without_null,
)

from ...expr import codes
from ...expr.source import Source
from ...tool_clauses import BoundedResult
from ..report import Report, closest
from ..types.modules import UNKNOWN
from ..types.spelling import field_text, type_text

_FIELDS: Final[dict[str, tuple[DataType, bool, str]]] = {
    "returned": (NumberType(integer=True), True, "How many are in this result."),
    "truncated": (ScalarType(kind="boolean"), True, "Whether there are more than these."),
    "total": (NumberType(integer=True), False, "How many there are in all, if known."),
    "refinement_hint": (StringType(), False, "How to ask for less, if that helps."),
}


def with_bounds(
    tool: str, fields: tuple[Field, ...], sources: dict[str, Source], source: Source, report: Report
) -> tuple[Field, ...]:
    """Return the fields of a bounded result; check the fields for its bounds, or add them at the end."""
    by_name = {field.name: field for field in fields}
    for name in BOUNDS_FIELDS:
        if name in by_name:
            _check(tool, by_name[name], sources.get(name, source), report)
    added = (_field(name) for name in BOUNDS_FIELDS if name not in by_name)
    return (*fields, *added)


def _field(name: str) -> Field:
    type_, required, description = _FIELDS[name]
    return Field(name=name, type=type_, description=description, title=naming.title(name), required=required)


def _check(tool: str, field: Field, source: Source, report: Report) -> None:
    type_, required, _ = _FIELDS[field.name]
    if field.type == UNKNOWN:
        return
    is_there = field.required or not required  # a total can always be present, a count must be
    if _same_kind(field.type, type_) and is_there and field.default is MISSING:
        return
    clause = field_text(Field(name="", type=type_, description="", title="", required=required))
    actual = f"required {field_text(field)}" if field.required else field_text(field)
    if field.default is not MISSING:
        actual = f"{actual} with a default"
    ending = ", required=True" if required else ""
    report.add(
        codes.BOUNDS_FIELD,
        source,
        name=field.name,
        tool=tool,
        type=actual,
        wanted=f"required {clause}" if required else clause,
        attribute=f'Attribute("{field.name}", {type_text(type_)}, "…"{ending})',
    )


def _same_kind(type_: DataType, wanted: DataType) -> bool:
    if isinstance(type_, NumberType) and isinstance(wanted, NumberType):
        return type_.integer == wanted.integer
    if isinstance(type_, StringType):
        return isinstance(wanted, StringType)
    return not isinstance(type_, EnumType) and type_ == wanted


def bounded(
    tool: str,
    clause: BoundedResult,
    payload: tuple[Field, ...] | None,
    result: tuple[Field, ...] | None,
    report: Report,
) -> Bounded:
    """Return the facts of a bounded result; check the cursors on both sides that are known."""
    if (clause.cursor is None) != (clause.next_cursor is None):
        which, other = ("cursor", "next_cursor") if clause.next_cursor is None else ("next_cursor", "cursor")
        report.add(
            codes.BAD_CURSOR,
            clause.source,
            which=which,
            name=getattr(clause, which),
            tool=tool,
            fault=f"is used without {other}",
            hint=f"name the {other} too: BoundedResult(cursor=…, next_cursor=…)",
        )
    _check_cursor(tool, "cursor", clause.cursor, "Args", payload, clause.source, report)
    _check_cursor(tool, "next_cursor", clause.next_cursor, "Return", result, clause.source, report)
    lists = [field.name for field in result or () if isinstance(without_null(field.type), ArrayType)]
    items = lists[0] if len(lists) == 1 else None
    return Bounded(cursor=clause.cursor, next_cursor=clause.next_cursor, items=items)


def example_fault(window: Bounded, result: Json) -> str | None:
    """Return the contradiction between an example's result and its bounds; None if there is none.

    Values of a wrong type are reported by the check of the types.
    """
    if not isinstance(result, dict):
        return None
    reported = {name: result.get(name) for name in BOUNDS_FIELDS}
    reported["next_cursor"] = result.get(window.next_cursor or "")
    items = result.get(window.items or "", [])
    if not all(_is_of(value, name) for name, value in reported.items()) or not isinstance(items, list | None):
        return None
    bounds: Anything = reported
    count = None if window.items is None else len(items or ())
    return bounds_fault(Bounds(**bounds), items=count, is_paged=window.next_cursor is not None)


def _is_of(value: Json, name: str) -> bool:
    """Return whether a value has the type of a bound; an optional bound can be null."""
    match name:
        case "returned":
            return isinstance(value, int) and not isinstance(value, bool)
        case "truncated":
            return isinstance(value, bool)
        case "total":
            return value is None or (isinstance(value, int) and not isinstance(value, bool))
        case _:
            return isinstance(value, str | None)


def _check_cursor(
    tool: str,
    which: str,
    name: str | None,
    clause: str,
    fields: tuple[Field, ...] | None,
    source: Source,
    report: Report,
) -> None:
    if name is None or fields is None:
        return
    field = next((field for field in fields if field.name == name), None)
    wanted = f'Attribute("{name}", String, "…") in {clause}'
    if field is None:
        meant = closest(name, [field.name for field in fields if isinstance(field.type, StringType)])
        hint = f"did you mean {meant!r}?" if meant else f"add {wanted}"
        _bad_cursor(tool, which, name, f"is not an attribute of {clause}", hint, source, report)
    elif field.type == UNKNOWN:
        return
    elif not isinstance(field.type, StringType):
        fault = f"is {field_text(field)}, not an optional String"
        _bad_cursor(tool, which, name, fault, f"write {wanted}", source, report)
    elif field.required or field.default is not MISSING:
        fault = "is always present, but the first request has no cursor and the last page has no next one"
        _bad_cursor(
            tool, which, name, fault, f"write {wanted}, neither required nor with a default", source, report
        )


def _bad_cursor(
    tool: str, which: str, name: str, fault: str, hint: str, source: Source, report: Report
) -> None:
    report.add(codes.BAD_CURSOR, source, which=which, name=name, tool=tool, fault=fault, hint=hint)
