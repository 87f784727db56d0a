"""Compares new files with the files in the output folder byte for byte."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

from ..manifest import MANIFEST, FileDigests, Manifest, digest, read_manifest
from .disk_errors import disk_error
from .safe_paths import SafePath, kind, read_file

CACHES: Final = frozenset(["__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"])
"""Folders that other programs create in generated code."""

_MOST_NAMES: Final = 10
_ELSEWHERE: Final = "move them elsewhere, or give toolgen its own folder in [tool.toolgen]"


@frozen_record
class Comparison:
    """The differences between the folder and the new files; each path is in one group, in stable order.

    Files are compared by their bytes. The manifest only tells who wrote a file that differs.
    """

    manifest: Manifest
    found: Mapping[str, str] = field(default_factory=dict)
    """Digest of each file in the folder."""
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Files that toolgen wrote, from another design."""
    edited: tuple[str, ...] = ()
    """Files that were changed since toolgen wrote them."""
    unrecorded: tuple[str, ...] = ()
    """Planned files that exist, but are not in the manifest."""
    stale: tuple[str, ...] = ()
    """Files of an earlier run that are no longer planned."""
    retained: tuple[str, ...] = ()
    """Stale files that were edited."""

    is_noted: bool = False
    """Whether the manifest matches the new files."""

    @property
    def is_current(self) -> bool:
        differs = (self.missing, self.changed, self.edited, self.unrecorded, self.stale, self.retained)
        return self.is_noted and not any(differs)


def compared(out: Path, new: Mapping[str, str]) -> Comparison:
    """Return the differences between the folder and new files, by digests.

    Raises:
        ToolgenError: the folder contains files that toolgen did not write, links or special files, or its
            manifest is invalid.
    """
    manifest = Manifest()
    try:
        digests = file_digests(out)
        recorded = SafePath(root=out, path=PurePosixPath(MANIFEST)).read() if MANIFEST in digests else None
    except OSError as error:
        raise disk_error("read", error, out) from error
    if recorded is not None:
        del digests[MANIFEST]
        manifest = read_manifest(recorded.decode("utf-8", "replace"), str(out / MANIFEST))
    planned = {*new, *manifest.files} if recorded is not None else ()
    strange = [path for path in digests if path not in planned]
    strange += [
        path for path in new if path in digests and path not in manifest.files and digests[path] != new[path]
    ]
    if strange:
        raise _refused(out, "files that toolgen did not write", [str(out / path) for path in strange])
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for path in new:
        if (group := _group(digests.get(path), manifest.files.get(path), new[path])) is not None:
            groups[group].append(path)
    for path, file in manifest.files.items():
        if path not in new:
            groups["stale" if path not in digests or file.is_ours(digests[path]) else "retained"].append(path)
    in_groups = {group: tuple(paths) for group, paths in groups.items()}
    files = manifest.files
    is_noted = recorded == manifest.text().encode() and all(
        files.get(path) == FileDigests(written=digest) for path, digest in new.items()
    )
    return Comparison(manifest=manifest, found=digests, is_noted=is_noted, **in_groups)


def _refused(out: Path, what: str, names: list[str], hint: str = _ELSEWHERE) -> ToolgenError:
    shown = "".join(f"\n  {name}" for name in names[:_MOST_NAMES])
    more = f"\n  and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ToolgenError(f"{out} holds {what}; nothing was changed:{shown}{more}", hint=hint)


def _group(digest: str | None, file: FileDigests | None, new: str) -> str | None:
    if digest is None:
        return "missing"
    if file is None:
        return "unrecorded"
    if digest == new:
        return None
    return "changed" if file.is_ours(digest) else "edited"


def file_digests(out: Path) -> dict[str, str]:
    """Return the digest of every file in a generated folder except caches, sorted by path.

    The folder itself can be a link that its author made, but it must not contain links.

    Raises:
        ToolgenError: it is not a folder, or it contains a link, a special file, or bytecode that Python runs
            independent of the time of its file; links are not followed, and special files are not opened.
        OSError: something cannot be read.
    """
    if not out.is_dir():
        if os.path.lexists(out):
            what = "is a link that leads to no folder" if out.is_symlink() else "is not a folder"
            raise ToolgenError(f"{out} {what}", hint="move it away, or correct the folder in [tool.toolgen]")
        return {}
    digests: dict[str, str] = {}
    special: list[str] = []
    compiled: list[str] = []
    folders = [PurePosixPath()]
    while folders:
        folder = folders.pop()
        with os.scandir(out / folder) as entries:
            for entry in entries:
                path = folder / entry.name
                if entry.name in CACHES:
                    compiled += map(str, filter(_has_no_time, (out / path).glob("*.pyc")))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_file(follow_symlinks=False):
                    digests[str(path)] = digest(SafePath(root=out, path=path).read())
                else:
                    special.append(f"{out / path} ({kind(entry.stat(follow_symlinks=False).st_mode)})")
    if special:
        raise _refused(out, "links or special files, which are not followed", sorted(special))
    if compiled:
        what = "bytecode that Python executes without checking the time of its source"
        raise _refused(out, what, sorted(compiled), hint="delete it; Python creates it again, with the time")
    return dict(sorted(digests.items()))


def _has_no_time(bytecode: Path) -> bool:
    """Return whether Python checks the bytecode by a hash of its source, or not at all (PEP 552).

    Anybody can commit such bytecode. Bytecode that Python itself creates has the time of the source, which
    a checkout sets.
    """
    try:
        return any(flags & 1 for flags in read_file(bytecode)[4:5])
    except OSError:
        return False
