"""`toolgen gen`: loads, builds, generates and writes; or shows what that would change."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from toolgen.codegen import generate
from toolgen.codegen.write import Report, compare, preview, write
from toolgen.dsl import build
from toolgen.findings import Finding, Format

from .comparing import GENERATE, differences, kept
from .config import Project
from .load import load_design, load_module
from .lock import read_lock, write_lock
from .outcome import Outcome, reported
from .patch import unified_diff
from .stubs import StubPlan, plan_stubs
from .terminal import has_colours
from .unlisted import unlisted

_MOST_NAMES: Final = 3
"""New stubs that the summary names; of more it only gives the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OutputPlan:
    """The files of a design; paths are relative to the working directory."""

    out: Path
    texts: dict[str, str]
    stub_folder: Path
    stubs: StubPlan
    warnings: tuple[Finding, ...]
    """What the design is not stopped by."""


def generate_output(project: Project, format: Format = "text") -> Outcome:
    """Write the generated code and missing stubs to disk."""
    with write_lock(project):
        plan = _plan(project, format)
        if isinstance(plan, Outcome):
            return plan
        report = write(
            plan.out, plan.texts, design=project.design, stubs=plan.stubs.new, edits=plan.stubs.edits
        )
        notes = [f"{plan.out / path}: was edited; written again" for path in report.edited]
        notes += plan.stubs.notes
        left = [replace(kept(plan.out / path), severity="warning") for path in report.kept]
        done = _summary(plan, report)
        outcome = reported(
            [*plan.warnings, *left],
            format,
            code=0,
            notes=notes,
            summary=f"{plan.out}: {', '.join(done) or 'up to date'}",
        )
        return replace(outcome, is_current=not done)


def check_output(project: Project, format: Format = "text") -> Outcome:
    """Report which files differ from the design; the exit code is 1 if there are any."""
    with read_lock(project):
        plan = _plan(project, format)
        if isinstance(plan, Outcome):
            return plan
        findings = differences(plan.out, compare(plan.out, plan.texts))
        if not findings:
            return _current(plan)
        is_repaired = any(finding.hint == GENERATE for finding in findings)
        repair = GENERATE if is_repaired else "delete what was kept"
        return reported(findings, format, code=1, summary=f"to bring it up to date, {repair}")


def diff_output(project: Project, format: Format = "text") -> Outcome:
    """Show what `generate_output` would change, as a diff; the exit code is 1 if there is a change."""
    with read_lock(project):
        plan = _plan(project, format)
        if isinstance(plan, Outcome):
            return plan
        changes = preview(plan.out, plan.texts, stubs=plan.stubs.new, edits=plan.stubs.edits)
        if not changes:
            return _current(plan)
        return Outcome(
            code=1,
            output=unified_diff(changes, colour=has_colours(sys.stdout)),
            summary=f"{_count(len(changes), 'file')} would change; nothing was written",
        )


def _current(plan: _OutputPlan) -> Outcome:
    return Outcome(code=0, summary=f"{plan.out}: up to date", is_current=True)


def _plan(project: Project, format: Format) -> _OutputPlan | Outcome:
    """Return the plan, or the findings of the design."""
    design = load_design(project)
    evaluation = build(design)
    if evaluation.design is None:
        return _design_outcome(evaluation.diagnostics, format)
    stub_folder = project.display_path(project.stubs)
    return _OutputPlan(
        out=project.display_path(project.out),
        texts=generate(evaluation.design, module=project.design, catalog_format=project.catalog_format),
        stub_folder=stub_folder,
        stubs=plan_stubs(project, evaluation.design, stub_folder),
        warnings=(
            *evaluation.diagnostics,
            *unlisted(load_module(project, project.design, "design"), design),
        ),
    )


def _design_outcome(diagnostics: tuple[Finding, ...], format: Format) -> Outcome:
    errors = sum(not diagnostic.is_warning for diagnostic in diagnostics)
    summary = f"{_count(errors, 'error')}; nothing was generated"
    return reported(diagnostics, format, code=1, summary=summary)


def _summary(plan: _OutputPlan, report: Report) -> list[str]:
    """Return a short summary of what a run did."""
    done = [f"{len(report.written)} written"] if report.written else []
    done += [f"{len(report.deleted)} deleted"] if report.deleted else []
    new = [str(file) for file in plan.stubs.new if file.name != "__init__.py"]
    if len(new) > _MOST_NAMES:
        done.append(f"{len(new)} new stubs in {plan.stub_folder}")
    elif new:
        done.append(f"new stub{'s' if len(new) > 1 else ''} {', '.join(new)}")
    done += [f"{_count(len(plan.stubs.edits), 'stub')} extended"] if plan.stubs.edits else []
    return done


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
