"""The files of a project that a process reads, and whether a change concerns them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection
from importlib.util import source_from_cache
from pathlib import Path

from watchfiles import Change

from .config import Project


def touches(changes: Collection[tuple[Change, str]], reads: Collection[str]) -> bool:
    """Return whether a file that was read changed, or a module came to or left a folder that was listed."""
    return any(
        path in reads
        or (change != Change.modified and os.path.dirname(path) in reads and _may_be_a_module(path))
        for change, path in changes
    )


def report_dependencies(project: Project, report: Callable[[str], None]) -> None:
    """Report each file and folder of the project that the process reads, once.

    The generated code, the stubs and what is installed inside the project do not count.
    """
    seen: set[str] = set()

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("os.listdir", "os.scandir") or (event == "open" and _is_reading(arguments[1])):
            path = _source(arguments[0])
            if path is not None and path not in seen:
                seen.add(path)
                if _is_in_project(Path(path), project):
                    report(path)

    sys.addaudithook(note)


def _may_be_a_module(path: str) -> bool:
    """Return whether its name is that of a module or of a package."""
    name = os.path.basename(path)
    return name.endswith(".py") or (
        name.isidentifier() and name != "__pycache__" and not os.path.isfile(path)
    )


def _is_reading(mode: object) -> bool:
    return not isinstance(mode, str) or not set(mode) & set("wax+")


def _source(path: object) -> str | None:
    """Return the absolute path, of bytecode that of its source; None where it is no path."""
    if not isinstance(path, str | os.PathLike):
        return None
    name = os.path.abspath(os.fsdecode(path))
    return source_from_cache(name) if name.endswith(".pyc") else name


def _is_in_project(path: Path, project: Project) -> bool:
    directory = project.directory
    if not path.is_relative_to(directory) or path.is_relative_to(sys.prefix):
        return False
    inside = path.relative_to(directory)
    return not (
        inside.is_relative_to(project.out)
        or inside.is_relative_to(project.stubs)
        or any(part.startswith(".") or part in ("__pycache__", "site-packages") for part in inside.parts)
    )
