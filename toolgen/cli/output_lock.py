"""Locks of a project's folder: one run of `toolgen gen` writes at a time, and none reads meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolgen.codegen.write import sweep

from .config import Project


@contextmanager
def read_lock(project: Project) -> Iterator[None]:
    """Hold the project's shared lock, so that no run writes meanwhile."""
    with _locked(project.directory, shared=True):
        yield


@contextmanager
def write_lock(project: Project) -> Iterator[None]:
    """Hold the project's exclusive lock, and remove leftovers of killed runs."""
    with _locked(project.directory, shared=False) as alone:
        if alone:
            for folder in (project.out, *project.languages.values()):
                sweep(project.directory / folder, project.directory)
        yield


@contextmanager
def _locked(directory: Path, *, shared: bool) -> Iterator[bool]:
    """Yield whether the folder is locked; some network file systems cannot lock. It ends with the process."""
    if sys.platform == "win32":
        yield False
        return
    folder = os.open(directory, os.O_RDONLY)
    try:
        yield _lock(folder, directory, shared=shared)
    finally:
        os.close(folder)


def _lock(folder: int, directory: Path, *, shared: bool) -> bool:
    import fcntl  # not on Windows

    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(folder, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"waiting for another toolgen in {directory}", file=sys.stderr)
        fcntl.flock(folder, kind)
    except OSError:
        return False
    return True
