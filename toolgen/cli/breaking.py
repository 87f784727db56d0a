"""`toolgen breaking` and `toolgen diff`: what changed since another catalogue, and whom it breaks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, assert_never

from toolgen.compatibility import (
    BY_CODE,
    PARTIES,
    Change,
    Party,
    compare,
    parked_changes,
    ranked,
    step_made,
    step_of,
)
from toolgen.compatibility.rules import STEPS
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.contract.record import frozen_record
from toolgen.findings import Code, Finding, Place, Related

from .breaking_sides import Clauses, as_server, design_side
from .config import Project
from .outcome import Outcome, render_diagnostics
from .references import Side, read_side
from .sarif import sarif_text
from .terminal import counted

BreakingFormat: TypeAlias = Literal["text", "json", "github", "sarif"]

REFUSED: Final[tuple[Party, ...]] = ("callers", "consumers", "suspended_calls")
"""The parties for whom a break is refused; what breaks the source is for type checkers to find."""
_BASELINE: Final = 1


@frozen_record
class BreakingRequest:
    """What is compared, and what is let through."""

    project: Project
    against: str
    to: str = ""
    """The new side; "" for the design of the project."""
    allowed: tuple[str, ...] = ()
    """`CODE@TOOL`, or `CODE@TOOL:ARGUMENT`."""
    baseline: Path | None = None
    journal: Path | None = None
    format: BreakingFormat = "text"


@frozen_record
class Judged:
    """A change, and why it is let through."""

    change: Change
    place: Place
    allowed: str
    """Why it is let through; "" where it is not."""
    is_refused: bool


@frozen_record
class _Comparison:
    before: Side
    after: Side
    clauses: Clauses
    changes: tuple[Change, ...]


def find_breaking(request: BreakingRequest) -> Outcome:
    """Return the changes; the code is 1 where one is refused.

    Raises:
        ToolgenError: a side cannot be read, or an option does not fit.
    """
    compared = _compared(request)
    if isinstance(compared, Outcome):
        return compared
    baseline = _baseline(request.baseline)
    unknown = [text for text in request.allowed if text.partition("@")[0] not in BY_CODE]
    if unknown:
        raise ToolgenError(
            f"--allow {unknown[0]!r} names no code of a change", hint="write CODE@TOOL, as the list has them"
        )
    is_admitted = _is_admitted(compared)
    judged = [
        _judged(each, request, compared.clauses, baseline, is_admitted=is_admitted)
        for each in compared.changes
    ]
    return _outcome(request, compared, judged)


def show_difference(request: BreakingRequest, *, is_baseline: bool = False) -> Outcome:
    """Return the changes as sentences in Markdown, for pull requests, or as a baseline.

    Raises:
        ToolgenError: a side cannot be read.
    """
    compared = _compared(request)
    if isinstance(compared, Outcome):
        return compared
    if is_baseline:
        return _as_baseline(compared.changes)
    lines = [f"## Contract of the tools since `{compared.before.name}`", ""]
    groups: dict[str, list[str]] = {}
    for each in compared.changes:
        groups.setdefault(_heading(each), []).append(f"- {each.sentence()}")
    for heading, sentences in groups.items():
        lines += [f"### {heading}", "", *sentences, ""]
    if not groups:
        lines += ["Nothing changed.", ""]
    return Outcome(
        code=0,
        output="\n".join(lines).rstrip("\n"),
        summary=f"{counted(len(compared.changes), 'change')}; needs a {step_of(compared.changes)} version",
    )


def _compared(request: BreakingRequest) -> _Comparison | Outcome:
    before = read_side(request.against, request.project)
    clauses = Clauses()
    if request.to:
        after = read_side(request.to, request.project)
    else:
        made = design_side(request.project, request.format)
        if isinstance(made, Outcome):
            return made
        after, clauses = made
    waiting: list[Change] = []
    if request.journal is not None:
        from .parked_calls import parked_calls

        waiting += parked_changes(parked_calls(request.journal), before.contract, after.contract)
    if before.is_server or after.is_server:
        clauses = clauses.of_names(after.contract)
        before, after = as_server(before), as_server(after)
    changes = [*compare(before.contract, after.contract), *waiting]
    return _Comparison(before=before, after=after, clauses=clauses, changes=tuple(ranked(changes)))


def _is_admitted(compared: _Comparison) -> bool:
    """Return whether the versions of both sides make the step that the changes ask for."""
    made = step_made(compared.before.contract.version, compared.after.contract.version)
    return made is not None and STEPS.index(made) >= STEPS.index(step_of(compared.changes))


def _judged(
    change: Change,
    request: BreakingRequest,
    clauses: Clauses,
    baseline: Set[str],
    *,
    is_admitted: bool,
) -> Judged:
    broken = set(change.parties(in_behaviour=False)) & set(REFUSED)
    allowed = clauses.reason(change)
    names = {f"{change.code}@{change.tool}", _name(change)}
    if not allowed and names & set(request.allowed):
        allowed = "--allow"
    if not allowed and {_name(change), _recorded_name(change)} & baseline:
        allowed = "the baseline"
    if not allowed and is_admitted and change.code != "suspended-call":
        allowed = "the version"
    is_refused = (bool(broken) or change.rule.is_undecided) and not allowed
    return Judged(change=change, place=clauses.place(change), allowed=allowed, is_refused=is_refused)


def _name(change: Change) -> str:
    """Return the name of a change for `--allow`."""
    return f"{change.code}@{change.tool}{f':{change.argument}' if change.argument else ''}"


def _recorded_name(change: Change) -> str:
    """Return the name of a change in a baseline: what changes further at the same place has another one."""
    return f"{_name(change)}#{sha256(change.message.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _outcome(request: BreakingRequest, compared: _Comparison, judged: Sequence[Judged]) -> Outcome:
    refused = [each for each in judged if each.is_refused]
    shown = [each for each in judged if each.is_refused or each.change.is_listed]
    findings = [_finding(each, compared) for each in shown]
    notes = (*_notes(request, judged), *compared.clauses.idle(compared.changes))
    summary = _summary(compared, judged, len(refused))
    code = 1 if refused else 0
    match request.format:
        case "text":
            text = render_diagnostics(findings, "text")
            return Outcome(code=code, notes=(*([text] if text else []), *notes), summary=summary)
        case "github":
            return Outcome(
                code=code, output=render_diagnostics(findings, "github"), notes=notes, summary=summary
            )
        case "json":
            records = [json.dumps(_record(each, compared), ensure_ascii=False) for each in judged]
            lines = "\n".join(map(printable, records))
            return Outcome(code=code, output=lines, notes=notes, summary=summary)
        case "sarif":
            log = sarif_text([_without_revision(each, compared) for each in findings], _codes())
            return Outcome(code=code, output=log, notes=notes, summary=summary)
        case _:
            assert_never(request.format)


def _finding(judged: Judged, compared: _Comparison) -> Finding:
    change, reason = judged.change, judged.allowed.rstrip(".")
    message = f"{change.sentence()}{f' Accepted: {reason}.' if reason else ''}"
    place = judged.place if judged.place.file else Place(file=compared.after.name, pointer=change.after)
    earlier = Place(file=compared.before.name, pointer=change.before)
    related = (Related(message=f"before, at {change.before}", place=earlier),) if change.before else ()
    return Finding(
        code=change.code,
        message=message,
        severity="error" if judged.is_refused else "warning",
        place=place,
        hint=change.rule.advice,
        related=related,
        is_suppressible=True,
    )


def _without_revision(finding: Finding, compared: _Comparison) -> Finding:
    """Return a finding whose other places are paths, which a code host can lead to."""
    path = compared.before.path or compared.before.name
    related = tuple(replace(each, place=replace(each.place, file=path)) for each in finding.related)
    return replace(finding, related=related)


def _heading(change: Change) -> str:
    if change.rule.is_weakening:
        return "Weakened"
    if change.parties(in_behaviour=False):
        return "Breaks"
    if change.rule.is_undecided:
        return "Undecided"
    return "Changes behaviour" if change.breaks else "Compatible"


def _record(judged: Judged, compared: _Comparison) -> dict[str, Any]:
    """Return a change as the object of a line of `--format json`."""
    change, place = judged.change, judged.place
    kinds = dict.fromkeys(PARTIES.values(), "no")
    kinds |= dict.fromkeys(change.parties(in_behaviour=True), "behaviour")
    kinds |= dict.fromkeys(change.parties(in_behaviour=False), "documents")
    line = {"file": place.file, "line": place.line} if place.file else {}
    return {
        "code": change.code,
        "tool": change.tool,
        **({"argument": change.argument} if change.argument else {}),
        "message": change.message,
        "breaks": kinds,
        "step": change.step,
        "weakened": change.rule.is_weakening,
        "undecided": change.rule.is_undecided,
        "refused": judged.is_refused,
        **({"allowed": judged.allowed} if judged.allowed else {}),
        "before": {"in": compared.before.name, "pointer": change.before},
        "after": {"in": compared.after.name, "pointer": change.after, **line},
        **({"witness": change.witness[0]} if change.witness else {}),
        "advice": change.rule.advice,
    }


def _notes(request: BreakingRequest, judged: Sequence[Judged]) -> tuple[str, ...]:
    """Return what was let through for nothing."""
    names = {
        name for each in judged for name in (f"{each.change.code}@{each.change.tool}", _name(each.change))
    }
    return tuple(f"--allow {text} matches no change" for text in request.allowed if text not in names)


def _summary(compared: _Comparison, judged: Sequence[Judged], refused: int) -> str:
    if not judged:
        return f"no changes since {compared.before.name}"
    before, after = compared.before.contract.version, compared.after.contract.version
    versions = f"was {before or 'none'}, is {after or 'none'}"
    count = f"{counted(len(judged), 'change')} since {compared.before.name}"
    needed = f"needs a {step_of(compared.changes)} version"
    undecided = sum(each.change.rule.is_undecided for each in judged)
    return f"{count}: {refused} refused, {undecided} undecided; {needed} ({versions})"


def _codes() -> Iterator[Code]:
    return (Code(rule.code, rule.explanation) for rule in BY_CODE.values())


def _baseline(file: Path | None) -> Set[str]:
    """Return the names of the changes that a baseline lets through.

    Raises:
        ToolgenError: it cannot be read.
    """
    if file is None:
        return frozenset()
    try:
        document = json.loads(file.read_text("utf-8"))
        if document["format"] != _BASELINE:
            raise ValueError(f"it is of format {document['format']}")
        return frozenset(map(str, document["changes"]))
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        hint = "write it again: toolgen diff --against REF --format baseline"
        raise ToolgenError(f"cannot read the baseline {file}: {error}", hint=hint) from error


def _as_baseline(changes: Iterable[Change]) -> Outcome:
    """Return the names of the changes that break somebody, or cannot be told, as a baseline."""
    names = sorted({_recorded_name(each) for each in changes if each.breaks or each.rule.is_undecided})
    text = json.dumps({"format": _BASELINE, "changes": names}, indent=1)
    return Outcome(code=0, output=text, summary=f"{counted(len(names), 'change')} accepted by the baseline")
