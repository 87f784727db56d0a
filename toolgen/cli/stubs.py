"""The author's stubs: which are new, what they gain, and `toolgen stubs`, which shows how they stand."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, get_args

from toolgen.cli.config import Project
from toolgen.cli.load import load_design
from toolgen.cli.outcome import Outcome
from toolgen.cli.terminal import has_colours
from toolgen.codegen import stub
from toolgen.codegen.stubs import Finding, State, Stub, read_stub, stub_path
from toolgen.codegen.write import Edit
from toolgen.codegen.write.places import read_file
from toolgen.contract.errors import ToolgenError
from toolgen.dsl import build
from toolgen.expr import render
from toolgen.expr.tree import Design, Toolset

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
    return StubPlan(new=new, edits=edits, notes=tuple(notes))


def show_stubs(project: Project, *, check: bool) -> Outcome:
    """Show how the methods of all tools stand; with `check` only what is open, and code 1 if anything is."""
    evaluation = build(load_design(project))
    if evaluation.design is None:
        text = render(evaluation.diagnostics, "text", os.getcwd(), has_colours(sys.stderr))
        return Outcome(code=1, notes=(text,), summary="the design has errors")
    folder = project.shown(project.stubs)
    lines: list[str] = []
    is_open: list[str] = []
    total: Counter[str] = Counter()
    for toolset in toolsets(evaluation.design):
        file = folder / stub_path(toolset)
        findings = _read(file, toolset, project).findings if os.path.lexists(file) else (_ABSENT,)
        counts = Counter({"bound": sum(tool.binding is not None for tool in toolset.tools)})
        counts.update(finding.state for finding in findings)
        total += counts
        lines += [f"{toolset.service}.{toolset.name}: {_counts(counts)}"]
        lines += [f"{file}:{finding.line}: {finding.text}" for finding in findings]
        is_open += [f"{file}:{one.line}: {one.text}" for one in findings if one.state in _OPEN]
    summary = f"{folder}: {_counts(total)}"
    if check:
        return Outcome(code=1 if is_open else 0, notes=tuple(is_open), summary=summary)
    return Outcome(code=0, output="\n".join(lines), summary=summary)


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
    try:
        return read_stub(read_file(file), toolset, project.package)
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
