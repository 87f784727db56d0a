"""The toolsets that changed since the last run, where all other code is as that run left it.

Where anything else changed, or it cannot be told, the whole design is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolgen.catalog.reader import load_catalogue
from toolgen.codegen import generate
from toolgen.codegen.layout import toolset_package
from toolgen.codegen.manifest import FileDigests, digest
from toolgen.codegen.stubs.stubs import stub_path
from toolgen.codegen.write import Texts, compare
from toolgen.contract.names import CATALOG, CATALOG_FORMAT
from toolgen.contract.record import frozen_record
from toolgen.dsl import Evaluation, build
from toolgen.dsl.evaluation.toolset_digests import ELSEWHERE, WrittenToolsets
from toolgen.expr.tree import Design

from .config import Project
from .last_generation import last_toolsets
from .sources import unreported_reads
from .stubs import toolsets as implemented_toolsets


@frozen_record
class ChangedToolsets:
    """The toolsets that changed."""

    evaluation: Evaluation
    """The evaluation of the design without the other toolsets."""
    texts: Texts
    """Those of the whole tree."""


@unreported_reads()
def changed_toolsets(
    project: Project, written: WrittenToolsets, digests: Mapping[str, str]
) -> ChangedToolsets | None:
    """Return the toolsets that changed since the last run; None where the whole design is to be evaluated.

    Raises:
        ToolgenError: the output cannot be read, or holds what is not toolgen's.
    """
    names = _changed_names(project, digests)
    if names is None:
        return None
    out = project.display_path(project.out)
    before, evaluation = compare(out), build(written.only(names))
    if not before.is_current or evaluation.design is None or evaluation.diagnostics:
        return None
    if len(list(implemented_toolsets(evaluation.design))) < len(names):
        return None  # the file of one without an executor may have that of a toolset that is gone
    entries = load_catalogue(out / CATALOG).tools
    texts = generate(
        evaluation.design,
        module=project.design,
        others=(entry for entry in entries if f"{entry['service']}.{entry['toolset']}" not in names),
    )
    planned = _planned(evaluation.design, texts, before.manifest.files)
    return None if planned is None else ChangedToolsets(evaluation=evaluation, texts=planned)


def _changed_names(project: Project, digests: Mapping[str, str]) -> set[str] | None:
    """Return the qualified names of what changed, or whose stub did; None where it is not toolsets alone."""
    if not digests or project.languages or project.catalog_format != CATALOG_FORMAT:
        return None
    last, edited = last_toolsets(str(project.directory), str(project.file))
    if last.keys() != digests.keys() or last[ELSEWHERE] != digests[ELSEWHERE]:
        return None
    toolsets = digests.keys() - {ELSEWHERE}
    stubs = {Path(project.stubs, stub_path(*name.rsplit(".", 1))): name for name in toolsets}
    if not stubs.keys() >= set(map(Path, edited)):
        return None  # other modules may have executors of toolsets that are gone
    names = {name for name in toolsets if last[name] != digests[name]}
    names.update(stubs[Path(file)] for file in edited)
    return names if len(names) <= len(toolsets) / 2 else None


def _planned(design: Design, texts: Mapping[str, str], files: Mapping[str, FileDigests]) -> Texts | None:
    """Return the plan of the whole tree: the texts, and what stays of its files.

    It is None where something changed that belongs to no toolset of the design.
    """
    toolsets = [toolset for service in design.services for toolset in service.toolsets]
    folders = tuple("/".join((*toolset_package(toolset), "")) for toolset in toolsets)
    others = [path for path in files if not path.startswith(folders)]
    for path in texts.keys() & set(others) - {CATALOG}:
        if digest(texts[path].encode()) != files[path].source:
            return None
    planned: dict[str, str | None] = {path: None for path in others if path not in texts}
    planned.update(texts)  # what is reported of files is in the order of the texts
    return planned
