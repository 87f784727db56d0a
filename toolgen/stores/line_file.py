"""A private file of this user to which lines are appended without syncing.

The first lines are synced. A power failure can lose the newest lines or leave parts of them. Only one process
at a time writes the file, and it writes the file again if it was removed meanwhile.
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
        """Construct without opening; `content` names the purpose of the file in messages."""
        self.path = path
        self._content = content
        self._descriptor: int | None = None
        self._is_used = False
        """Whether the file was opened, and not closed since."""
        self.size_bytes = 0
        """Size of the file while it is open."""
        self._is_torn = False
        """Whether the last write stored only a part of a line."""

    def read(self) -> tuple[Sequence[bytes], bool]:
        """Return the lines, and whether the last one is complete; for a missing file, no lines and False.

        Raises:
            StoreError: the file cannot be read, or other users can access it.
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
        """Open the existing file to append to it, and remove drafts of an interrupted `replace`.

        Raises:
            StoreError: the file cannot be opened, or other users can access it.
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
        """Append a line, on a new line if the previous one is torn; no effect on a closed file.

        Raises:
            StoreError: the line cannot be written.
        """
        if not self._is_used:
            return
        if self._descriptor is None:  # an earlier `replace` succeeded, but opening the new file failed
            self.open()
        elif not is_open_at(self.path, self._descriptor):
            self._write_again(self._descriptor)
        assert self._descriptor is not None, "it is open"
        unwritten = b"\n" + line if self._is_torn else line
        try:
            while unwritten:
                count = os.write(self._descriptor, unwritten)
                self.size_bytes += count
                unwritten = unwritten[count:]
                self._is_torn = bool(unwritten)
        except OSError as error:
            raise unusable_file(self.path, error) from error

    def replace(self, lines: Iterable[bytes]) -> None:
        """Replace the file with one that has these lines; it is not open afterwards.

        Raises:
            StoreError: the file cannot be written, and stays unchanged.
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
        """Write the lines of the open file to its path, which no longer leads to the open file."""
        self.replace([os.pread(descriptor, self.size_bytes, 0)])
        self.open()
        log.warning("%s was removed or replaced while it was open; toolgen created it again", self.path)

    def _opened(self, flags: int) -> int:
        return open_own(self.path, flags, content=self._content)
