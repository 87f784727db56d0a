"""The record of the last `toolgen gen`, used by the next one to detect that there is nothing to do.

The design is imported each time. If its digest and the digests of all files equal the recorded digests, a run
would change nothing. The record is never committed. If it cannot be read or written, everything is generated.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from toolgen.codegen.manifest import MANIFEST, Manifest, digest
from toolgen.codegen.write.comparison import file_digests
from toolgen.codegen.write.safe_paths import SafePath, read_file
from toolgen.codegen.write.staging import staging
from toolgen.contract.errors import ToolgenError
from toolgen.dsl.design_digest import design_digest

from .config import Project

CACHE: Final = ".toolgen_cache"
"""Folder of the record in the project; its own .gitignore excludes it from git."""
_NAME: Final = "gen.json"
_FILE: Final = f"{CACHE}/{_NAME}"
_VERSION: Final = 4
"""Format of the record."""
_TOOLGEN: Final = Path(__file__).parents[1]
_PACKAGES: Final = ("ruff", "jinja2", "jsonschema_rs", "pydantic", "pydantic_core")
"""Packages that influence the generated code."""


def generation_digest(project: Project, *values: object) -> str:
    """Return the digest of everything that the generated code depends on; "" if it cannot be determined.

    `values` are the design and further clauses of its module.
    """
    written = design_digest(values)
    if not written:
        return ""
    settings = [project.design, project.out, project.package, project.stubs]
    try:
        packages = [version(package) for package in _PACKAGES]
    except PackageNotFoundError:  # code that needs the package reports it
        return ""
    made_by = [*sys.version_info[:2], *packages, _own_files()]
    parts = [written, *settings, project.typescript, *made_by]
    return digest(json.dumps(parts).encode())


def is_recorded(project: Project, generation: str, read: Mapping[str, str]) -> bool:
    """Return whether the last run had this digest, and no file has changed since.

    `read` are the digests of the author's files that the run reads, by path inside the project.
    """
    try:
        files = dict(read)
        for tree in (project.out, *project.languages.values()):
            files |= _inside(tree, file_digests(project.directory / tree))
        record = json.loads(read_file(project.directory / _FILE))
    except (OSError, ValueError, RecursionError, ToolgenError):
        return False
    return bool(generation) and record == _document(generation, files)


def write_record(
    project: Project, generation: str, read: Mapping[str, str], manifests: Mapping[str, Manifest]
) -> None:
    """Record a run after which nothing was left to do; `manifests` are the trees' manifests, by folder."""
    if not generation:
        return
    files = dict(read)
    for tree, manifest in manifests.items():
        files |= _inside(tree, {path: file.written for path, file in manifest.files.items()})
        files |= _inside(tree, {MANIFEST: digest(manifest.text().encode())})
    folder = project.directory / CACHE
    with suppress(OSError):  # the next run generates again
        folder.mkdir(exist_ok=True)
        with staging(folder) as staged:
            for name, text in ((".gitignore", "*\n"), (_NAME, json.dumps(_document(generation, files)))):
                (staged / name).write_text(text, "utf-8")
                SafePath.of(folder / name).put(staged / name)


def stub_files(project: Project) -> list[str]:
    """Return the paths of the modules among the stubs, inside the project."""
    folder = project.directory / project.stubs
    files = sorted([*folder.glob("*.py"), *folder.glob("*/*.py")])
    return [file.relative_to(project.directory).as_posix() for file in files]


def digest_of(file: Path) -> str:
    """Return the digest of a file; "" if there is no file, or it cannot be read."""
    try:
        return digest(read_file(file))
    except OSError:
        return ""


def _document(generation: str, files: Mapping[str, str]) -> dict[str, object]:
    return {"version": _VERSION, "generation": generation, "files": dict(sorted(files.items()))}


def _inside(tree: str, digests: Mapping[str, str]) -> dict[str, str]:
    return {f"{tree}/{path}": each for path, each in digests.items()}


def _own_files() -> str:
    """Return the digest of toolgen's own files."""
    counted = sha256()
    for folder, folders, names in os.walk(_TOOLGEN):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as opened:
                content = opened.read()
            counted.update(f"{folder}/{name} {len(content)}\n".encode("utf-8", "surrogateescape"))
            counted.update(content)
    return counted.hexdigest()
