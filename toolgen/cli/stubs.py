"""The author's stubs: which are new, what they gain, and `toolgen stubs`, which shows how they stand."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path, PurePosixPath
from typing import Final, get_args

from toolgen.codegen import stub
from toolgen.codegen.layout import toolset_path
from toolgen.codegen.stubs.left import find_left
from toolgen.codegen.stubs.stubs import Finding, State, Stub, read_stub, stub_path
from toolgen.codegen.write import Edit
from toolgen.codegen.write.places import read_file
from toolgen.contract.errors import ToolgenError
from toolgen.dsl import build
from toolgen.expr import Format
from toolgen.expr.tree import Design, Toolset

from .config import Project
from .load import load_design
from .outcome import Outcome, wrong_design
from .records import Record, render_records

_OPEN: Final = frozenset[State](["missing", "unimplemented"])
_ABSENT: Final = Finding(line=1, state="missing", text="is not there; run: toolgen gen")


@dataclass(frozen=True, slots=True, kw_only=True)
class StubPlan:
    """What a run does to the stubs, and what it then has to say of them."""

    new: Mapping[Path, str]
    """Texts of the stubs and of their packages' `__init__.py` that are missing."""
    edits: Mapping[Path, Edit]
    notes: tuple[str, ...]


def plan_stubs(project: Project, design: Design, folder: Path) -> StubPlan:
    """Return the plan; `folder` is that of the stubs as people see it.

    Raises:
        ToolgenError: a stub cannot be read.
    """
    new: dict[Path, str] = {}
    edits: dict[Path, Edit] = {}
    notes: list[str] = []
    for toolset in toolsets(design):
        file = folder / stub_path(toolset)
        new |= {package / "__init__.py": "" for package in _packages(project, folder, file)}
        if not os.path.lexists(file):
            new[file] = stub(design, toolset, project.package)
            continue
        found = _read(file, toolset, project)
        if found.insertions:
            edits[file] = Edit(old=found.data, new=found.followed)
        notes += _notes(file, found, toolset, project)
    notes += [f"{file}:{finding.line}: {finding.text}" for file, finding in _left(project, design, folder)]
    return StubPlan(new=new, edits=edits, notes=tuple(notes))


def show_stubs(project: Project, *, check: bool, format: Format = "text") -> Outcome:
    """Show how the methods of all tools stand; with `check` only what is open, and code 1 if anything is.

    For programs there is a record of each that is not as the design has it, or only of what is open.
    """
    evaluation = build(load_design(project))
    if evaluation.design is None:
        return wrong_design(evaluation.diagnostics, format, "the design has errors")
    folder = project.shown(project.stubs)
    lines: list[str] = []
    found: list[tuple[Path, Finding]] = []
    total: Counter[str] = Counter()
    for toolset in toolsets(evaluation.design):
        file = folder / stub_path(toolset)
        findings = _read(file, toolset, project).findings if os.path.lexists(file) else (_ABSENT,)
        counts = Counter({"bound": sum(tool.binding is not None for tool in toolset.tools)})
        counts.update(finding.state for finding in findings)
        total += counts
        lines += [f"{toolset.service}.{toolset.name}: {_counts(counts)}"]
        lines += [f"{file}:{finding.line}: {finding.text}" for finding in findings]
        found += [(file, finding) for finding in findings]
    left = list(_left(project, evaluation.design, folder))
    lines += [f"{file}:{finding.line}: {finding.text}" for file, finding in left]
    total.update(finding.state for _, finding in left)
    found += left
    is_open = [(file, finding) for file, finding in found if finding.state in _OPEN]
    code = 1 if check and is_open else 0
    summary = f"{folder}: {_counts(total)}"
    if format != "text":
        records = starmap(_record, is_open if check else found)
        return Outcome(code=code, output=render_records(filter(None, records), format), summary=summary)
    if check:
        notes = tuple(f"{file}:{finding.line}: {finding.text}" for file, finding in is_open)
        return Outcome(code=code, notes=notes, summary=summary)
    return Outcome(code=code, output="\n".join(lines), summary=summary)


def _record(file: Path, finding: Finding) -> Record | None:
    """Return the record of what is not as the design has it."""
    if finding.state == "implemented":
        return None
    return Record(
        code=f"stub-{finding.state}",
        message=finding.text,
        severity="error" if finding.state in _OPEN else "warning",
        file=str(file),
        line=finding.line,
        column=1,
        end_line=finding.line,
        end_column=1,
    )


def _left(project: Project, design: Design, folder: Path) -> Iterator[tuple[Path, Finding]]:
    """Yield what is left of toolsets that the design does not have, in the files beside the stubs."""
    there = list(toolsets(design))
    known = {folder / stub_path(toolset) for toolset in there}
    paths = [toolset_path(toolset, project.package) for toolset in there]
    for file in sorted(folder.glob("*/*.py")):
        if file not in known and file.is_file():
            for finding in find_left(_data(file), paths, project.package):
                yield file, finding


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in ("bound", *get_args(State)) if counts[word])


def toolsets(design: Design) -> Iterator[Toolset]:
    """Yield the toolsets that somebody executes here: not of native tools alone, not served by an agent."""
    for service in design.services:
        yield from (toolset for toolset in service.toolsets if toolset.tools and not toolset.exporter)


def _packages(project: Project, folder: Path, file: Path) -> Iterator[Path]:
    """Yield the packages without an `__init__.py`: the stubs' own, and those that are made on the way."""
    parents = [project.shown(parent) for parent in PurePosixPath(project.stubs).parents[:-1]]
    for package in (folder, file.parent):
        if not os.path.lexists(package / "__init__.py"):
            yield package
    yield from (package for package in parents if not package.exists())


def _read(file: Path, toolset: Toolset, project: Project) -> Stub:
    return read_stub(_data(file), toolset, project.package)


def _data(file: Path) -> bytes:
    try:
        return read_file(file)
    except OSError as error:
        raise ToolgenError(f"cannot read {file}: {error.strerror}", hint="make it a readable file") from error


def _notes(file: Path, before: Stub, toolset: Toolset, project: Project) -> Iterator[str]:
    """Yield what was added, what could not be, and what the author may want to change."""
    added = before.added_lines
    after = read_stub(before.followed, toolset, project.package) if added else before
    for finding in after.findings:
        if finding.line in added:
            yield f"{file}:{finding.line}: added: {finding.text}"
        elif finding.state in ("missing", "changed", "orphaned"):
            yield f"{file}:{finding.line}: {finding.text}"
    for statement in before.lacks:
        yield f"{file}:1: what was added needs an import: {statement}"
