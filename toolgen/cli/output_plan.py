"""Plans the generated files of a design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from types import ModuleType
from typing import Final, TypeAlias

from toolgen.codegen import generate
from toolgen.codegen.languages import generate_language
from toolgen.codegen.sources import SourceDigests, stamp
from toolgen.contract.findings import Finding
from toolgen.contract.record import frozen_record
from toolgen.dsl import Agent, Completion, Design, Method, Service, Tool, Toolset, build
from toolgen.dsl.datatypes import DataType
from toolgen.dsl.evaluation.clause_lookup import walk
from toolgen.dsl.structure import Attributes

from .config import Project
from .function_targets import missing_functions
from .problem_codes import CLAUSE_UNLISTED
from .sources import inside, recorded_sources
from .stubs import StubPlan, plan_stubs
from .terminal import show_progress

_Listed: TypeAlias = Service | Agent | Completion | Method | Toolset | Tool
_OWNERS: Final[Mapping[type[_Listed], str]] = {
    Service: "Design",
    Agent: "Service",
    Completion: "Service",
    Method: "Service",
    Toolset: "Service, Use or Export",
    Tool: "Toolset",
}
"""Clauses that get their own code, with the clauses that list them."""
_LEAVES: Final = (DataType, Attributes)
"""Clauses that contain none of `_OWNERS`."""
_MANY_TOOLS: Final = 150
"""Number of tools whose generation takes more than a second."""


@frozen_record
class OutputTree:
    """A generated tree of one language."""

    folder: str
    """Its folder as in the settings, relative to the project folder."""
    out: Path
    """Its folder, relative to the working directory."""
    texts: Mapping[str, str]
    sources: Mapping[str, SourceDigests] = field(default_factory=dict)
    """Digests of the design's sources, for the manifest of the Python tree."""


@frozen_record
class OutputPlan:
    """The files of a design; paths are relative to the working directory."""

    python: OutputTree
    others: tuple[OutputTree, ...]
    """Trees of other languages."""
    stub_folder: Path
    stubs: StubPlan
    warnings: tuple[Finding, ...]
    """Findings that do not stop the generation."""

    @property
    def trees(self) -> tuple[OutputTree, ...]:
        return (self.python, *self.others)


def output_plan(
    project: Project, design: Design, module: ModuleType, sources: frozenset[str]
) -> OutputPlan | tuple[Finding, ...]:
    """Return the plan, or the findings of the design; `sources` are the modules that the design imported."""
    evaluation = build(design)
    checked = evaluation.design
    if checked is None:
        return evaluation.diagnostics
    count = sum(len(toolset.tools) for of in checked.services for toolset in of.toolsets)
    if count >= _MANY_TOOLS:
        show_progress(f"generating the code of {count:,} tools…")
    stub_folder = project.display_path(project.stubs)
    read = sources.union(*(inside(project, file) for file in evaluation.files))
    return OutputPlan(
        python=OutputTree(
            folder=project.out,
            out=project.display_path(project.out),
            texts=generate(checked, module=project.design),
            sources=stamp(project.directory, read, recorded_sources(project)),
        ),
        others=tuple(
            OutputTree(
                folder=folder,
                out=project.display_path(folder),
                texts=generate_language(language, checked, module=project.design),
            )
            for language, folder in project.languages.items()
        ),
        stub_folder=stub_folder,
        stubs=plan_stubs(project, checked, stub_folder),
        warnings=(
            *evaluation.diagnostics,
            *unlisted(module, design),
            *missing_functions(checked, walk(design, set(), _LEAVES)),
        ),
    )


def unlisted(module: ModuleType, design: Design) -> Iterator[Finding]:
    """Yield a warning for each clause that is a variable of the module but not part of the design.

    There is no warning for names with a leading underscore, for clauses of other files, and for clauses
    inside another clause that is not listed.
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
            f"{kind.lower()} {value.name!r} is not part of the design, so nothing is generated for it",
            place=value.source.located(),
            hint=f"list {name} in its {_OWNERS[type(value)]}, or remove it",
        )
