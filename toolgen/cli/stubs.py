"""The author's stubs: new files, added methods, and `toolgen stubs`, which shows their state."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, get_args

from toolgen.codegen import stub
from toolgen.codegen.layout import toolset_path
from toolgen.codegen.stubs.stubs import State, Status, Stub, find_orphans, read_stub, stub_path
from toolgen.codegen.write import Edit
from toolgen.codegen.write.safe_paths import read_file
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Code, Finding, Format, Place
from toolgen.contract.record import frozen_record
from toolgen.dsl import build
from toolgen.dsl.expr.tree import Design, Toolset

from .config import Project
from .load import load_design
from .outcome import Outcome, reported
from .problem_codes import STUB_CHANGED, STUB_MISSING, STUB_ORPHANED, STUB_UNIMPLEMENTED

_CODES: Final[Mapping[State, Code]] = {
    "missing": STUB_MISSING,
    "unimplemented": STUB_UNIMPLEMENTED,
    "changed": STUB_CHANGED,
    "orphaned": STUB_ORPHANED,
}
"""Codes of the states that differ from the design."""
_OPEN: Final = frozenset[State](["missing", "unimplemented"])
_ABSENT: Final = Status(line=1, state="missing", text="the file is missing; run: toolgen gen")


@frozen_record
class StubPlan:
    """The changes of a run to the stubs, and its notes about them."""

    new: Mapping[Path, str]
    """Texts of missing stubs, and of missing `__init__.py` files of their packages."""
    edits: Mapping[Path, Edit]
    notes: tuple[str, ...]


def plan_stubs(project: Project, design: Design, folder: Path) -> StubPlan:
    """Return the plan; `folder` is the path of the stubs in messages.

    Raises:
        ToolgenError: a stub cannot be read.
    """
    new: dict[Path, str] = {}
    edits: dict[Path, Edit] = {}
    notes: list[str] = []
    for toolset in toolsets(design):
        file = folder / stub_path(toolset.service, toolset.name)
        is_there = os.path.lexists(file)
        if not is_there and not design.needs_executor(toolset):
            continue
        new |= {package / "__init__.py": "" for package in _packages(project, folder, file)}
        if not is_there:
            new[file] = stub(design, toolset, project.package)
            continue
        current = _read(file, toolset, project)
        if current.insertions:
            edits[file] = Edit(old=current.data, new=current.updated)
        notes += _notes(file, current, toolset, project)
    leftovers = _leftovers(project, design, folder)
    notes += [f"{file}:{status.line}: {status.text}" for file, status in leftovers]
    _require_inside(project, [*new, *edits])
    return StubPlan(new=new, edits=edits, notes=tuple(notes))


def _require_inside(project: Project, files: Iterable[Path]) -> None:
    """Check that no link leads a file to be written out of the project.

    Raises:
        ToolgenError: a link leads out of the project.
    """
    root = os.path.realpath(project.directory)
    for file in files:
        if not Path(os.path.realpath(file)).is_relative_to(root):
            message = f"{file} is outside of the project: a link leads to {os.path.realpath(file)}"
            raise ToolgenError(message, hint="keep the executors in the project; nothing was written")


def show_stubs(project: Project, *, check: bool, format: Format = "text") -> Outcome:
    """Show the state of the methods of all tools; `check` shows only problems, with code 1 if there are any.

    For programs, there is a finding for each method that differs; with `check`, only problems.
    """
    evaluation = build(load_design(project))
    if evaluation.design is None:
        return reported(evaluation.diagnostics, format, code=1, summary="the design has errors")
    folder = project.display_path(project.stubs)
    lines: list[str] = []
    placed: list[tuple[Path, Status]] = []
    total: Counter[str] = Counter()
    for toolset in toolsets(evaluation.design):
        file = folder / stub_path(toolset.service, toolset.name)
        absent = (_ABSENT,) if evaluation.design.needs_executor(toolset) else ()
        statuses = _read(file, toolset, project).statuses if os.path.lexists(file) else absent
        counts = Counter({"bound": sum(tool.binding is not None for tool in toolset.tools)})
        counts.update(status.state for status in statuses)
        total += counts
        lines += [f"{toolset.service}.{toolset.name}: {_counts(counts)}"]
        lines += [f"{file}:{status.line}: {status.text}" for status in statuses]
        placed += [(file, status) for status in statuses]
    leftovers = list(_leftovers(project, evaluation.design, folder))
    lines += [f"{file}:{status.line}: {status.text}" for file, status in leftovers]
    total.update(status.state for _, status in leftovers)
    placed += leftovers
    is_open = [(file, status) for file, status in placed if status.state in _OPEN]
    code = 1 if check and is_open else 0
    summary = f"{folder}: {_counts(total)}"
    if check or format != "text":
        return reported(_findings(is_open if check else placed), format, code=code, summary=summary)
    return Outcome(code=code, output="\n".join(lines), summary=summary)


def _findings(statuses: Iterable[tuple[Path, Status]]) -> Iterator[Finding]:
    """Yield a finding for each difference between stubs and design."""
    for file, status in statuses:
        if code := _CODES.get(status.state):
            place = Place(file=str(file), line=status.line, column=1, end_line=status.line, end_column=1)
            yield code.finding(status.text, place=place)


def _leftovers(project: Project, design: Design, folder: Path) -> Iterator[tuple[Path, Status]]:
    """Yield executors of toolsets that the design no longer has, in the stub files."""
    there = list(toolsets(design))
    files = {folder / stub_path(toolset.service, toolset.name) for toolset in there}
    paths = [toolset_path(toolset, project.package) for toolset in there]
    for file in sorted(folder.glob("*/*.py")):
        if file not in files and file.is_file():
            for status in find_orphans(_data(file), paths, project.package):
                yield file, status


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in ("bound", *get_args(State)) if counts[word])


def toolsets(design: Design) -> Iterator[Toolset]:
    """Yield the toolsets with tools of their own that neither an agent nor a server executes."""
    for service in design.services:
        for toolset in service.toolsets:
            if toolset.tools and not toolset.exporter and not toolset.lock:
                yield toolset


def _packages(project: Project, folder: Path, file: Path) -> Iterator[Path]:
    """Yield the packages without an `__init__.py`: of the stubs, and parents that do not exist yet."""
    parents = [project.display_path(parent) for parent in PurePosixPath(project.stubs).parents[:-1]]
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
    """Yield notes about methods that were added, could not be added, or might need a change."""
    added = before.added_lines
    after = read_stub(before.updated, toolset, project.package) if added else before
    for status in after.statuses:
        if status.line in added:
            yield f"{file}:{status.line}: added: {status.text}"
        elif status.state in ("missing", "changed", "orphaned"):
            yield f"{file}:{status.line}: {status.text}"
    for statement in before.lacks:
        yield f"{file}:1: the added code needs an import: {statement}"
