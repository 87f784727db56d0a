"""Pairs of fields that do not fit, and their diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.shapes.fields import Field

from ..report import RelatedSource, Report
from ..types.spelling import field_text, type_text


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """Whether no other rule forbids the source to be there always."""
    may_be_optional: bool = True
    """Whether no other rule forbids the target to be absent."""


ReportPair: TypeAlias = Callable[[FieldMismatch, Source, Report], None]


def report_mismatch(pair: FieldMismatch, place: Source, report: Report) -> None:
    """Report types that do not go together, or a field that may be absent where it must not."""
    supplied, taken = type_text(pair.source.type), type_text(pair.target.type)
    name, where = pair.target.name, pair.taker.partition(" ")[0]
    hint = f"make {name!r} {supplied} in the {where}, or change the type of the {pair.what}"
    if supplied == taken:
        fixes = [f"add required=True or a default to the {pair.what}"] if pair.may_be_required else []
        fixes += [f"make {name!r} optional in the {where}"] if pair.may_be_optional else []
        supplied, taken, hint = field_text(pair.source), f"required {taken}", ", or ".join(fixes)
    _report(pair, supplied, taken, hint, place, report)


def report_excess(pair: FieldMismatch, place: Source, report: Report) -> None:
    """Report a field whose constraints allow what those of its target do not."""
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
