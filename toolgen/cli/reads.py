"""What a process reads of a project, and whether that has changed since."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import source_from_cache
from pathlib import Path
from typing import TypeAlias

from .config import Project

Mark: TypeAlias = tuple[object, ...] | None
"""The state of a file, or of a folder that modules were looked for in; equal while it is the same."""


def mark(path: str) -> Mark:
    try:
        if os.path.isdir(path):
            with os.scandir(path) as entries:
                return tuple(sorted(entry.name for entry in entries if _may_be_a_module(entry)))
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def report_reads(project: Project, report: Callable[[str, Mark], None]) -> None:
    """Report each file and folder of the project when it is first read, until the process ends.

    The generated code, the stubs and what is installed inside the project do not count.
    """
    seen: set[str] = set()

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("os.listdir", "os.scandir") or (event == "open" and _is_reading(arguments[1])):
            path = _source(arguments[0])
            if path is not None and path not in seen:
                seen.add(path)
                if _belongs(Path(path), project):
                    report(path, mark(path))

    sys.addaudithook(note)


def _may_be_a_module(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".py") or (entry.is_dir() and entry.name.isidentifier())


def _is_reading(mode: object) -> bool:
    return not isinstance(mode, str) or not set(mode) & set("wax+")


def _source(path: object) -> str | None:
    """Return the absolute path, of bytecode that of its source; None where it is no path."""
    if not isinstance(path, str | os.PathLike):
        return None
    name = os.path.abspath(os.fsdecode(path))
    return source_from_cache(name) if name.endswith(".pyc") else name


def _belongs(path: Path, project: Project) -> bool:
    directory = project.directory
    if not path.is_relative_to(directory) or path.is_relative_to(sys.prefix):
        return False
    inside = path.relative_to(directory)
    return not (
        inside.is_relative_to(project.out)
        or inside.is_relative_to(project.stubs)
        or any(part.startswith(".") or part in ("__pycache__", "site-packages") for part in inside.parts)
    )
