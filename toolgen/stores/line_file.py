"""A private file of this user to which lines are appended without being synced.

The first lines are synced. A power failure can lose the newest lines or leave parts of them. One process at a
time writes the file, and writes it again if it was removed meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from toolgen.contract.logs import logger

from .atomic_file import remove_drafts, write_atomically
from .own_file import is_open_at, open_own, unusable_file

log = logger("toolgen.stores")


class LineFile:
    """Lines of bytes, each with its line break."""

    def __init__(self, path: Path, *, content: str) -> None:
        """Construct without opening; `content` is what the file is for, in messages."""
        self.path = path
        self._content = content
        self._descriptor: int | None = None
        self._is_used = False
        """It was opened, and nobody has closed it."""
        self.size_bytes = 0
        """Size of the file while it is open."""
        self._is_torn = False
        """A part of a line was written."""

    def read(self) -> tuple[Sequence[bytes], bool]:
        """Return the lines, and whether the last one is whole; of a file that is missing False.

        Raises:
            StoreError: it cannot be read, or is not for this user alone.
        """
        try:
            descriptor = self._opened(os.O_RDONLY)
        except FileNotFoundError:
            return (), False
        try:
            with open(descriptor, "rb") as file:
                text = file.read()
        except OSError as error:
            raise unusable_file(self.path, error) from error
        return text.splitlines(), text.endswith(b"\n")

    def open(self) -> None:
        """Open the file, which is there, to append to it; what an interrupted `replace` left is removed.

        Raises:
            StoreError: it cannot be opened, or is not for this user alone.
        """
        self.close()
        self._is_used = True
        try:
            self._descriptor = self._opened(os.O_RDWR | os.O_APPEND)
            remove_drafts(self.path)
        except OSError as error:
            raise unusable_file(self.path, error) from error
        self.size_bytes = os.fstat(self._descriptor).st_size
        self._is_torn = False

    def append(self, line: bytes) -> None:
        """Append a line, after what there was room for of one before; no effect on a file that is closed.

        Raises:
            StoreError: it cannot be written.
        """
        if not self._is_used:
            return
        if self._descriptor is None:  # it was written anew, and could not be opened
            self.open()
        elif not is_open_at(self.path, self._descriptor):
            self._write_again(self._descriptor)
        assert self._descriptor is not None, "it is open"
        left = b"\n" + line if self._is_torn else line
        try:
            while left:
                count = os.write(self._descriptor, left)
                self.size_bytes += count
                left = left[count:]
                self._is_torn = bool(left)
        except OSError as error:
            raise unusable_file(self.path, error) from error

    def replace(self, lines: Iterable[bytes]) -> None:
        """Replace the file by one with these lines; it is not open afterwards.

        Raises:
            StoreError: it cannot be written, and stays as it is.
        """
        try:
            write_atomically(self.path, lines)
        except OSError as error:
            raise unusable_file(self.path, error) from error
        self._release()

    def close(self) -> None:
        """Close the file, if it is open."""
        self._is_used = False
        self._release()

    def _release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write_again(self, descriptor: int) -> None:
        """Write the lines of the open file to its path, which leads to it no more."""
        self.replace([os.pread(descriptor, self.size_bytes, 0)])
        self.open()
        log.warning("%s was removed or replaced while it was open; toolgen created it again", self.path)

    def _opened(self, flags: int) -> int:
        return open_own(self.path, flags, content=self._content)
