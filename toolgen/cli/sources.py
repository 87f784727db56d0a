"""The sources of a design (its modules and other files), and the check for outdated code."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from toolgen.codegen.manifest import MANIFEST, read_manifest
from toolgen.codegen.sources import SourceDigests, changed_sources
from toolgen.contract.errors import ToolgenError

from .config import Project

_TOOLGEN: Final = Path(__file__).parents[1]
_MOST_NAMES: Final = 3


def imported_sources(project: Project, others: Collection[str]) -> frozenset[str]:
    """Return the paths of the project's imported modules, inside the project, without modules in `others`."""
    sources = set[str]()
    for module in [module for name, module in sys.modules.items() if name not in others]:
        file = getattr(module, "__dict__", {}).get("__file__")  # does not import lazy modules
        if isinstance(file, str):
            sources |= inside(project, Path(file))
    return frozenset(sources)


def inside(project: Project, file: Path) -> set[str]:
    """Return the path of a file of the author inside the project; empty for other files.

    Generated code, stubs and packages installed inside the project do not count.
    """
    file = Path(os.path.abspath(file))
    if not file.is_relative_to(project.directory) or file.is_relative_to(sys.prefix):
        return set()
    path = file.relative_to(project.directory)
    if (
        file.is_relative_to(_TOOLGEN)
        or any(
            path.is_relative_to(folder)
            for folder in (project.out, project.stubs, *project.languages.values())
        )
        or any(part.startswith(".") or part in ("__pycache__", "site-packages") for part in path.parts)
    ):
        return set()
    return {path.as_posix()}


def recorded_sources(project: Project) -> Mapping[str, SourceDigests]:
    """Return the sources of the design as they were when its code was generated.

    Without a readable manifest, the result is empty.
    """
    file = project.directory / project.out / MANIFEST
    if not file.is_file():  # reading a FIFO would block
        return {}
    try:
        return read_manifest(file.read_text("utf-8"), str(file)).sources
    except (OSError, ValueError, ToolgenError):
        return {}


def stale_code(project: Project) -> str:
    """Return a warning that the generated code is older than its design; "" if it is not.

    Missing sources are skipped.
    """
    newer = changed_sources(project.directory, recorded_sources(project))
    if not newer:
        return ""
    names = [str(project.display_path(name)) for name in newer[:_MOST_NAMES]]
    more = f" and {len(newer) - _MOST_NAMES} more" if len(newer) > _MOST_NAMES else ""
    out = project.display_path(project.out)
    return f"the code in {out} is older than the design: {', '.join(names)}{more} changed"


def require_resolved(project: Project, sources: Iterable[str]) -> None:
    """Check that no client would send credentials to a target with an open conflict.

    Raises:
        ToolgenError: an import has an open conflict about an address or a credential, or its lock cannot be
            read.
    """
    files = [project.directory / each for each in sorted(sources)]
    for file in [file.with_suffix(".import.json") for file in files if file.suffix == ".py"]:
        if not file.exists():
            continue
        from .reimporting import stored_lock  # not needed without imports

        conflicts = stored_lock(file).open
        places = [each for each in conflicts if each.startswith(("server:", "credential:", "security:"))]
        if places:
            raise ToolgenError(
                f"{project.display_path(str(file))} has open conflicts about where credentials are sent: "
                f"{', '.join(places)}; nothing was generated",
                hint=f"check it and edit the design, then run: toolgen import --resolve {places[0]}",
            )
