"""Locks of a project's folder: one run of `toolgen gen` writes at a time, while no other run reads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from toolgen.codegen.write import sweep
from toolgen.codegen.write.folder_lock import locked

from .config import Project


@contextmanager
def read_lock(project: Project) -> Iterator[None]:
    """Hold the project's shared lock, so that no run writes at the same time."""
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


def _locked(directory: Path, *, shared: bool) -> AbstractContextManager[bool]:
    message = f"waiting for another toolgen in {directory}"
    return locked(directory, shared=shared, on_wait=lambda: print(message, file=sys.stderr))
