"""`toolgen gen`: generates and writes the code, or shows the changes as findings or as a diff."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from toolgen.codegen.manifest import MANIFEST
from toolgen.codegen.write import Comparison, Edit, WriteReport, compare, preview, write
from toolgen.contract.findings import Code, Finding, Format, Place
from toolgen.contract.record import frozen_record
from toolgen.dsl import Design
from toolgen.dsl.clause import Clause

from .config import Project
from .generation_record import digest_of, generation_digest, is_recorded, stub_files, write_record
from .load import load_design, load_module
from .outcome import Outcome, reported
from .output_lock import read_lock, write_lock
from .problem_codes import (
    OUTPUT_CHANGED,
    OUTPUT_EDITED,
    OUTPUT_KEPT,
    OUTPUT_MISSING,
    OUTPUT_STALE,
    OUTPUT_UNRECORDED,
)
from .sources import imported_sources, require_resolved
from .terminal import counted, has_colours

if TYPE_CHECKING:
    from .output_plan import OutputPlan

_STYLES: Final = {"@": "36", "-": "31", "+": "32"}
"""Terminal style of a line by its first character."""

GENERATE: Final = "run: toolgen gen"
_EDITED: Final = "make the change in the design or in an executor; toolgen gen overwrites this file"
_STALE_STAMP: Final = (
    "the recorded digests of the design are out of date, so commands cannot detect outdated code"
)

_MOST_NAMES: Final = 3
"""Maximum number of new stubs that the summary names; if there are more, it gives only the number."""


@frozen_record
class _Loaded:
    """An imported design, with its module and the modules of the project."""

    design: Design
    module: ModuleType
    sources: frozenset[str]
    """The modules of the project that were imported for it, by path inside the project."""


def generate_output(
    project: Project, format: Format = "text", *, is_forced: bool = False, others: Collection[str] = ()
) -> Outcome:
    """Write the generated code and missing stubs to disk, and record the run for the next one.

    `others` are modules that this process imported for other purposes than the design.

    If the last run had the same design, and no file changed since, nothing is generated unless `is_forced`.
    """
    with write_lock(project):
        loaded = _load(project, others)
        generation, read = _generation(project, loaded), _read_files(project, loaded)
        if not is_forced and is_recorded(project, generation, read):
            return _current(project)
        plan = _plan(project, loaded)
        if isinstance(plan, tuple):
            return _design_outcome(plan, format)
        for tree in plan.others:
            compare(tree.out, tree.texts)  # raise before anything is written
        reports = [
            write(
                plan.python.out,
                plan.python.texts,
                design=project.design,
                sources=plan.python.sources,
                stubs=plan.stubs.new,
                edits=plan.stubs.edits,
            ),
            *(write(tree.out, tree.texts, design=project.design) for tree in plan.others),
        ]
        trees = [*zip(plan.trees, reports, strict=True)]
        notes = [
            f"{tree.out / path}: was edited; overwritten" for tree, report in trees for path in report.edited
        ]
        notes += plan.stubs.notes
        warnings = [*plan.warnings]
        warnings += [
            replace(retained_output(tree.out / path), severity="warning")
            for tree, report in trees
            for path in report.retained
        ]
        if not (notes or warnings):  # notes and warnings appear in each run
            manifests = {tree.folder: report.manifest for tree, report in trees}
            write_record(project, generation, {**_read_files(project, loaded), **read}, manifests)
        return _written(plan, reports, warnings, notes, format)


def _written(
    plan: OutputPlan, reports: list[WriteReport], warnings: list[Finding], notes: list[str], format: Format
) -> Outcome:
    done = [_changes(report) for report in reports]
    done[0] += _new_stubs(plan)
    summary = "; ".join(
        f"{tree.out}: {', '.join(each) or 'up to date'}" for tree, each in zip(plan.trees, done, strict=True)
    )
    outcome = reported(warnings, format, code=0, notes=notes, summary=summary)
    return replace(outcome, is_current=not any(done))


def check_output(project: Project, format: Format = "text") -> Outcome:
    """Report which files differ from the design; the exit code is 1 if there are any."""
    with read_lock(project):
        plan = _plan(project, _load(project))
        if isinstance(plan, tuple):
            return _design_outcome(plan, format)
        compared = [(tree, compare(tree.out, tree.texts)) for tree in plan.trees]
        findings = [finding for tree, each in compared for finding in differences(tree.out, each)]
        findings = findings or [
            _stale_manifest(tree.out, _STALE_STAMP)
            for tree, each in compared
            if not each.manifest.is_of(project.design, tree.sources)
        ]
        if not findings:
            return _current(project)
        is_repaired = any(finding.hint in (GENERATE, _EDITED) for finding in findings)
        repair = GENERATE if is_repaired else "delete the files that are no longer generated"
        return reported(findings, format, code=1, summary=f"the output is not up to date; {repair}")


def diff_output(project: Project, format: Format = "text") -> Outcome:
    """Show what `generate_output` would change, as a diff; the exit code is 1 if there is a change."""
    with read_lock(project):
        plan = _plan(project, _load(project))
        if isinstance(plan, tuple):
            return _design_outcome(plan, format)
        python = plan.python
        changes = preview(python.out, python.texts, stubs=plan.stubs.new, edits=plan.stubs.edits)
        for tree in plan.others:
            changes |= preview(tree.out, tree.texts)
        if not changes:
            return _current(project)
        return Outcome(
            code=1,
            output=unified_diff(changes, colour=has_colours(sys.stdout)),
            summary=f"{counted(len(changes), 'file')} would change; nothing was written",
        )


def _current(project: Project) -> Outcome:
    folders = map(project.display_path, (project.out, *project.languages.values()))
    return Outcome(code=0, summary="; ".join(f"{out}: up to date" for out in folders), is_current=True)


def _load(project: Project, others: Collection[str] = ()) -> _Loaded:
    """Import the design."""
    design = load_design(project)
    sources = imported_sources(project, others)
    require_resolved(project, sources)
    module = load_module(project, project.design, "design")
    return _Loaded(design=design, module=module, sources=sources)


def _generation(project: Project, loaded: _Loaded) -> str:
    """Return the digest of the design and of clauses that can cause warnings; "" if it is unknown."""
    named = {
        name: value
        for name, value in vars(loaded.module).items()
        if isinstance(value, Clause) and name[:1] != "_"
    }
    return generation_digest(project, loaded.design, named)


def _plan(project: Project, loaded: _Loaded) -> OutputPlan | tuple[Finding, ...]:
    """Return the plan, or the findings if the design has errors."""
    from .output_plan import output_plan  # imported only if there is something to do

    return output_plan(project, loaded.design, loaded.module, loaded.sources)


def _read_files(project: Project, loaded: _Loaded) -> dict[str, str]:
    """Return the digests of the author's files that a run reads: modules of the design, and stubs."""
    paths = [*loaded.sources, *stub_files(project)]
    return {path: digest_of(project.directory / path) for path in paths}


def _design_outcome(diagnostics: tuple[Finding, ...], format: Format) -> Outcome:
    errors = sum(not diagnostic.is_warning for diagnostic in diagnostics)
    summary = f"{counted(errors, 'error')}; nothing was generated"
    return reported(diagnostics, format, code=1, summary=summary)


def _changes(report: WriteReport) -> list[str]:
    """Return a short summary of the changes to a tree."""
    done = [f"{len(report.written)} written"] if report.written else []
    return [*done, f"{len(report.deleted)} deleted"] if report.deleted else done


def _new_stubs(plan: OutputPlan) -> list[str]:
    """Return a short summary of the changes to the stubs."""
    done = list[str]()
    files = [str(file) for file in plan.stubs.new]
    new = [file for file in files if Path(file).name != "__init__.py"] or files
    if len(new) > _MOST_NAMES:
        done.append(f"{len(new)} new stubs in {plan.stub_folder}")
    elif new:
        done.append(f"new stub{'s' if len(new) > 1 else ''} {', '.join(new)}")
    return [*done, f"{counted(len(plan.stubs.edits), 'stub')} extended"] if plan.stubs.edits else done


def differences(out: Path, comparison: Comparison) -> list[Finding]:
    """Return a finding for each generated file that differs from the design."""
    groups: tuple[tuple[Code, str, tuple[str, ...]], ...] = (
        (OUTPUT_MISSING, "the file is missing", comparison.missing),
        (OUTPUT_CHANGED, "the file does not match the design", comparison.changed),
        (OUTPUT_EDITED, "the file was edited", comparison.edited),
        (OUTPUT_UNRECORDED, "the file exists, but is not in the manifest", comparison.unrecorded),
        (OUTPUT_STALE, "the file is no longer generated", comparison.stale),
    )
    findings = [
        code.finding(
            message, place=Place(file=str(out / path)), hint=_EDITED if code is OUTPUT_EDITED else GENERATE
        )
        for code, message, paths in groups
        for path in paths
    ]
    findings += (retained_output(out / path) for path in comparison.retained)
    if not findings and not comparison.is_current:
        return [_stale_manifest(out, "the manifest does not match the files")]
    return findings


def _stale_manifest(out: Path, message: str) -> Finding:
    return OUTPUT_CHANGED.finding(
        message,
        place=Place(file=str(out / MANIFEST)),
        hint=GENERATE,
    )


def retained_output(file: Path) -> Finding:
    return OUTPUT_KEPT.finding(
        "the file is no longer generated, but was edited",
        place=Place(file=str(file)),
        hint="delete it if you do not need it",
    )


def unified_diff(changes: Mapping[Path, Edit], *, colour: bool = False) -> str:
    """Return one unified diff of all changes, without a final newline; invalid UTF-8 becomes surrogates."""
    lines = (line for file, edit in changes.items() for line in _lines(file, edit))
    return "\n".join(f"\x1b[{style}m{line}\x1b[0m" if colour and style else line for style, line in lines)


def _lines(file: Path, edit: Edit) -> Iterator[tuple[str, str]]:
    """Yield the style and the text of each line."""
    old, new = ("/dev/null" if data is None else str(file) for data in (edit.old, edit.new))
    lines = difflib.unified_diff(_split(edit.old), _split(edit.new), lineterm="")
    hunks = list(lines)[2:]  # without the file names, which are also shown for empty files
    yield from (("1", f"--- {old}"), ("1", f"+++ {new}"))
    yield from ((_STYLES.get(line[0], ""), line) for line in hunks)


def _split(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "surrogateescape").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines
