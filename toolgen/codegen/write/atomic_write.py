"""Moves files from the staging folder to their places, and back after an error."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

from .comparison import CACHES
from .safe_paths import SafePath, read_file


@frozen_record
class Edit:
    """Content of a file before and after an edit."""

    old: bytes | None = None
    """Content before; None if the file did not exist."""
    new: bytes | None = None
    """Content after; None if the file is deleted."""


@dataclass(slots=True, kw_only=True)
class AtomicWrite:
    """File moves that are undone if one of them fails."""

    backup: Path
    saved: list[tuple[SafePath, Path | None]] = field(default_factory=list)
    """Each changed path, with a copy of its old content; None if it was not a regular file."""
    folders: list[SafePath] = field(default_factory=list)
    """Folders that were created for the moves."""

    def put(self, file: Path, target: SafePath) -> None:
        self._make_root(target.root)
        for folder in target.parents:
            if folder.status() is None:
                self._make(folder)
        with self._recorded(target):
            target.put(file)

    def put_new(self, file: Path, target: Path) -> None:
        """Put a file at a place where no file exists.

        Raises:
            ToolgenError: something was created there after the place was checked.
        """
        if os.path.lexists(target):
            raise changed_meanwhile(target)
        self.put(file, SafePath.of(target))

    def put_edit(self, file: Path, target: Path, edit: Edit) -> None:
        """Replace a file of the author; a link stays a link.

        Raises:
            ToolgenError: its content has changed since it was read, or it is a link to nothing.
        """
        if target.is_symlink() and not target.exists():
            raise ToolgenError(f"{target} is a link to nothing; nothing was changed", hint="remove the link")
        if (read_file(target) if target.exists() else None) != edit.old:
            raise changed_meanwhile(target)
        if edit.new is not None:
            self.put(file, SafePath.of(Path(os.path.realpath(target))))
        elif edit.old is not None:
            self.remove(SafePath.of(target))

    def remove(self, target: SafePath) -> None:
        with self._recorded(target):
            target.remove()

    def undo(self) -> None:
        """Undo all moves.

        Raises:
            ToolgenError: the disk refuses; the manifest still lists the possible contents of the folder.
        """
        try:
            for target, copy in reversed(self.saved):
                if copy is not None:
                    self._restore(copy, target)
                elif status := target.status():
                    (target.remove_tree if stat.S_ISDIR(status.st_mode) else target.remove)()
        except OSError as error:
            raise ToolgenError(
                f"cannot restore {error.filename2 or error.filename}: {error.strerror}",
                hint="make it writable and run the command again; toolgen gen repairs its own files",
            ) from error
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.remove_folder()

    @contextmanager
    def _recorded(self, target: SafePath) -> Iterator[None]:
        """Record a change before it happens, so that no signal comes between; drop it if it fails."""
        self.saved.append((target, self._copy(target)))
        try:
            yield
        except OSError:
            self.saved.pop()
            raise

    def _copy(self, target: SafePath) -> Path | None:
        status = target.status()
        if status is None or not stat.S_ISREG(status.st_mode):
            return None
        self.backup.mkdir(exist_ok=True)
        copy = self.backup / str(len(self.saved))
        copy.write_bytes(target.read())
        copy.chmod(stat.S_IMODE(status.st_mode))
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
        return copy

    def _restore(self, copy: Path, target: SafePath) -> None:
        """Restore a copy; folders that were removed since are created again."""
        for folder in target.parents:
            if folder.status() is None:
                folder.make_folder()
        target.put(copy)

    def _make_root(self, folder: Path) -> None:
        if not folder.exists():
            self._make_root(folder.parent)
            self._make(SafePath.of(folder))

    def _make(self, folder: SafePath) -> None:
        folder.make_folder()
        self.folders.append(folder)


def remove_empty(out: Path, deleted: Iterable[str]) -> None:
    """Remove the folders that contain nothing but caches after the deletions, deepest first."""
    parents = {parent for path in deleted for parent in PurePosixPath(path).parents[:-1]}
    for path in sorted(parents, key=lambda path: len(path.parts), reverse=True):
        folder = SafePath(root=out, path=path)
        with suppress(OSError):
            if all(name in CACHES for name in folder.names()):
                folder.remove_tree(ignore_errors=True)


def changed_meanwhile(target: Path) -> ToolgenError:
    message = f"{target} was changed by another program; nothing was written"
    return ToolgenError(message, hint="run the command again")
