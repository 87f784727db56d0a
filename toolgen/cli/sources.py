"""The sources of a design: which files it reads, and whether the generated code is older than they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import source_from_cache
from pathlib import Path
from typing import Final

from toolgen.codegen.manifest import MANIFEST, read_manifest
from toolgen.codegen.sources import SourceDigests, changed_sources
from toolgen.contract.errors import ToolgenError

from .config import Project

_TOOLGEN: Final = Path(__file__).parents[1]
_MOST_NAMES: Final = 3
_readers: list[Callable[[str], None]] = []
"""What is called with each file and folder that the process reads; a hook of Python's cannot be removed."""


@contextmanager
def reported_reads(project: Project, report: Callable[[str], None]) -> Iterator[None]:
    """Report each file and folder of the project that the process reads meanwhile, once.

    The generated code, the stubs and what is installed inside the project do not count.
    """
    seen: set[str] = set()

    def read(path: str) -> None:
        if path not in seen:
            seen.add(path)
            if _is_in_project(Path(path), project):
                report(path)

    with all_reads(read):
        yield


@contextmanager
def all_reads(read: Callable[[str], None]) -> Iterator[None]:
    """Call `read` with the absolute path of each file and folder that the process is about to read."""
    if not _readers:
        sys.addaudithook(_note)
        _readers.append(lambda _: None)  # so that one hook is added
    _readers.append(read)
    try:
        yield
    finally:
        _readers.remove(read)


@contextmanager
def unreported_reads() -> Iterator[None]:
    """Report nothing that is read meanwhile, which toolgen reads for itself."""
    readers = _readers[1:]
    del _readers[1:]
    try:
        yield
    finally:
        _readers[1:] = readers


@contextmanager
def collected_sources(project: Project) -> Iterator[set[str]]:
    """Collect the files of the project that the process reads meanwhile, relative to its directory."""
    sources = set[str]()

    def collect(path: str) -> None:
        if not Path(path).is_relative_to(_TOOLGEN) and os.path.isfile(path):
            sources.add(Path(path).relative_to(project.directory).as_posix())

    with reported_reads(project, collect):
        yield sources


def recorded_sources(project: Project) -> Mapping[str, SourceDigests]:
    """Return the sources of the design as they were when its code was generated.

    A manifest that is not there or cannot be read names none.
    """
    file = project.directory / project.out / MANIFEST
    if not file.is_file():  # a FIFO would be read for ever
        return {}
    try:
        return read_manifest(file.read_text("utf-8"), str(file)).sources
    except (OSError, ValueError, ToolgenError):
        return {}


def newer_sources(project: Project) -> tuple[str, ...]:
    """Return the sources of the design that say something else than when its code was generated.

    Sources that are not there are skipped.
    """
    return changed_sources(project.directory, recorded_sources(project))


def stale_code(project: Project) -> str:
    """Return a sentence that says that the generated code is older than its design; "" where it is not."""
    newer = newer_sources(project)
    if not newer:
        return ""
    names = [str(project.display_path(name)) for name in newer[:_MOST_NAMES]]
    more = f" and {len(newer) - _MOST_NAMES} more" if len(newer) > _MOST_NAMES else ""
    out = project.display_path(project.out)
    return f"the code in {out} is older than the design: {', '.join(names)}{more} changed"


def require_resolved(project: Project, sources: Iterable[str]) -> None:
    """Raise where a client would send credentials in a way that the author has not resolved.

    Raises:
        ToolgenError: an import has an open conflict about an address or a credential, or its lock cannot be
            read.
    """
    files = [project.directory / each for each in sorted(sources)]
    for file in [file.with_suffix(".import.json") for file in files if file.suffix == ".py"]:
        if not file.exists():
            continue
        from .reimporting import stored_lock  # which a project without imports does not need

        with unreported_reads():
            conflicts = stored_lock(file).open
        places = [each for each in conflicts if each.startswith(("server:", "credential:", "security:"))]
        if places:
            raise ToolgenError(
                f"{project.display_path(str(file))} has open conflicts about where credentials are sent: "
                f"{', '.join(places)}; nothing was generated",
                hint=f"check it and edit the design, then run: toolgen import --resolve {places[0]}",
            )


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if (
        _readers
        and len(_readers) > 1
        and (  # a module that Python takes down has None for it
            event in ("os.listdir", "os.scandir") or (event == "open" and _is_reading(arguments[1]))
        )
    ):
        path = _source(arguments[0])
        if path is not None:
            for read in tuple(_readers):
                read(path)


def _is_reading(mode: object) -> bool:
    return not isinstance(mode, str) or not set(mode) & set("wax")


def _source(path: object) -> str | None:
    """Return the absolute path, of bytecode that of its source; None where it is no path."""
    if path == 0:
        return "/dev/stdin"
    if not isinstance(path, str | bytes | os.PathLike):
        return None
    name = os.path.abspath(os.fsdecode(path))
    if name.endswith(".pyc"):
        with suppress(ValueError):  # a module without source
            return source_from_cache(name)
    return name


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
