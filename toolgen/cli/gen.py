"""`toolgen gen`: loads, builds, generates and writes; or shows what would change, as findings or a diff."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType
from typing import Final, TypeAlias

from toolgen.codegen import Generation
from toolgen.codegen.languages import generate_language
from toolgen.codegen.manifest import MANIFEST, Manifest
from toolgen.codegen.sources import SourceDigests, stamp
from toolgen.codegen.write import (
    Change,
    Comparison,
    KeptTexts,
    Report,
    SpooledTexts,
    Texts,
    compare,
    preview,
    write,
)
from toolgen.contract.record import frozen_record
from toolgen.dsl import Agent, Completion, Design, Method, Service, Tool, Toolset, build
from toolgen.dsl.datatypes import DataType
from toolgen.dsl.evaluation.clause_lookup import walk
from toolgen.dsl.evaluation.toolset_digests import WrittenToolsets
from toolgen.dsl.structure import Attributes
from toolgen.expr.tree import Design as CheckedDesign
from toolgen.findings import Code, Finding, Format, Place

from .changed_toolsets import changed_toolsets
from .config import Project
from .garbage import OF_GENERATION, rare_collections
from .generation_inputs import Inputs, recorded_inputs
from .last_generation import Memory
from .load import load_design, load_module
from .outcome import Outcome, reported
from .output_lock import read_lock, write_lock
from .problem_codes import (
    CLAUSE_UNLISTED,
    OUTPUT_CHANGED,
    OUTPUT_EDITED,
    OUTPUT_KEPT,
    OUTPUT_MISSING,
    OUTPUT_STALE,
    OUTPUT_UNRECORDED,
)
from .sources import collected_sources, newer_sources, recorded_sources, require_resolved, unreported_reads
from .stubs import StubPlan, plan_stubs
from .terminal import has_colours, show_progress

_Listed: TypeAlias = Service | Agent | Completion | Method | Toolset | Tool
_OWNERS: Final[Mapping[type[_Listed], str]] = {
    Service: "Design",
    Agent: "Service",
    Completion: "Service",
    Method: "Service",
    Toolset: "Service, Use or Export",
    Tool: "Toolset",
}
"""What is generated for itself, and the clause that lists it."""
_LEAVES: Final = (DataType, Attributes)
"""Clauses in which none of these stands."""
_STYLES: Final = {"@": "36", "-": "31", "+": "32"}
"""Terminal style of a line by its first character."""

GENERATE: Final = "run: toolgen gen"
_EDITED: Final = "make the change in the design or an executor: toolgen gen writes the file without it"

_MANY_TOOLS: Final = 150
"""Tools whose code takes more than a second to make."""
_MOST_NAMES: Final = 3
"""New stubs that the summary names; of more it only gives the number."""


@frozen_record
class _Tree:
    """A generated tree of one language; its folder is relative to the working directory."""

    out: Path
    texts: Texts


@frozen_record
class _OutputPlan:
    """The files of a design; paths are relative to the working directory."""

    python: _Tree
    sources: Mapping[str, SourceDigests]
    """Those of the design, for the manifest."""
    others: tuple[_Tree, ...]
    """Trees of other languages."""
    stub_folder: Path
    stubs: StubPlan
    warnings: tuple[Finding, ...]
    """What the design is not stopped by."""
    memory: Memory
    inputs: Inputs | None = None
    """What was read, where it is recorded."""

    @property
    def trees(self) -> tuple[_Tree, ...]:
        return (self.python, *self.others)


@rare_collections(OF_GENERATION)
def generate_output(project: Project, format: Format = "text", *, is_last: bool = False) -> Outcome:
    """Write the generated code and missing stubs to disk, and record the run for the next one.

    Where it is the last thing that the process does, the design may be gone afterwards.
    """
    with write_lock(project):
        plan = _recorded_plan(project, format, is_last=is_last)
        if isinstance(plan, Outcome):
            return plan
        for tree in plan.others:
            compare(tree.out, tree.texts)  # before anything is written, whether it can be
        python, stubs = plan.python, plan.stubs
        reports = {
            python.out: write(
                python.out,
                python.texts,
                design=project.design,
                sources=plan.sources,
                stubs=stubs.new,
                edits=stubs.edits,
            )
        }
        for tree in plan.others:
            reports[tree.out] = write(tree.out, tree.texts, design=project.design)
        notes = [
            f"{out / path}: was edited; written again"
            for out, report in reports.items()
            for path in report.edited
        ]
        left = [
            replace(kept_output(out / path), severity="warning")
            for out, report in reports.items()
            for path in report.kept
        ]
        done = {out: _changes(report) for out, report in reports.items()}
        done[python.out] += _new_stubs(plan)
        manifests = (report.manifest for report in reports.values())
        is_recorded = _record(plan, manifests, is_clean=not (notes or left or stubs.notes))
        outcome = reported(
            [*plan.warnings, *left],
            format,
            code=0,
            notes=[*notes, *stubs.notes],
            summary="; ".join(f"{out}: {', '.join(each) or 'up to date'}" for out, each in done.items()),
        )
        return replace(outcome, is_current=not any(done.values()), is_recorded=is_recorded)


@rare_collections(OF_GENERATION)
def check_output(project: Project, format: Format = "text", *, is_last: bool = False) -> Outcome:
    """Report which files differ from the design; the exit code is 1 if there are any.

    Where it is the last thing that the process does, the design may be gone afterwards.
    """
    with read_lock(project):
        plan = _recorded_plan(project, format, is_last=is_last)
        if isinstance(plan, Outcome):
            return plan
        compared = [(tree.out, compare(tree.out, tree.texts)) for tree in plan.trees]
        findings = [finding for each in compared for finding in differences(*each)]
        if not findings and newer_sources(project):
            findings = [_stale_stamp(plan.python.out)]
        if not findings:
            manifests = (each.manifest for _, each in compared)
            is_recorded = _record(plan, manifests, is_clean=plan.stubs.is_empty)
            return replace(_current(plan), is_recorded=is_recorded)
        is_repaired = any(finding.hint in (GENERATE, _EDITED) for finding in findings)
        repair = GENERATE if is_repaired else "delete what was kept"
        return reported(findings, format, code=1, summary=f"to bring it up to date, {repair}")


@rare_collections(OF_GENERATION)
def diff_output(project: Project, format: Format = "text") -> Outcome:
    """Show what `generate_output` would change, as a diff; the exit code is 1 if there is a change."""
    with read_lock(project):
        plan = _plan(project, format)
        if isinstance(plan, Outcome):
            return plan
        python = plan.python
        changes = preview(python.out, python.texts, stubs=plan.stubs.new, edits=plan.stubs.edits)
        changes += [change for tree in plan.others for change in preview(tree.out, tree.texts)]
        if not changes:
            return _current(plan)
        return Outcome(
            code=1,
            output=unified_diff(changes, colour=has_colours(sys.stdout)),
            summary=f"{_count(len(changes), 'file')} would change; nothing was written",
        )


def _current(plan: _OutputPlan) -> Outcome:
    folders = "; ".join(f"{tree.out}: up to date" for tree in plan.trees)
    return Outcome(code=0, summary=folders, is_current=True)


def _record(plan: _OutputPlan, manifests: Iterable[Manifest], *, is_clean: bool) -> bool:
    """Record what a run read, if the next one of it has nothing to say; return whether it is recorded."""
    if plan.inputs and is_clean and not plan.warnings:
        return plan.inputs.record(plan.memory, manifests)
    return False


def _recorded_plan(project: Project, format: Format, *, is_last: bool) -> _OutputPlan | Outcome:
    """Return the plan with what was read for it, or the findings of the design."""
    with suppress(FileNotFoundError):  # before anything is recorded, for the design depends on none of it
        gettempdir()
    with recorded_inputs(project) as inputs:
        plan = _plan(project, format, inputs, is_last=is_last)
    return plan if isinstance(plan, Outcome) else replace(plan, inputs=inputs)


def _plan(
    project: Project, format: Format, inputs: Inputs | None = None, *, is_last: bool = False
) -> _OutputPlan | Outcome:
    """Return the plan, or the findings of the design."""
    recorded = recorded_sources(project)
    with collected_sources(project) as sources:
        design = load_design(project)
        require_resolved(project, sources)
        # now, for syntax trees take more memory than anything else, and are gone before the rest is there
        if inputs:
            inputs.look()
        stamped = stamp(project.directory, sources, recorded)
        written = WrittenToolsets(design)
        digests = written.digests() if inputs else {}
        part = changed_toolsets(project, written, digests)
        evaluation = part.evaluation if part else build(design)
    checked = evaluation.design
    if checked is None:
        return _design_outcome(evaluation.diagnostics, format)
    count = sum(len(toolset.tools) for of in checked.services for toolset in of.toolsets)
    if count >= _MANY_TOOLS:
        show_progress(f"generating the code of {count:,} tools…")
    stub_folder = project.display_path(project.stubs)
    unused = tuple(unlisted(load_module(project, project.design, "design"), design))
    del design, written
    if inputs and is_last:
        inputs.release_design()
    texts, memory = (part.texts, part.memory) if part else _generated(project, checked)
    return _OutputPlan(
        python=_Tree(out=project.display_path(project.out), texts=texts),
        sources=stamped | stamp(project.directory, sources - stamped.keys(), recorded),
        others=tuple(
            _Tree(
                out=project.display_path(folder),
                texts=generate_language(language, checked, module=project.design),
            )
            for language, folder in project.languages.items()
        ),
        stub_folder=stub_folder,
        stubs=plan_stubs(project, checked, stub_folder, has_others=bool(part)),
        warnings=(*evaluation.diagnostics, *unused),
        memory=Memory(toolsets=digests, texts=memory),
    )


def _generated(project: Project, design: CheckedDesign) -> tuple[Texts, Iterable[str]]:
    """Return the texts of a design, and what the next run needs."""
    with unreported_reads():
        keep, format_ = KeptTexts().keep, project.catalog_format
        made = Generation(design, module=project.design, catalog_format=format_, keep=keep)
        texts = SpooledTexts(made.files())
    return texts, made.memory


def _design_outcome(diagnostics: tuple[Finding, ...], format: Format) -> Outcome:
    errors = sum(not diagnostic.is_warning for diagnostic in diagnostics)
    summary = f"{_count(errors, 'error')}; nothing was generated"
    return reported(diagnostics, format, code=1, summary=summary)


def _changes(report: Report) -> list[str]:
    """Return a short summary of what a run did to a tree."""
    done = [f"{len(report.written)} written"] if report.written else []
    return [*done, f"{len(report.deleted)} deleted"] if report.deleted else done


def _new_stubs(plan: _OutputPlan) -> list[str]:
    """Return a short summary of what a run did to the stubs."""
    done = list[str]()
    new = [str(file) for file in plan.stubs.new if file.name != "__init__.py"]
    if len(new) > _MOST_NAMES:
        done.append(f"{len(new)} new stubs in {plan.stub_folder}")
    elif new:
        done.append(f"new stub{'s' if len(new) > 1 else ''} {', '.join(new)}")
    return [*done, f"{_count(len(plan.stubs.edits), 'stub')} extended"] if plan.stubs.edits else done


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def differences(out: Path, comparison: Comparison) -> list[Finding]:
    """Return a finding for each generated file that differs from the design."""
    groups: tuple[tuple[Code, str, tuple[str, ...]], ...] = (
        (OUTPUT_MISSING, "the file is missing", comparison.missing),
        (OUTPUT_CHANGED, "the file is not what the design says now", comparison.changed),
        (OUTPUT_EDITED, "the file was edited", comparison.edited),
        (OUTPUT_UNRECORDED, "the file is there, but not in the manifest", comparison.unrecorded),
        (OUTPUT_STALE, "the file is no longer generated", comparison.stale),
    )
    findings = [
        code.finding(
            message, place=Place(file=str(out / path)), hint=_EDITED if code is OUTPUT_EDITED else GENERATE
        )
        for code, message, paths in groups
        for path in paths
    ]
    return [*findings, *(kept_output(out / path) for path in comparison.kept)]


def _stale_stamp(out: Path) -> Finding:
    return OUTPUT_CHANGED.finding(
        "the stamp is not that of the design, so that commands take the code for older",
        place=Place(file=str(out / MANIFEST)),
        hint=GENERATE,
    )


def kept_output(file: Path) -> Finding:
    return OUTPUT_KEPT.finding(
        "the file is no longer generated, but was edited",
        place=Place(file=str(file)),
        hint="delete it if you do not need it",
    )


def unified_diff(changes: Iterable[Change], *, colour: bool = False) -> str:
    """Return one unified diff of all changes, without a final newline; surrogates stand for odd bytes."""
    lines = (line for change in changes for line in _lines(change))
    return "\n".join(f"\x1b[{style}m{line}\x1b[0m" if colour and style else line for style, line in lines)


def _lines(change: Change) -> Iterator[tuple[str, str]]:
    """Yield each line with the colours of its kind."""
    old, new = ("/dev/null" if data is None else str(change.file) for data in (change.old, change.new))
    lines = difflib.unified_diff(_split(change.old), _split(change.new), lineterm="")
    hunks = list(lines)[2:]  # without the names, which an empty file that comes or goes has too
    yield from (("1", f"--- {old}"), ("1", f"+++ {new}"))
    yield from ((_STYLES.get(line[0], ""), line) for line in hunks)


def _split(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "surrogateescape").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def unlisted(module: ModuleType, design: Design) -> Iterator[Finding]:
    """Yield a warning for each clause that has a name in the module and does not stand in the design.

    One whose name begins with an underscore is not meant to, nor one of another file, nor one within another
    that is not listed.
    """
    listed = {id(clause) for clause in walk(design, set(), _LEAVES)}
    named = {
        id(value): (name, value)
        for name, value in vars(module).items()
        if isinstance(value, _Listed) and not name.startswith("_") and id(value) not in listed
    }
    within = {id(inner) for _, value in named.values() for inner in walk(value, set()) if inner is not value}
    for key, (name, value) in named.items():
        if key in within or value.source.file != module.__file__:
            continue
        kind = type(value).__name__
        yield CLAUSE_UNLISTED.finding(
            f"{kind.lower()} {value.name!r} does not stand in the design; nothing is generated for it",
            place=value.source.located(),
            hint=f"list {name} in its {_OWNERS[type(value)]}, or remove it",
        )
