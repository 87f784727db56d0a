"""`toolgen gen`: load, build, generate, write, and say in one line what happened."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from toolgen.cli.config import Project
from toolgen.cli.load import load_design
from toolgen.codegen import generate, stub
from toolgen.codegen.stubs import stub_path, unimplemented
from toolgen.codegen.write import Comparison, Report, compare, write
from toolgen.dsl import build
from toolgen.expr.tree import Design, Toolset


def generate_output(project: Project) -> int:
    """Bring the generated code and missing stubs to disk; return the exit code."""
    design = _checked_design(project)
    if design is None:
        return 1
    out, stubs = _shown(project, project.out), _shown(project, project.stubs)
    new = dict(_new_stubs(project, design, stubs))
    report = write(out, generate(design, module=project.design), design=project.design, beside=new)
    for path in report.edited:
        _say(f"{out / path}: was edited; written again")
    for path in report.kept:
        _say(f"{out / path}: is no longer generated, but was edited; delete it if you do not need it")
    for toolset in _toolsets(design):
        file = stubs / stub_path(toolset)
        for line in unimplemented(file.read_bytes(), str(file), toolset):
            _say(line)
    _say(_summary(out, report, list(new)))
    return 0


def check_output(project: Project) -> int:
    """Say what `toolgen gen` would change; return 1 if that is anything."""
    design = _checked_design(project)
    if design is None:
        return 1
    out = _shown(project, project.out)
    lines = _differences(out, compare(out, generate(design, module=project.design)))
    for line in lines:
        _say(line)
    _say("to bring it up to date, run: toolgen gen" if lines else f"{out}: up to date")
    return 1 if lines else 0


def _checked_design(project: Project) -> Design | None:
    """Return the checked design, or None after its diagnostics were printed."""
    evaluation = build(load_design(project))
    for diagnostic in evaluation.diagnostics:
        _say(diagnostic.render(os.getcwd()))
    if evaluation.diagnostics:
        count = len(evaluation.diagnostics)
        _say(f"{count} error{'s' if count > 1 else ''}; nothing was generated")
    return evaluation.design


def _new_stubs(project: Project, design: Design, stubs: Path) -> Iterator[tuple[Path, str]]:
    """Yield the stubs and their packages' `__init__.py` that are missing; what is there is the author's."""
    for toolset in _toolsets(design):
        file = stubs / stub_path(toolset)
        for package in (stubs, file.parent):
            if not os.path.lexists(package / "__init__.py"):
                yield package / "__init__.py", ""
        if not os.path.lexists(file):
            yield file, stub(design, toolset, project.package)


def _differences(out: Path, comparison: Comparison) -> list[str]:
    reasons = {
        "is missing": comparison.missing,
        "is not what the design says now": comparison.changed,
        "was edited": comparison.edited,
        "is there, but not in the manifest": comparison.unrecorded,
        "is no longer generated": comparison.stale,
        "is no longer generated, but was edited; delete it if you do not need it": comparison.kept,
    }
    return [f"{out / path}: {reason}" for reason, paths in reasons.items() for path in paths]


def _summary(out: Path, report: Report, new: list[Path]) -> str:
    done = [f"{len(report.written)} written"] if report.written else []
    done += [f"{len(report.deleted)} deleted"] if report.deleted else []
    done += [f"new stub {file}" for file in new if file.name != "__init__.py"]
    return f"{out}: {', '.join(done) or 'up to date'}"


def _toolsets(design: Design) -> Iterator[Toolset]:
    for service in design.services:
        yield from service.toolsets


def _shown(project: Project, folder: str) -> Path:
    """Return the folder as seen from the working directory, which is how people read paths."""
    return Path(os.path.relpath(project.directory / folder))


def _say(line: str) -> None:
    print(line, file=sys.stderr)
