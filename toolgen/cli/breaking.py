"""`toolgen breaking` and `toolgen diff`: changes since another catalog, and the parties they break."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any, Final, Literal, TypeAlias, assert_never

from toolgen.catalog.reader import MOST_BYTES
from toolgen.checks.compatibility import (
    BY_CODE,
    KINDS,
    PARTIES,
    ContractChange,
    Kind,
    compare,
    ranked,
    step_made,
    step_of,
    suspended_call_changes,
)
from toolgen.checks.compatibility.rules import STEPS
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Code, Finding, Place, Related
from toolgen.contract.printable import visible
from toolgen.contract.record import frozen_record
from toolgen.contract.regular_file import read_regular

from .breaking_sides import Clauses, as_server, design_side
from .config import Project
from .outcome import Outcome, render_diagnostics
from .references import Side, read_side
from .sarif import sarif_text
from .terminal import counted

BreakingFormat: TypeAlias = Literal["text", "json", "github", "sarif"]

REFUSED: Final[tuple[Kind, ...]] = ("weakened", "callers", "consumers", "suspended_calls", "undecided")
"""Kinds of changes that fail by default. Type checkers find changes that break generated code."""
WEAKENED: Final = "weakened:"
"""Prefix of an `--allow` that accepts a weaker guard."""
_BASELINE: Final = 1
_NO_GUARDS: Final = (
    "an MCP server lists no confirmations, sensitive values, injected fields or limits of runs, so these "
    "guards were not compared; compare with a catalog for that"
)


@frozen_record
class BreakingRequest:
    """The sides to compare, and the accepted changes."""

    project: Project
    against: str
    to: str = ""
    """The new side; "" for the design of the project."""
    allowed: tuple[str, ...] = ()
    """`CODE@TOOL`, `CODE@TOOL:ARGUMENT`, or `weakened:PLACE`."""
    fail_on: tuple[str, ...] = REFUSED
    """Kinds of changes that fail."""
    baseline: Path | None = None
    journal: Path | None = None
    format: BreakingFormat = "text"


@frozen_record
class Verdict:
    """A change, and whether it is accepted."""

    change: ContractChange
    place: Place
    allowed: str
    """Reason why the change is accepted; "" if it is not."""
    is_refused: bool


@frozen_record
class _Comparison:
    before: Side
    after: Side
    clauses: Clauses
    changes: tuple[ContractChange, ...]


def find_breaking(request: BreakingRequest) -> Outcome:
    """Return the changes; the exit code is 1 if one is not accepted.

    Raises:
        ToolgenError: a side cannot be read, or an option does not fit.
    """
    compared = _compared(request)
    if isinstance(compared, Outcome):
        return compared
    baseline = _baseline(request.baseline)
    _check_allowed(request.allowed)
    if unknown := [kind for kind in request.fail_on if kind not in KINDS]:
        raise ToolgenError(
            f"--fail-on {unknown[0]!r} is not a kind of change", hint=f"write {', '.join(KINDS)}"
        )
    judge = partial(_verdict_of, request, compared.clauses, baseline, _is_admitted(compared))
    return _outcome(request, compared, [*map(judge, compared.changes)])


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
        groups.setdefault(_heading(each), []).extend(_item(each))
    for heading, sentences in groups.items():
        lines += [f"### {heading}", "", *sentences, ""]
    if not groups:
        lines += ["Nothing changed.", ""]
    return Outcome(
        code=0,
        output="\n".join(lines).rstrip("\n"),
        notes=_unseen(compared),
        summary=f"{counted(len(compared.changes), 'change')}. {_needed_version(compared)}.",
    )


def _compared(request: BreakingRequest) -> _Comparison | Outcome:
    before = read_side(request.against, request.project)
    clauses = Clauses()
    if request.to:
        after = read_side(request.to, request.project)
    else:
        design = design_side(request.project, request.format)
        if isinstance(design, Outcome):
            return design
        after, clauses = design
    waiting: list[ContractChange] = []
    if request.journal is not None:
        from .suspended_calls import suspended_calls

        waiting += suspended_call_changes(suspended_calls(request.journal), before.contract, after.contract)
    if before.is_server or after.is_server:
        clauses = clauses.of_names(after.contract)
        before, after = as_server(before), as_server(after)
    changes = [*compare(before.contract, after.contract), *waiting]
    return _Comparison(before=before, after=after, clauses=clauses, changes=tuple(ranked(changes)))


def _unseen(compared: _Comparison) -> tuple[str, ...]:
    """Return a note about guards that cannot be compared because a side is a server."""
    return (_NO_GUARDS,) if compared.before.is_server else ()


def _is_admitted(compared: _Comparison) -> bool:
    """Return whether the version was increased as much as the changes need."""
    step = step_made(compared.before.contract.version, compared.after.contract.version)
    return step is not None and STEPS.index(step) >= STEPS.index(step_of(compared.changes))


def _check_allowed(allowed: Iterable[str]) -> None:
    """Check the values of the option `--allow`.

    Raises:
        ToolgenError: a value has an unknown code, or names a weaker guard by its code.
    """
    for text in allowed:
        code, _, place = text.partition("@")
        if text.startswith(WEAKENED):
            continue
        if code not in BY_CODE:
            raise ToolgenError(
                f"--allow {text!r} does not begin with the code of a change",
                hint="write CODE@TOOL, as the report prints them",
            )
        if BY_CODE[code].is_weakening:
            raise ToolgenError(
                f"--allow {text!r}: a weaker guard is accepted by its place, not by its code",
                hint=f"write --allow {quote(WEAKENED + place)}",
            )


def _verdict_of(
    request: BreakingRequest, clauses: Clauses, baseline: Set[str], is_admitted: bool, change: ContractChange
) -> Verdict:
    allowed = clauses.reason(change)
    if not allowed and set(_names(change)) & set(request.allowed):
        allowed = "--allow"
    if not change.rule.is_weakening:
        if not allowed and {_name(change), _recorded_name(change)} & baseline:
            allowed = "the baseline"
        if not allowed and is_admitted and change.code != "suspended-call":
            allowed = "the version"
    is_refused = not allowed and not change.kinds.isdisjoint(request.fail_on)
    return Verdict(change=change, place=clauses.place(change), allowed=allowed, is_refused=is_refused)


def _names(change: ContractChange) -> tuple[str, ...]:
    """Return the names by which `--allow` can accept a change."""
    if change.rule.is_weakening:
        return (f"{WEAKENED}{change.place}",)
    return f"{change.code}@{change.tool}", _name(change)


def _name(change: ContractChange) -> str:
    return f"{change.code}@{change.place}"


def _recorded_name(change: ContractChange) -> str:
    """Return the name of a change in a baseline; a later change at the same place has another name."""
    return f"{_name(change)}#{sha256(change.message.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _outcome(request: BreakingRequest, compared: _Comparison, verdicts: Sequence[Verdict]) -> Outcome:
    refused = [each for each in verdicts if each.is_refused]
    shown = [each for each in verdicts if each.change.kinds]
    findings = [_finding(each, compared) for each in shown]
    notes = (*_notes(request, verdicts), *compared.clauses.unused(compared.changes), *_unseen(compared))
    summary = _summary(compared, verdicts, len(refused))
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
            records = [json.dumps(_record(each, compared), ensure_ascii=False) for each in verdicts]
            lines = "\n".join(map(visible, records))
            return Outcome(code=code, output=lines, notes=notes, summary=summary)
        case "sarif":
            log = sarif_text([_without_revision(each, compared) for each in findings], _codes())
            return Outcome(code=code, output=log, notes=notes, summary=summary)
        case _:
            assert_never(request.format)


def _finding(verdict: Verdict, compared: _Comparison) -> Finding:
    change, reason = verdict.change, verdict.allowed.rstrip(".")
    sentence, *texts = change.lines()
    message = "\n".join([f"{sentence}{f' Accepted: {reason}.' if reason else ''}", *texts])
    place = verdict.place if verdict.place.file else Place(file=compared.after.name, pointer=change.after)
    earlier = Place(file=compared.before.name, pointer=change.before)
    related = (Related(message=f"before, at {change.before}", place=earlier),) if change.before else ()
    return Finding(
        code=change.code,
        message=message,
        severity="error" if verdict.is_refused else "warning",
        place=place,
        hint=_advice(verdict, compared.clauses),
        related=related,
        is_suppressible=True,
    )


def _advice(verdict: Verdict, clauses: Clauses) -> str:
    """Return the advice for a change; for a weaker guard, also how to accept it."""
    change = verdict.change
    if not change.rule.is_weakening or not verdict.is_refused:
        return change.rule.advice
    clause = "d.Breaks(…) at the tool or by " if change.tool in clauses.tools else ""
    return f"{change.rule.advice}; or accept it by {clause}--allow {quote(WEAKENED + change.place)}"


def _without_revision(finding: Finding, compared: _Comparison) -> Finding:
    """Return a finding whose related places are paths without a revision, which a code host can link."""
    path = compared.before.path or compared.before.name
    related = tuple(replace(each, place=replace(each.place, file=path)) for each in finding.related)
    return replace(finding, related=related)


def _heading(change: ContractChange) -> str:
    if change.rule.is_weakening:
        return "Weakened"
    if change.parties(in_behaviour=False):
        return "Breaks"
    if change.rule.is_undecided:
        return "Undecided"
    if change.breaks:
        return "Changes behaviour"
    return "Texts that models read" if change.texts else "Compatible"


def _item(change: ContractChange) -> list[str]:
    """Return a change as an item of a Markdown list, with the texts that changed as a diff."""
    sentence, *texts = change.lines()
    if not texts:
        return [f"- {sentence}"]
    longest = max(map(len, re.findall("`+", "\n".join(texts))), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"- {sentence}", "", *(f"  {line}" for line in (f"{fence}diff", *texts, fence)), ""]


def _record(verdict: Verdict, compared: _Comparison) -> dict[str, Any]:
    """Return a change as the object of a line of `--format json`."""
    change, place = verdict.change, verdict.place
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
        "refused": verdict.is_refused,
        **({"allowed": verdict.allowed} if verdict.allowed else {}),
        "before": {"in": compared.before.name, "pointer": change.before},
        "after": {"in": compared.after.name, "pointer": change.after, **line},
        **({"witness": change.witness[0]} if change.witness else {}),
        **({"texts": [asdict(each) for each in change.texts]} if change.texts else {}),
        "advice": _advice(verdict, compared.clauses),
    }


def _notes(request: BreakingRequest, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return a note for each `--allow` that matches no change."""
    names = {name for each in verdicts for name in _names(each.change)}
    return tuple(f"--allow {text} matches no change" for text in request.allowed if text not in names)


def _summary(compared: _Comparison, verdicts: Sequence[Verdict], refused: int) -> str:
    if not verdicts:
        return f"no changes since {compared.before.name}"
    weakened = sum(each.change.rule.is_weakening for each in verdicts)
    undecided = sum(each.change.rule.is_undecided for each in verdicts)
    changes = counted(len(verdicts), "change")
    parts = [f"{changes} since {compared.before.name}", f"{refused or 'none'} refused"]
    parts += [f"{weakened} {'weakens' if weakened == 1 else 'weaken'} a guard"] if weakened else []
    parts += [f"{undecided} undecided"] if undecided else []
    guards = " Accept each weaker guard with d.Breaks(…) or --allow." if weakened else ""
    return f"{', '.join(parts)}. {_needed_version(compared)}; {_version_change(compared)}.{guards}"


def _needed_version(compared: _Comparison) -> str:
    need = "It needs" if len(compared.changes) == 1 else "They need"
    return f"{need} a {step_of(compared.changes)} version"


def _version_change(compared: _Comparison) -> str:
    before, after = compared.before.contract.version, compared.after.contract.version
    if after in (before, ""):
        return f"the version is still {after}" if after else "no version is set"
    return f"the version changed from {before} to {after}" if before else f"the version was set to {after}"


def _codes() -> Iterator[Code]:
    return (Code(rule.code, rule.explanation) for rule in BY_CODE.values())


def _baseline(file: Path | None) -> Set[str]:
    """Return the names of the changes that a baseline accepts.

    Raises:
        ToolgenError: it cannot be read.
    """
    if file is None:
        return frozenset()
    try:
        document = json.loads(read_regular(file, MOST_BYTES).decode())
        if document["format"] != _BASELINE:
            raise ValueError(f"it is of format {document['format']}")
        return frozenset(map(str, document["changes"]))
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        hint = "write it again: toolgen diff --against REF --format baseline"
        raise ToolgenError(f"cannot read the baseline {file}: {error}", hint=hint) from error


def _as_baseline(changes: Iterable[ContractChange]) -> Outcome:
    """Return a baseline of breaking and undecided changes, without weaker guards."""
    names = sorted(
        {
            _recorded_name(each)
            for each in changes
            if (each.breaks or each.rule.is_undecided) and not each.rule.is_weakening
        }
    )
    text = json.dumps({"format": _BASELINE, "changes": names}, indent=1)
    return Outcome(code=0, output=text, summary=f"{counted(len(names), 'change')} accepted by the baseline")
