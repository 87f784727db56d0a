"""Reads third-party schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolgen.contract.json_value import HTML_HINT, is_html
from toolgen.contract.record import frozen_record
from toolgen.contract.regular_file import read_regular
from toolgen.shapes.fields import Foreign

from ...composites import JSONSchema
from ...expr import codes
from ...expr.source import Source
from ..report import Report
from .jsonvalues import json_value

if TYPE_CHECKING:
    from toolgen.shapes.foreign.reader import Reading, SchemaProblem

_LARGEST: Final = 5_000_000
"""Maximum size of a schema file, in bytes."""
_MOST_PLACES: Final = 3
"""Maximum number of places of one schema in a warning."""


@frozen_record
class _Unreadable(Exception):
    fault: str
    hint: str


def foreign(
    clause: JSONSchema, class_name: str, what: str, report: Report, *, arguments: bool = False
) -> Foreign | None:
    """Return the schema of a `JSONSchema` clause; None if it was reported."""
    try:
        schema = _schema(clause, report)
    except _Unreadable as error:
        report.add(codes.UNREADABLE_SCHEMA, clause.source, what=what, fault=error.fault, hint=error.hint)
        return None
    reading = _read(schema, class_name, arguments=arguments)
    for problem in reading.problems:
        if not problem.is_warning:
            _report(codes.BAD_SCHEMA, problem, clause.source, what, report)
    for rule, is_repair in ((codes.REPAIRED_SCHEMA, True), (codes.DEFAULT_IN_SCHEMA, False)):
        warnings = [each for each in reading.problems if each.is_warning and each.is_repair == is_repair]
        if reading.foreign is not None and warnings:
            _report(rule, _shortened(warnings), clause.source, what, report)
    return reading.foreign


def _read(schema: object, class_name: str, *, arguments: bool) -> Reading:
    from toolgen.shapes.foreign.reader import (  # it imports jsonschema-rs, which only these designs need
        read,
        read_text,
    )

    if arguments or not isinstance(schema, dict):
        return read(schema, name=class_name, arguments=arguments)
    return read_text(json.dumps(schema), name=class_name)


def _report(rule: codes.Rule, problem: SchemaProblem, source: Source, what: str, report: Report) -> None:
    pointer = problem.pointer or "its root"
    report.add(rule, source, what=what, fault=problem.message, pointer=pointer, hint=problem.hint)


def _shortened(warnings: list[SchemaProblem]) -> SchemaProblem:
    """Return a schema's warnings of one kind as one, because its author is a third party."""
    first, more = warnings[0], len(warnings) - _MOST_PLACES
    others = [problem.pointer for problem in warnings[1:_MOST_PLACES]]
    places = ", ".join([first.pointer or "its root", *others])
    return replace(first, pointer=f"{places} and {more} more" if more > 0 else places)


def _schema(clause: JSONSchema, report: Report) -> object:
    if isinstance(clause.schema, bool):
        return clause.schema
    if isinstance(clause.schema, Mapping):
        return json_value(clause.schema)
    path = str(clause.schema)
    file = Path(clause.source.file).parent / path
    report.files.add(file)
    data = b""
    try:
        if file.stat().st_size > _LARGEST:
            raise _Unreadable(
                fault=f"{path!r} has more than {_LARGEST // 1_000_000} MB",
                hint="remove everything from the file that its schema does not refer to",
            )
        data = read_regular(file, _LARGEST)
        return json.loads(data)
    except OSError as error:
        hint = "write the path relative to the folder of the design's file"
        if path.lstrip().startswith("{"):
            hint = "write the schema as a dict, without quotes around it"
        raise _Unreadable(fault=f"{path!r}: {error.strerror or error}", hint=hint) from error
    except (ValueError, RecursionError) as error:
        fault = "too deeply nested" if isinstance(error, RecursionError) else f"not JSON: {error}"
        hint = HTML_HINT if is_html(data) else "correct the file"
        raise _Unreadable(fault=f"{path!r} is {fault}", hint=hint) from error
