"""Clauses that refer to arguments: conditions of confirmations, and the keys of sequential calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.names import SESSION
from toolgen.contract.record import frozen_record
from toolgen.shapes.fields import (
    DataType,
    EnumType,
    Field,
    NumberType,
    ScalarType,
    StringType,
    without_null,
)
from toolgen.shapes.tree.validator import Validator

from ...behaviour import Confirm, Sequential
from ...expr import codes
from ..report import Report, source_text, suggestion
from ..types.jsonvalues import NoJsonError, json_value
from ..types.modules import UNKNOWN
from ..types.spelling import type_text

_Values: TypeAlias = "tuple[bool | int | float | str, ...]"
_ATTRIBUTE: Final = "name an attribute of Args"
_SESSION_OR_ATTRIBUTE: Final = "write 'session', or name an attribute of Args that is a single value"


@frozen_record
class ConditionArguments:
    """The arguments that a condition can refer to."""

    names: list[str] | None
    """Names of the arguments; None if unknown."""
    fields: tuple[Field, ...] = ()
    """Arguments whose types are known too."""
    injected: tuple[str, ...] = ()


def condition(
    clause: Confirm, tool: str, arguments: ConditionArguments, report: Report
) -> Mapping[str, _Values]:
    """Return the values by argument; report values that never occur."""
    compared: dict[str, _Values] = {}
    for name, written in clause.when.items():
        values = written if isinstance(written, tuple | list) else (written,)
        for fault, hint in dict.fromkeys(_faults(name, values, arguments)):
            report.add(codes.BAD_WHEN, clause.source, tool=tool, fault=fault, hint=hint)
        compared[name] = tuple(plain for plain in map(_plain, values) if plain is not None)
    return compared


def grantable(clause: Confirm, tool: str, report: Report, *, has_payload: bool) -> bool:
    """Return whether an approval can count for further calls; report one that has a payload."""
    if clause.grantable and has_payload:
        report.add(codes.GRANTABLE_PAYLOAD, clause.source, tool=tool)
    return clause.grantable


def sequential_by(clause: Sequential, tool: str, arguments: ConditionArguments, report: Report) -> str:
    """Return the argument that sequential calls of a tool share; "" for all calls."""
    name = clause.by
    if name is None or name == SESSION:
        return name or ""
    if arguments.names is not None and name not in arguments.names and name not in arguments.injected:
        fault = f"names {name!r}, which is not one of its arguments"
        hint = suggestion(name, (SESSION, *arguments.names, *arguments.injected), _SESSION_OR_ATTRIBUTE)
        report.add(codes.BAD_SEQUENTIAL, clause.source, tool=tool, fault=fault, hint=hint)
    field = next((field for field in arguments.fields if field.name == name), None)
    type_ = UNKNOWN if field is None else without_null(field.type)
    if type_ != UNKNOWN and not _is_single(type_):
        fault = f"names {name!r}, which is {type_text(type_)}"
        report.add(codes.BAD_SEQUENTIAL, clause.source, tool=tool, fault=fault, hint=_SESSION_OR_ATTRIBUTE)
    return name


def _faults(name: str, values: Sequence[object], arguments: ConditionArguments) -> Iterator[tuple[str, str]]:
    """Yield the faults of the condition on one argument, each with its hint."""
    if not values:
        yield f"gives no value for {name!r}", "write a value, or several in a tuple"
    if arguments.names is not None and name not in arguments.names:
        yield _unknown(name, arguments)
        return
    field = next((field for field in arguments.fields if field.name == name), None)
    for value in values:
        plain = _plain(value)
        if plain is None:
            hint = "write a string, a number, True or False"
            if isinstance(value, (set, frozenset)):
                hint = "write several values as a tuple, not as a set"
            yield f"compares {name!r} with {source_text(value)}", hint
        elif field is not None and (fault := _misfit(field, plain)):
            yield fault


def _unknown(name: str, arguments: ConditionArguments) -> tuple[str, str]:
    if name in arguments.injected:
        hint = "remove it: the server fills it, so the model does not choose it"
        return f"names {name!r}, which is injected", hint
    hint = suggestion(name, arguments.names or (), _ATTRIBUTE)
    return f"names {name!r}, which is not one of its arguments", hint


def _plain(value: object) -> bool | int | float | str | None:
    """Return a value that can be compared; None for other values."""
    try:
        plain = json_value(value)
    except NoJsonError:
        return None
    return plain if isinstance(plain, bool | int | float | str) else None


def _misfit(field: Field, value: Json) -> tuple[str, str] | None:
    """Return the reason why an attribute never has this value, with a hint."""
    type_ = without_null(field.type)
    if type_ == UNKNOWN:
        return None
    if not _is_comparable(type_):
        fault = f"names {field.name!r}, which is {type_text(type_)}"
        return fault, "name a String, an Int, a Float, a Boolean or an enum"
    issues = Validator(type_, {}).issues(value)
    if not issues:
        return None
    fault = f"compares {field.name!r} with {source_text(value)}, which it never is: {issues[0].message}"
    if isinstance(type_, EnumType):
        return fault, suggestion(str(value), map(str, type_.values), "write one of the values")
    return fault, f"write a value of {type_text(type_, constraints=True)}"


def _is_single(type_: DataType) -> bool:
    """Return whether a value is a single value, for example a text or a time, without nested values."""
    if isinstance(type_, ScalarType):
        return type_.kind != "any"
    return isinstance(type_, StringType | NumberType | EnumType)


def _is_comparable(type_: DataType) -> bool:
    """Return whether a value has one form in JSON, so that equal values are equal there."""
    match type_:
        case StringType() | NumberType() | EnumType():
            return True
        case ScalarType():
            return type_.kind == "boolean"
        case _:
            return False
