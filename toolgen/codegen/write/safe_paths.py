"""File access that does not follow links, and opens only regular files.

Below the root of a `SafePath`, no folder can be a link. On platforms with folder descriptors (POSIX), a
link that appears during a run is not followed either.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from toolgen.contract.record import frozen_record

_HAS_FOLDERS: Final = os.open in os.supports_dir_fd and os.listdir in os.supports_fd
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FILE: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open a file; a FIFO in the file's place does not block."""

_KINDS: Final = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
}


@frozen_record
class SafePath:
    """A path below a root, which is reached without following links."""

    root: Path
    """A folder; links in its own path are followed."""
    path: PurePosixPath
    """Path below the root; links in it are not followed."""

    @classmethod
    def of(cls, file: Path) -> SafePath:
        """Return the path of a file whose folders can be links."""
        return cls(root=file.parent, path=PurePosixPath(file.name))

    @property
    def file(self) -> Path:
        return self.root / self.path

    @property
    def parents(self) -> Iterator[SafePath]:
        """The folders below the root, the outermost first."""
        for parent in reversed(self.path.parents[:-1]):
            yield SafePath(root=self.root, path=parent)

    def read(self) -> bytes:
        """Return the bytes of the file.

        Raises:
            OSError: it is not a regular file, or the disk refuses.
        """
        with self._at() as (name, folder):
            return _content(os.open(name, _FILE | _NO_LINK, dir_fd=folder))

    def status(self) -> os.stat_result | None:
        """Return the status of the path, without following a link; None if nothing exists."""
        try:
            with self._at() as (name, folder):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Return the names in the folder.

        Raises:
            OSError: it is not a folder, or the disk refuses.
        """
        with self._at() as (name, folder):
            if folder is None:
                return os.listdir(name)
            opened = os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)
            try:
                return os.listdir(opened)
            finally:
                os.close(opened)

    def put(self, file: Path) -> None:
        """Move a file or a folder here, replacing an existing one."""
        with self._at() as (name, folder):
            os.replace(file, name, dst_dir_fd=folder)

    def make_folder(self) -> None:
        with self._at() as (name, folder):
            os.mkdir(name, dir_fd=folder)

    def remove(self) -> None:
        """Remove a file or a link."""
        with self._at() as (name, folder):
            os.unlink(name, dir_fd=folder)

    def remove_folder(self) -> None:
        """Remove an empty folder."""
        with self._at() as (name, folder):
            os.rmdir(name, dir_fd=folder)

    def remove_tree(self, *, ignore_errors: bool = False) -> None:
        """Remove a folder with its contents, but not the targets of links."""
        with self._at() as (name, folder):
            shutil.rmtree(name, ignore_errors=ignore_errors, dir_fd=folder)

    @contextmanager
    def _at(self) -> Iterator[tuple[str, int | None]]:
        """Yield the name and the descriptor of its folder; errors contain the whole path."""
        folder: int | None = None
        try:
            if not _HAS_FOLDERS:
                yield str(self.file), None
                return
            folder = os.open(self.root, _FOLDER)
            for part in self.path.parts[:-1]:
                inner = os.open(part, _FOLDER | _NO_LINK, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield self.path.name, folder
        except OSError as error:
            error.filename = str(self.file)
            error.filename2 = None
            raise
        finally:
            if folder is not None:
                os.close(folder)


def read_file(file: Path) -> bytes:
    """Return the bytes of a file or of the target of a link.

    Raises:
        OSError: it is not a regular file, or the disk refuses.
    """
    status = os.stat(file)  # opening a device can have side effects
    if not stat.S_ISREG(status.st_mode):
        raise _no_file(status.st_mode, str(file))
    return _content(os.open(file, _FILE))


def kind(mode: int) -> str:
    """Return the kind of something that is not a regular file, for messages."""
    return _KINDS.get(stat.S_IFMT(mode), "not a regular file")


def _content(opened: int) -> bytes:
    mode = os.fstat(opened).st_mode
    if not stat.S_ISREG(mode):
        os.close(opened)
        raise _no_file(mode)
    with open(opened, "rb") as file:
        return file.read()


def _no_file(mode: int, name: str | None = None) -> OSError:
    if stat.S_ISDIR(mode):
        return OSError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    return OSError(errno.EINVAL, f"it is {kind(mode)}", name)
