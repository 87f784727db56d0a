"""The toolsets that changed since the last run, where all other code is as that run left it.

Where anything else changed, or it cannot be told, the whole design is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from toolgen.catalog.unchanged_tools import UnchangedTools
from toolgen.codegen import Generation
from toolgen.codegen.layout import toolset_package
from toolgen.codegen.manifest import FileDigests, digest
from toolgen.codegen.stubs.stubs import stub_path
from toolgen.codegen.write import Texts, compare
from toolgen.codegen.write.safe_paths import read_file
from toolgen.contract.names import CATALOG, CATALOG_FORMAT
from toolgen.contract.record import frozen_record
from toolgen.dsl import Evaluation, build
from toolgen.dsl.evaluation.toolset_digests import ELSEWHERE, WrittenToolsets
from toolgen.expr.tree import Design

from .config import Project
from .last_generation import LastRun, last_run, last_texts
from .sources import unreported_reads
from .stubs import toolsets as implemented_toolsets


@frozen_record
class ChangedToolsets:
    """The toolsets that changed."""

    evaluation: Evaluation
    """The evaluation of the design without the other toolsets."""
    texts: Texts
    """Those of the whole tree."""
    memory: Iterable[str]
    """What the next run needs."""


@unreported_reads()
def changed_toolsets(
    project: Project, written: WrittenToolsets, digests: Mapping[str, str]
) -> ChangedToolsets | None:
    """Return the toolsets that changed since the last run; None where the whole design is to be evaluated.

    Raises:
        ToolgenError: the output cannot be read, or holds what is not toolgen's.
    """
    last = last_run(str(project.directory), str(project.file))
    names = _changed_names(project, digests, last)
    if names is None:
        return None
    out = project.display_path(project.out)
    before, evaluation = compare(out), build(written.only(names))
    if not before.is_current or evaluation.design is None or evaluation.diagnostics:
        return None
    if len(list(implemented_toolsets(evaluation.design))) < len(names):
        return None  # the file of one without an executor may have that of a toolset that is gone
    memory = last_texts(str(project.directory), last.texts)
    catalogue = read_file(out / CATALOG)
    if memory is None or digest(catalogue) != before.manifest.files[CATALOG].written:
        return None
    unchanged = UnchangedTools(catalogue.decode(), memory, without=names)
    made = Generation(evaluation.design, module=project.design, unchanged=unchanged)
    planned = _planned(evaluation.design, made.texts(), before.manifest.files)
    if planned is None:
        return None
    return ChangedToolsets(evaluation=evaluation, texts=planned, memory=made.memory)


def _changed_names(project: Project, digests: Mapping[str, str], last: LastRun) -> set[str] | None:
    """Return the qualified names of what changed, or whose stub did; None where it is not toolsets alone."""
    if not digests or project.languages or project.catalog_format != CATALOG_FORMAT:
        return None
    if last.toolsets.keys() != digests.keys() or last.toolsets[ELSEWHERE] != digests[ELSEWHERE]:
        return None
    toolsets = digests.keys() - {ELSEWHERE}
    stubs = {Path(project.stubs, stub_path(*name.rsplit(".", 1))): name for name in toolsets}
    if not stubs.keys() >= set(map(Path, last.edited_stubs)):
        return None  # other modules may have executors of toolsets that are gone
    names = {name for name in toolsets if last.toolsets[name] != digests[name]}
    names.update(stubs[Path(file)] for file in last.edited_stubs)
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
